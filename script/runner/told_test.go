package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// issue 26.10: a result names what its model does not know to be hidden, and what the command met.
func TestTold(t *testing.T) {
	secrets, env := "/w/secrets", "/w/.env"
	var told Told
	for i, tt := range []struct {
		hidden []string
		out    *Output
		want   []string
	}{
		{[]string{secrets}, &Output{}, []string{secrets}}, // grep -s passes over it in silence
		{[]string{secrets}, &Output{Stdout: []byte("secrets.md has no secrets")}, nil},
		{[]string{secrets, env}, &Output{}, []string{env}}, // a rule that is new
		{[]string{secrets, env}, &Output{ExitCode: 1, Stdout: []byte("FAIL TestAdd: environment of the nosecrets_test")}, nil},
		{[]string{secrets, env}, &Output{ExitCode: 1, Stderr: []byte("cat: secrets/key: Permission denied")}, []string{secrets}},
		{[]string{secrets, env}, &Output{ExitCode: 2, Stdout: []byte("cannot open /w/.env")}, []string{env}},
		{[]string{secrets, env}, &Output{Stdout: []byte("grep: .env: Permission denied\nmain.go: x")}, []string{env}},
		{[]string{secrets, env}, nil, nil},
		{nil, &Output{ExitCode: 1}, nil},
	} {
		if got := told.Tell(tt.hidden, tt.out); !cmp.Equal(got, tt.want) {
			t.Errorf("%d: got %q, want %q", i, got, tt.want)
		}
	}
	if got := (*Told)(nil).Tell([]string{env}, &Output{}); !cmp.Equal(got, []string{env}) {
		t.Errorf("without a memory: got %q", got)
	}
}
