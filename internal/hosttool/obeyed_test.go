package hosttool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/obeyed"
	rules "github.com/agent-base/agent-base/session/allow"
)

// M4: each name of the table, at the top and in a folder below, new or there before, is asked about or refused in each mode but all. What
// version control owns is refused in all.
func TestWriteWhatIsObeyed(t *testing.T) {
	for _, mode := range permit.Modes() {
		k := newKit(t, func(o *Options) { o.Decide = policy(t, permit.Options{Mode: mode}) })
		for _, name := range obeyed.Names() {
			for _, rel := range []string{name, "src/" + name, "src/" + strings.ToUpper(name)} {
				r := k.call("write_file", fmt.Sprintf(`{"file_path":%q,"content":"evil"}`, rel))
				first, _, _ := strings.Cut(name, "/")
				if mode == permit.All && !filename.IsRepository(first) {
					continue
				}
				if r.Success || r.Reason == "" {
					t.Errorf("%s in mode %s: got %s", rel, mode, text(r))
				}
				if b, err := os.ReadFile(filepath.Join(k.ws, rel)); err == nil && string(b) == "evil" {
					t.Errorf("%s in mode %s: it is written", rel, mode)
				}
			}
		}
	}
}

// L1: another name of a file is the same file: what a rule denies is denied, and what it asks about is asked about. A file alone is not
// compared with others.
func TestHardLinks(t *testing.T) {
	var asked []string
	k := newKit(t, func(o *Options) {
		o.Approve = func(_ context.Context, r *Request) (Answer, error) {
			asked = append(asked, r.Path+": "+r.Decision.Reason)
			return Answer{}, nil
		}
	})
	files(t, k.ws, map[string]string{".env": "needle 1\n", "secrets/a.txt": "needle 2\n", "ask/b.txt": "needle 3\n", "free.txt": "needle 4\n"})
	for name, other := range map[string]string{".env": "conf", "secrets/a.txt": "src/conf", "ask/b.txt": "asked", "free.txt": "free"} {
		if err := os.Link(filepath.Join(k.ws, name), filepath.Join(k.ws, other)); err != nil {
			t.Fatal(err)
		}
	}
	k.o.Decide = policy(t, permit.Options{Mode: permit.AcceptEdits, Patterns: rules.Options{Roots: []string{k.ws}}, Ask: []permit.Rule{{Text: "Read(ask/**)"}}, Deny: []permit.Rule{{Text: "Read(.env)"}, {Text: "Read(secrets/**)"}}})
	k.exec = executor(t, k.o)
	for _, name := range []string{"conf", "src/conf"} {
		k.denied("read_file", fmt.Sprintf(`{"file_path":%q}`, name), "not_allowed")
		k.denied("edit_file", fmt.Sprintf(`{"file_path":%q,"old_string":"needle","new_string":"x"}`, name), "not_allowed")
	}
	k.denied("read_file", `{"file_path":"asked"}`, "not_approved")
	if len(asked) != 1 || !strings.Contains(asked[0], "the rule Read(ask/**) asks, under another name of it") {
		t.Errorf("asked %q", asked)
	}
	k.want("read_file", `{"file_path":"free"}`, `{"success":true`)
	r := k.call("grep", `{"pattern":"needle"}`)
	found, err := json.Marshal(r.Result)
	if err != nil || strings.Contains(string(found), "needle 1") || strings.Contains(string(found), "needle 2") || strings.Contains(string(found), "needle 3") || !strings.Contains(string(found), "needle 4") {
		t.Errorf("grep: got %s, %v", found, err)
	}
	k.o.ReadRules = func() bool { return false }
	k.exec = executor(t, k.o)
	k.want("read_file", `{"file_path":"conf"}`, `{"success":true`) // the caller says that there are no rules
}

// L14: a new file lies in at most MaxDeep folders, and one that is there can be changed anywhere.
func TestDeepFiles(t *testing.T) {
	k := newKit(t, nil)
	deep := strings.Repeat("d/", MaxDeep)
	k.want("write_file", `{"file_path":"`+deep+`x","content":"x"}`, `{"success":true`)
	k.want("write_file", `{"file_path":"`+deep+`d/x","content":"x"}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"file_path lies 65 folders deep, and a new file lies in at most 64"`)
	files(t, k.ws, map[string]string{deep + "d/y": "x"})
	k.want("write_file", `{"file_path":"`+deep+`d/y","content":"z"}`, `{"success":true`)
}
