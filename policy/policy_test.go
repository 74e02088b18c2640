package policy_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/want"
)

// C65: no script gets to write what holds everything, what decides which programs run, keys, or the approvals. These are read after
// a question, and the approvals never. Links change nothing.
func TestFolders(t *testing.T) {
	top := t.TempDir()
	at := func(name string) string { return filepath.Join(top, filepath.FromSlash(name)) }
	for _, dir := range []string{"home/.ssh/sub", "home/notes", "home/.config/x", "state/agent", "state/data"} {
		if err := os.MkdirAll(at(dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("home"), at("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(at("users"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(at("home"), at("users/u")); err != nil {
		t.Fatal(err)
	}
	linked := &policy.Policy{Home: at("users/u")}
	if d := linked.Decide(want.WriteOf(at("users"))); d.Level != policy.Never {
		t.Errorf("a folder with the link that is the home: %+v", d)
	}
	p := &policy.Policy{Home: at("home"), Own: at("state/agent")}
	for _, tt := range []struct {
		dir         string
		write, read policy.Level
	}{
		{"/", policy.Never, policy.Asks},
		{"/etc", policy.Never, policy.Asks},
		{"/usr/lib/x", policy.Never, policy.Free},
		{at("home"), policy.Never, policy.Asks},
		{top, policy.Never, policy.Asks},
		{at("link"), policy.Never, policy.Asks},
		{at("link/.ssh"), policy.Never, policy.Asks},
		{at("home/.ssh/sub"), policy.Never, policy.Asks},
		{"~/.ssh/id_rsa", policy.Never, policy.Asks},
		{at("home/.netrc"), policy.Never, policy.Asks},
		{at("state"), policy.Never, policy.Asks},
		{at("state/agent"), policy.Never, policy.Never},
		{at("state/agent/x"), policy.Never, policy.Never},
		{at("home/.config/x"), policy.Free, policy.Asks},
		{at("home/.bashrc"), policy.Free, policy.Asks},
		{at("home/notes"), policy.Free, policy.Free},
		{at("link/notes"), policy.Free, policy.Free},
		{"~/notes", policy.Free, policy.Free},
		{at("state/data"), policy.Free, policy.Free},
		{at("new"), policy.Free, policy.Free},
		{want.Here, policy.Free, policy.Free},
	} {
		for kind, level := range map[want.Kind]policy.Level{want.Write: tt.write, want.Read: tt.read} {
			if d := p.Decide(want.Of(kind, tt.dir)); d.Level != level || (d.Why == "") != (level == policy.Free) {
				t.Errorf("%s %s: got %+v", kind, tt.dir, d)
			}
		}
	}
	if d := (&policy.Policy{}).Decide(want.WriteOf("~/x")); d.Level != policy.Free {
		t.Errorf("without a home: %+v", d)
	}
}

func TestOthers(t *testing.T) {
	no := errors.New("never passes")
	p := &policy.Policy{Variable: func(name string) error {
		if name == "LD_PRELOAD" {
			return no
		}
		return nil
	}}
	for text, level := range map[string]policy.Level{
		"env:LD_PRELOAD": policy.Never, "env:TOKEN": policy.Free, "host:169.254.169.254": policy.Asks, "host:localhost:8080": policy.Free, "host:*": policy.Free, "socket:ssh": policy.Asks,
		"home": policy.Free, "package:npm:x": policy.Free,
	} {
		w, err := want.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if d := p.Decide(w); d.Level != level {
			t.Errorf("%s: got %+v", text, d)
		}
	}
}
