package worker

import (
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
)

// The status line says what all active skills together allow.
func TestAllows(t *testing.T) {
	files := fstest.MapFS{}
	for name, field := range map[string]string{"free": "", "git": "allowed-tools: Read Bash(git:*)\n", "reader": "allowed-tools: [Read, Write]\n",
		"none": "allowed-tools: []\n", "most": "disallowed-tools: Write\n"} {
		files[name+"/SKILL.md"] = &fstest.MapFile{Data: []byte("---\nname: " + name + "\ndescription: Does things.\n" + field + "---\nBody\n")}
	}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.FS(files, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		skills        []string
		enforce, want string
	}{
		{nil, "enforce", ""},
		{[]string{"free"}, "enforce", ""},
		{[]string{"git"}, "enforce", "Read Bash(git:*)"},
		{[]string{"git", "free"}, "warn", "Read Bash(git:*)"},
		{[]string{"git", "reader"}, "enforce", "read_file"},
		{[]string{"git", "reader"}, "off", ""},
		{[]string{"git", "none"}, "enforce", "no tools"},
		{[]string{"most"}, "enforce", "not all tools"},
	} {
		s := session.New(nil)
		for _, name := range tt.skills {
			e, err := c.Lookup(name)
			if err != nil {
				t.Fatal(err)
			}
			k, err := e.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if _, err := s.Activate(t.Context(), k, ""); err != nil {
				t.Fatal(err)
			}
			k.Close()
		}
		if got := allows(s, tt.enforce); got != tt.want {
			t.Errorf("%v, %s: got %q, want %q", tt.skills, tt.enforce, got, tt.want)
		}
	}
}
