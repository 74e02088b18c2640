package manifest

import "testing"

func TestNeed(t *testing.T) { // R150
	for _, tt := range []struct {
		text, version string
		want          bool
	}{
		{"pdf", "", true}, {"pdf", "x", true}, {"pdf =1.2", "1.2.0", true}, {"pdf >=1.2 <2", "1.10", true}, {"pdf >=1.2 <2", "2.0", false},
		{"pdf >1", "1.0.0", false}, {"pdf <=1.4", "v1.4", true}, {"pdf >=1", "", false}, {"pdf >=1", "new", false}, {"a/b@pdf <1", "0.1.0-rc.1", true},
	} {
		n, err := ParseNeed(tt.text)
		if err != nil || n.Name != "pdf" || n.Meets(tt.version) != tt.want {
			t.Errorf("%q, %q: %+v, %v, want %v", tt.text, tt.version, n, err, tt.want)
		}
	}
	for _, text := range []string{"", "  ", "a/b", "@pdf", "-x@pdf", "pdf 1", "pdf ~1", "pdf >=x", "pdf >= 1", "pdf >=1,<2"} {
		if n, err := ParseNeed(text); err == nil {
			t.Errorf("%q: %+v", text, n)
		}
	}
}

// String returns what ParseNeed accepted, without its source, and ParseNeed accepts that, too.
func FuzzNeed(f *testing.F) {
	f.Add("a/b@pdf >=1.2 <2", "1.5")
	f.Add("pdf =1", "v1")
	f.Fuzz(func(t *testing.T, text, version string) {
		n, err := ParseNeed(text)
		if err != nil {
			return
		}
		again, err := ParseNeed(n.String())
		if err != nil || again.Meets(version) != n.Meets(version) {
			t.Fatalf("%q is %q: %v", text, n.String(), err)
		}
	})
}
