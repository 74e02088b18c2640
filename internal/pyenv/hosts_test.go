package pyenv

import (
	"slices"
	"testing"
)

// security 1.3: preparing reaches the indexes that the operator's settings name, or the public one, and nothing else.
func TestIndexHosts(t *testing.T) {
	for _, tt := range []struct {
		settings map[string]string
		more     []string
		want     []string
	}{
		{nil, nil, []string{"files.pythonhosted.org", "pypi.org"}},
		{map[string]string{"UV_DEFAULT_INDEX": "https://user:secret@pypi.internal:8443/simple"}, nil, []string{"pypi.internal:8443"}},
		{map[string]string{"UV_DEFAULT_INDEX": "work=https://a.example/simple"}, []string{"cdn.example"}, []string{"a.example", "cdn.example"}},
		{map[string]string{"UV_DEFAULT_INDEX": "https://test.pypi.org/simple"}, nil, []string{"test-files.pythonhosted.org", "test.pypi.org"}},
		{map[string]string{"UV_INDEX": "https://a.example/x?a=b torch=https://b.example", "UV_FIND_LINKS": "/srv/wheels,https://c.example/links"}, nil,
			[]string{"a.example", "b.example", "c.example", "files.pythonhosted.org", "pypi.org"}},
		{map[string]string{"UV_DEFAULT_INDEX": "file:///srv/simple", "UV_INDEX_WORK_PASSWORD": "https://d.example"}, nil, nil},
	} {
		s := &Store{o: Options{Hosts: tt.more}}
		if got := s.indexHosts(tt.settings); !slices.Equal(got, tt.want) {
			t.Errorf("%v: got %q, want %q", tt.settings, got, tt.want)
		}
	}
	s := &Store{}
	if got := s.sourceHosts(map[string]string{"UV_PYTHON_INSTALL_MIRROR": "https://mirror.example/python"}); !slices.Equal(got, []string{"mirror.example"}) {
		t.Errorf("got %q", got)
	}
	if got := s.sourceHosts(nil); !slices.Contains(got, "github.com") {
		t.Errorf("got %q", got)
	}
}
