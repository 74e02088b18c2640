package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/skill"
)

// folder is a directory of skills that a test changes.
type folder struct{ root string }

func (f folder) write(t *testing.T, name, front, body string) {
	t.Helper()
	file := filepath.Join(f.root, name, "SKILL.md")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "---\nname: " + name + "\ndescription: Does things\n" + front + "---\n" + body + "\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (f folder) catalog(t *testing.T) *skill.Catalog {
	t.Helper()
	return catalog(t, skill.Dir(f.root, nil))
}

func (f folder) load(t *testing.T, name string) *skill.Skill {
	t.Helper()
	return open(t, f.catalog(t), name)
}

// shown is the stack without what it is compiled to.
func shown(s *Session) string {
	list := s.Active()
	for i := range list {
		list[i].limit = nil
	}
	return fmt.Sprintf("%+v", list)
}

// clocked returns a session whose clock goes on by a second with each look.
func clocked() *Session {
	now := time.Unix(0, 0).UTC()
	return New(&Options{Now: func() time.Time { now = now.Add(time.Second); return now }})
}

// The state is JSON, and what comes back is what there was: order, arguments, times, digest and what is allowed.
func TestStateComesBack(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "allowed-tools: Read\n", "A $0")
	f.write(t, "b", "", "B")
	s := clocked()
	for _, name := range []string{"a", "b"} {
		if _, err := s.Activate(t.Context(), f.load(t, name), "for "+name); err != nil {
			t.Fatal(err)
		}
	}
	text, err := json.Marshal(s.State())
	if err != nil {
		t.Fatal(err)
	}
	digest := s.Active()[1].Digest
	if want := `{"name":"b","digest":"` + digest + `","args":"for b","since":"1970-01-01T00:00:02Z","told":"1970-01-01T00:00:02Z"}]}`; digest == "" || !strings.HasSuffix(string(text), want) {
		t.Errorf("state: got %s\nwant it to end with %s", text, want)
	}
	var st State
	if err := json.Unmarshal(text, &st); err != nil {
		t.Fatal(err)
	}
	again := New(nil)
	for _, o := range again.Restore(t.Context(), f.catalog(t), st) {
		if o.Err != nil {
			t.Errorf("%s: %v", o.Name, o.Err)
		}
	}
	if got, want := shown(again), shown(s); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if again.Restriction().Check(allow.Call{Tool: "bash"}) == nil || again.Restriction().Check(allow.Call{Tool: "read_file"}) != nil {
		t.Error("the restriction is not that of the manifest")
	}
	if got, _ := json.Marshal(New(nil).State()); string(got) != `{"active":[]}` {
		t.Errorf("an empty session: %s", got)
	}
}

// A skill does not come back under another content, nor when it is gone, broken or switched off, nor twice, nor one
// too many; each of them says why, and the others come back.
func TestRestoreRefuses(t *testing.T) {
	f := folder{t.TempDir()}
	names := []string{"fine", "changed", "gone", "broken", "off", "hidden"}
	for _, n := range names {
		front := ""
		if n == "hidden" {
			front = "disable-model-invocation: true\n"
		}
		f.write(t, n, front, "Body")
	}
	s := New(nil)
	for _, n := range names {
		if _, err := s.Activate(t.Context(), f.load(t, n), ""); err != nil {
			t.Fatal(err)
		}
	}
	st := s.State()
	st.Active = append(st.Active, st.Active[0], Saved{Name: "fine", Digest: ""}, Saved{Name: "../x"})
	f.write(t, "changed", "allowed-tools: Bash\n", "Other")
	f.write(t, "off", "default_enabled: false\n", "Body")
	if err := os.WriteFile(filepath.Join(f.root, "broken", "SKILL.md"), []byte("no front matter\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(f.root, "gone")); err != nil {
		t.Fatal(err)
	}
	again := New(nil)
	want := []string{"<nil>", "has changed since it was active (digest sha256:", "not found", "broken", "is disabled: ", "<nil>",
		"Skill 'fine' is already active", "has no digest", "Invalid skill name"}
	for i, o := range again.Restore(t.Context(), f.catalog(t), st) {
		if errors.Is(o.Err, errUnavailable) != (o.Name == "off") {
			t.Errorf("%s: %#v", o.Name, o.Err)
		}
		if got := fmt.Sprint(o.Err); o.Name != st.Active[i].Name || !strings.Contains(got, want[i]) {
			t.Errorf("%s: got %s, want %s", o.Name, got, want[i])
		}
	}
	if got := fmt.Sprint(again.Recent()); got != "[hidden fine]" {
		t.Errorf("active: %s", got)
	}

	many := State{}
	for i := range MaxActive + 1 {
		n := fmt.Sprintf("s%d", i)
		f.write(t, n, "", "Body")
		d, err := f.load(t, n).Digest(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		many.Active = append(many.Active, Saved{Name: n, Digest: d})
	}
	if o := New(nil).Restore(t.Context(), f.catalog(t), many); !errors.Is(o[MaxActive].Err, ErrTooMany) || o[MaxActive-1].Err != nil {
		t.Errorf("one too many: %v", o)
	}
}

// unreadable has a file that cannot be opened.
type unreadable struct{ fs.FS }

func (f unreadable) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "secret.md") {
		return nil, fs.ErrPermission
	}
	return f.FS.Open(name)
}

// A skill that cannot be hashed can be active, and is not restored: whether it is the same is not known.
func TestRestoreWithoutDigest(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "", "A")
	if err := os.WriteFile(filepath.Join(f.root, "a", "secret.md"), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	c := catalog(t, skill.FS(unreadable{os.DirFS(f.root)}, nil))
	k, s := open(t, c, "a"), New(nil)
	if _, err := s.Activate(t.Context(), k, ""); err != nil || s.Active()[0].Digest != "" {
		t.Fatalf("activated: %v, %+v", err, s.Active())
	}
	if o := New(nil).Restore(t.Context(), c, s.State()); !errors.Is(o[0].Err, errNoDigest) {
		t.Errorf("restored: %v", o[0].Err)
	}
}

// What a model is told again replaces what it was told: arguments, digest, restrictions; not the place in the stack.
func TestRenew(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "", "A")
	f.write(t, "b", "", "B")
	s := clocked()
	ta, err := s.Activate(t.Context(), f.load(t, "a"), "one")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Activate(t.Context(), f.load(t, "b"), ""); err != nil {
		t.Fatal(err)
	}
	before, _ := s.Lookup("A")
	f.write(t, "a", "allowed-tools: Read\n", "A2")
	if err := s.Renew(t.Context(), ta, f.load(t, "a"), "two"); err != nil {
		t.Fatal(err)
	}
	a, ok := s.Lookup("a")
	if !ok || a.Args != "two" || a.Digest == before.Digest || !a.Tools.Declared || a.Since != before.Since || !a.Told.After(before.Told) || s.Active()[0].Name != "a" {
		t.Errorf("got %+v", a)
	}
	if err := s.Renew(t.Context(), 99, f.load(t, "a"), ""); !errors.Is(err, errNotActive) {
		t.Errorf("another token: %v", err)
	}
	if _, ok := s.Lookup("c"); ok {
		t.Error("what is not active is found")
	}
}

// A model that was not given the text after all is given it the next time: the activation has no digest.
func TestForget(t *testing.T) {
	s, k := New(nil), load(t, "a")
	token, err := s.Activate(t.Context(), k[0], "x")
	if err != nil {
		t.Fatal(err)
	}
	s.Forget(token + 1)
	if now, _ := s.Lookup("a"); now.Digest == "" {
		t.Error("the digest is gone by the token of another activation")
	}
	s.Forget(token)
	if now, active := s.Lookup("a"); !active || now.Digest != "" || now.Args != "x" || now.Token != token {
		t.Errorf("got %+v", now)
	}
}

// If ctx is done, nothing is activated or restored, and the error is that of ctx.
func TestEndedContextActivatesNothing(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "", "A")
	k, s := f.load(t, "a"), New(nil)
	dead, cancel := context.WithCancel(t.Context())
	cancel()
	if token, err := s.Activate(dead, k, ""); !errors.Is(err, context.Canceled) || token != 0 || len(s.Active()) != 0 {
		t.Errorf("activate: token %d, %v, active %v", token, err, s.Recent())
	}
	token, err := s.Activate(t.Context(), k, "")
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Renew(dead, token, k, "new"); !errors.Is(err, context.Canceled) || s.Active()[0].Args != "" {
		t.Errorf("renew: %v, %+v", err, s.Active())
	}
	again := New(nil)
	if out := again.Restore(dead, f.catalog(t), s.State()); !errors.Is(out[0].Err, context.Canceled) || len(again.Active()) != 0 {
		t.Errorf("restore: %+v, active %v", out, again.Recent())
	}
	if _, err := s.DeactivateName(dead, "a"); err != nil { // taking away must always be possible
		t.Errorf("deactivate: %v", err)
	}
}

// A context that ends while the files are read activates nothing: a digest of a part of them is none.
func TestContextEndsWhileHashing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	files := fstest.MapFS{"a/SKILL.md": {Data: []byte("---\nname: a\ndescription: Does things\n---\nBody\n")}, "a/more.md": {Data: []byte("more")}}
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "test", Source: skill.FS(ending{files, cancel}, nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := c.Lookup("a")
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.Load(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	s := New(nil)
	if _, err := s.Activate(ctx, k, ""); !errors.Is(err, context.Canceled) || len(s.Active()) != 0 {
		t.Errorf("%v, active %v", err, s.Recent())
	}
	if _, err := s.Activate(t.Context(), k, ""); err != nil || s.Active()[0].Digest == "" {
		t.Errorf("afterwards: %v, %+v", err, s.Active())
	}
}

// ending is a file system that ends a context when more.md is opened.
type ending struct {
	fs.FS
	end func()
}

func (e ending) Open(name string) (fs.File, error) {
	if strings.HasSuffix(name, "more.md") {
		e.end()
	}
	return e.FS.Open(name)
}

// A closed skill cannot be activated: its files are not known.
func TestClosedSkillIsNotActivated(t *testing.T) {
	f := folder{t.TempDir()}
	f.write(t, "a", "", "A")
	for _, hashed := range []bool{false, true} {
		k, s := f.load(t, "a"), New(nil)
		if hashed {
			if _, err := k.Digest(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if err := k.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Activate(t.Context(), k, ""); !errors.Is(err, skill.ErrClosed) || len(s.Active()) != 0 {
			t.Errorf("hashed before %v: %v, active %v", hashed, err, s.Active())
		}
	}
}
