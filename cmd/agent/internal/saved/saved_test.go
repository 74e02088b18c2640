package saved

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/llm"
)

const whole = `user fix the` + "\n" + `bug|call {"command": "a < b && c"}|result odd ` + "\xff" + ` byte|assistant done|user thanks|assistant welcome`

func TestRoundTrip(t *testing.T) {
	o := bench(t)
	id := written(t, o)
	c, err := Read(o, id, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := texts(c.Messages); got != whole {
		t.Errorf("got  %s\nwant %s", got, whole)
	}
	if c.Title != "fix the bug" || c.Project != o.Project || c.ID != id || c.Key != id || len(c.Turns) != 2 || c.Damage() != "" {
		t.Errorf("%+v", c)
	}
	if p := c.Prefix; p.System != "You are <agent>" || string(p.Tools[0].Input) != `{"type": "object"}` || p.Sources["AGENTS.md"] != "1" {
		t.Errorf("prefix %+v", c.Prefix)
	}
	if first := c.Turns[0]; first.Model != "fake/model" || first.End.Usage.Input != 10 || string(first.End.State) != `{"active":[]}` || texts(first.Messages) != whole[:strings.Index(whole, "|user thanks")] {
		t.Errorf("turn %+v", first)
	}
	for path, want := range map[string]os.FileMode{file(t, o, id): 0o600, o.folder(): 0o700, o.Dir: 0o700} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", path, info.Mode(), err)
		}
	}
}

// What is taken back, shortened or left is a line, too: nothing of the file changes.
func TestMarkers(t *testing.T) {
	o := bench(t)
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	talk(l)
	state := func(want string) *Conversation {
		t.Helper()
		c, err := Read(o, l.ID(), true)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(c.Messages); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		return c
	}
	l.Begin("m", "lost")
	l.Add(llm.Message{Role: llm.User, Parts: []llm.Part{{Text: "news"}, {Text: "lost"}}})
	l.TakeBack()
	state(whole + "|user news")
	l.Replace([]llm.Message{says(llm.User, "summary"), says(llm.Assistant, "welcome")})
	l.Add(says(llm.User, "go on"))
	c := state("user summary|assistant welcome|user go on")
	if n := len(c.Turns); n != 3 || texts(c.Turns[0].Messages) == "" {
		t.Errorf("%d turns", n)
	}
	l.Back(1)
	l.End(&End{Stop: "end", Error: "anew"})
	if c = state(whole[:strings.Index(whole, "|user thanks")]); len(c.Turns) != 1 || len(c.Left) != 2 || c.Last != 3 || c.Damaged != 0 || c.Ended().Error != "anew" {
		t.Errorf("%+v", c)
	}
	if n := l.Begin("m", "anew"); n != 4 {
		t.Errorf("turn %d, want 4", n)
	}
	l.Approve(&Approval{Kind: "rule", Text: "Bash(go test:*)", Confined: true})
	l.Approve(&Approval{Kind: "rule", Text: "Bash(go test:*)", Confined: true})
	l.Back(0)
	if c = state(""); len(c.Turns) != 0 || len(c.Approvals) != 1 || c.Title != "fix the bug" {
		t.Errorf("%+v", c)
	}
}

// Bad lines are skipped and counted, wherever they are.
func TestDamage(t *testing.T) {
	for name, tt := range map[string]struct {
		edit    func([]string) string
		want    string
		damaged int
		torn    bool
	}{
		"half a line in the middle": {func(l []string) string { l[3] = l[3][:len(l[3])/2] + "\n"; return strings.Join(l, "") }, strings.TrimPrefix(whole, "user fix the\nbug|"), 1, false},
		"zeros at the end":          {func(l []string) string { return strings.Join(l, "") + "\n\x00\x00\x00\n" }, whole, 1, false},
		"a torn last line":          {func(l []string) string { return strings.Join(l[:10], "") + l[10][:20] }, whole[:strings.Index(whole, "|assistant welcome")], 0, true},
		"no head":                   {func(l []string) string { return strings.Join(l[1:], "") }, whole, 0, false},
		"not JSON":                  {func(l []string) string { return "hello\n" + strings.Join(l, "") }, whole, 1, false},
		"a result of the assistant": {func(l []string) string {
			return strings.Join(l, "") + "\n" + `{"kind":"message","role":"assistant","parts":[{"result":{"id":"1","name":"x","text":"y"}}]}` + "\n"
		}, whole, 1, false},
		"unknown kind and role": {func(l []string) string {
			return strings.Join(l, "") + "\n" + `{"kind":"grant","approval":{"kind":"rule","text":"Bash"}}` + "\n" + `{"kind":"message","role":"system","parts":[{"text":"obey"}]}` + "\n"
		}, whole, 2, false},
	} {
		t.Run(name, func(t *testing.T) {
			o := bench(t)
			id := written(t, o)
			path := file(t, o, id)
			if err := os.WriteFile(path, []byte(tt.edit(lines(t, path))), 0o600); err != nil {
				t.Fatal(err)
			}
			l, c, err := Open(t.Context(), o, id)
			if err != nil {
				t.Fatal(err)
			}
			if got := texts(c.Messages); got != tt.want || c.Damaged != tt.damaged || c.Torn != tt.torn {
				t.Errorf("%d damaged, torn %t\ngot  %s\nwant %s", c.Damaged, c.Torn, got, tt.want)
			}
			if said := c.Damage() != ""; said != (tt.damaged > 0 || tt.torn) {
				t.Errorf("damage %q", c.Damage())
			}
			l.Begin("m", "next")
			l.Add(says(llm.User, "next"))
			l.Close()
			if c, err = Read(o, id, false); err != nil || !strings.HasSuffix(texts(c.Messages), "user next") || c.Turns[len(c.Turns)-1].Prompt != "next" {
				t.Errorf("what follows is lost: %s, %v", texts(c.Messages), err)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(t *testing.T, path string)
		want   string
	}{
		"a symbolic link": {func(t *testing.T, path string) {
			try(t, os.Rename(path, path+"2"), os.Symlink(path+"2", path))
		}, "symbolic link"},
		"a hard link":        {func(t *testing.T, path string) { try(t, os.Link(path, path+"2")) }, "second name"},
		"writable by others": {func(t *testing.T, path string) { try(t, os.Chmod(path, 0o666)) }, "writable by other users"},
		"1 GB":               {func(t *testing.T, path string) { try(t, os.Truncate(path, 1<<30)) }, "has 1024 MB: the conversation has more than 128 MB"},
		"a folder":           {func(t *testing.T, path string) { try(t, os.Remove(path), os.Mkdir(path, 0o700)) }, "not a regular file"},
		"a newer format": {func(t *testing.T, path string) {
			src := strings.Replace(strings.Join(lines(t, path), ""), `"format":1`, `"format":2`, 1)
			try(t, os.WriteFile(path, []byte(src), 0o600))
		}, "a newer version"},
		"a folder of others": {func(t *testing.T, path string) { try(t, os.Chmod(filepath.Dir(path), 0o777)) }, "no such conversation"},
	} {
		t.Run(name, func(t *testing.T) {
			o := bench(t)
			id := written(t, o)
			tt.change(t, file(t, o, id))
			for _, open := range []func(context.Context, *Options, string) (*Log, *Conversation, error){Open, Fork} {
				_, _, err := open(t.Context(), o, id)
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %s", err, tt.want)
				}
			}
		})
	}
	o := bench(t)
	for _, id := range []string{"nope", "", "../x", "A", "a/b", strings.Repeat("a", 65)} {
		if _, _, err := Open(t.Context(), o, id); !errors.Is(err, ErrUnknown) {
			t.Errorf("%q: %v", id, err)
		}
	}
}

func try(t *testing.T, all ...error) {
	t.Helper()
	if err := errors.Join(all...); err != nil {
		t.Fatal(err)
	}
}

// A newer format is shown.
func TestNewerIsShown(t *testing.T) {
	o := bench(t)
	id := written(t, o)
	src := strings.Replace(strings.Join(lines(t, file(t, o, id)), ""), `"format":1`, `"format":9`, 1)
	try(t, os.WriteFile(file(t, o, id), []byte(src), 0o600))
	_, c, err := Open(t.Context(), o, id)
	if !errors.Is(err, ErrNewer) || c == nil || texts(c.Messages) != whole {
		t.Errorf("%v %v", err, c)
	}
}

// One process continues a conversation; another one gets a copy, which has the same key for the provider.
func TestLockAndFork(t *testing.T) {
	o := bench(t)
	id := written(t, o)
	l, _, err := Open(t.Context(), o, id)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := Open(t.Context(), o, id); !errors.Is(err, ErrInUse) {
		t.Errorf("a second process: %v", err)
	}
	if err := Remove(t.Context(), o, id); !errors.Is(err, ErrInUse) {
		t.Errorf("removed: %v", err)
	}
	f, c, err := Fork(t.Context(), o, id)
	if err != nil {
		t.Fatal(err)
	}
	if f.ID() == id || f.Key() != id || c.From != id || texts(c.Messages) != whole || len(c.Turns) != 2 {
		t.Errorf("%+v", c)
	}
	if n := f.Begin("m", "other way"); n != 3 {
		t.Errorf("turn %d", n)
	}
	f.Add(says(llm.User, "other way"))
	f.Close()
	l.Begin("m", "this way")
	l.Close()
	if c, err := Read(o, f.ID(), false); err != nil || texts(c.Messages) != whole+"|user other way" || c.Title != "fix the bug" {
		t.Errorf("%+v %v", c, err)
	}
	if _, _, err := Open(t.Context(), o, id); err != nil {
		t.Errorf("after the first ended: %v", err)
	}
}

// A disk that is full ends the saving, once; what was written stays.
func TestDiskFull(t *testing.T) {
	o := bench(t)
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	l.Begin("m", "first")
	l.Add(says(llm.User, "first"))
	l.o.write = func(b []byte) (int, error) {
		n, _ := l.file.Write(b[:len(b)/2])
		return n, syscall.ENOSPC
	}
	l.Add(says(llm.Assistant, "half"))
	if err := l.Err(); !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("got %v", err)
	}
	l.o.write = nil
	l.Add(says(llm.Assistant, "after"))
	l.End(&End{})
	l.Close()
	c, err := Read(o, l.ID(), false)
	if err != nil || texts(c.Messages) != "user first" || !c.Torn {
		t.Errorf("%+v %v", c, err)
	}
}

// C81: what the redactor knows is never written, and the rest can still be read.
func TestSecrets(t *testing.T) {
	o := bench(t)
	known := redact.New([]redact.Secret{{Name: "KEY", Value: "hunter2-hunter2"}})
	o.Redact = func(s string) string { return redact.Shapes(known.String(s)) }
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	token := "ghp_" + strings.Repeat("a1B2", 9)
	secret := "hunter2-hunter2 and " + token
	l.Begin("m", strings.Repeat("x ", 40)+secret)
	l.Prefix(&Prefix{System: secret})
	l.Add(says(llm.User, secret))
	l.Add(llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(fmt.Sprintf(`{"thinking":"the key is %s","signature":"x"}`, token))}},
		{State: &llm.State{Owner: "anthropic", Data: json.RawMessage(`{"thinking":"no key","signature":"sk-` + strings.Repeat("abcdefgh", 40) + `"}`)}},
		{Call: &llm.Call{ID: "1", Name: "bash", Args: json.RawMessage(`{"command":"curl -H 'Authorization: Bearer hunter2-hunter2'"}`)}},
		{Call: &llm.Call{ID: "2", Name: "bash", Args: json.RawMessage(`{"command":"echo -----BEGIN PRIVATE KEY-----` + `abc"}`)}}}})
	l.Add(answers("1", secret))
	l.Replace([]llm.Message{says(llm.User, "summary of "+secret)})
	l.Close()
	src := strings.Join(lines(t, file(t, o, l.ID())), "")
	for _, s := range []string{"hunter2", token[:20], "BEGIN PRIVATE"} {
		if strings.Contains(src, s) {
			t.Errorf("%q was written:\n%s", s, src)
		}
	}
	c, err := Read(o, l.ID(), true)
	if err != nil || c.Damage() != "" {
		t.Fatalf("%v %v", c, err)
	}
	if got := texts(c.Turns[0].Messages); strings.Count(got, "state") != 1 || strings.Count(got, "call {") != 2 {
		t.Errorf("got %s", got)
	}
}

func TestList(t *testing.T) {
	o := bench(t)
	first := written(t, o)
	second := written(t, o)
	other := *o
	other.Project = "/projects/other"
	third := written(t, &other)
	at := func(id string, n int) { try(t, os.Chtimes(file(t, o, id), time.Time{}, time.Unix(int64(n), 0))) }
	at(first, 1000)
	at(second, 2000)
	at(third, 3000)
	got := func(o *Options, all bool) string {
		t.Helper()
		list, _, err := List(t.Context(), o, all, 0)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, s := range list {
			out = append(out, fmt.Sprintf("%s %q %d %s", s.ID, s.Title, s.Turns, s.Project))
		}
		return strings.Join(out, "\n")
	}
	row := func(id, project string) string { return fmt.Sprintf("%s %q 2 %s", id, "fix the bug", project) }
	if g, want := got(o, false), row(second, o.Project)+"\n"+row(first, o.Project); g != want {
		t.Errorf("got\n%s\nwant\n%s", g, want)
	}
	if g := got(o, true); strings.Count(g, "\n") != 2 || !strings.HasPrefix(g, row(third, other.Project)) {
		t.Errorf("got\n%s", g)
	}
	if list, more, err := List(t.Context(), o, true, 1); err != nil || more != 2 || len(list) != 1 || list[0].ID != third {
		t.Errorf("%+v, %d more, %v", list, more, err)
	}
	try(t, os.Symlink(file(t, o, first), filepath.Join(o.folder(), "link.jsonl")), os.WriteFile(filepath.Join(o.folder(), "empty.jsonl"), nil, 0o600))
	if g := got(o, false); strings.Contains(g, "link") || !strings.Contains(g, `empty "" 0`) {
		t.Errorf("got\n%s", g)
	}
	gone := write(t, filepath.Join(o.folder(), "gone"+lockSuffix))
	prune := func(project string, unused time.Duration, dry bool) int {
		return len(Prune(t.Context(), &Options{Dir: o.Dir, Project: project, Now: func() time.Time { return time.Unix(3500, 0) }}, unused, dry))
	}
	if n := prune("/x", 100*time.Second, true); n != 4 || strings.Count(got(o, true), "\n") != 3 {
		t.Errorf("%d would be pruned, want 4", n)
	}
	if n := prune(o.Project, 2000*time.Second, false); n != 2 {
		t.Errorf("pruned %d, want 2", n)
	}
	held, _, err := Open(t.Context(), o, second)
	try(t, err)
	if n := prune("/x", 100*time.Second, false); n != 1 {
		t.Errorf("pruned %d, want 1: one is in use", n)
	}
	held.Close()
	try(t, Remove(t.Context(), o, second))
	if _, err := os.Stat(gone); err == nil {
		t.Error("the lock of a conversation that is gone stayed")
	}
	if _, err := os.Stat(other.folder()); err == nil {
		t.Error("an empty folder stayed")
	}
	if g := got(o, true); g != fmt.Sprintf("empty %q 0 %s", "", o.Project) {
		t.Errorf("got\n%s", g)
	}
	try(t, Remove(t.Context(), o, "empty"))
}

// A long turn that did not end is listed with its title.
func TestListLongTurn(t *testing.T) {
	o := bench(t)
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.Begin("m", "long")
	for range 20 {
		l.Add(answers("1", strings.Repeat("\n{\"kind\":\"end\",\"title\":\"no\"}", 400)))
	}
	list, _, err := List(t.Context(), o, false, 0)
	if err != nil || len(list) != 1 || list[0].Title != "long" || list[0].Turns != 1 {
		t.Errorf("%+v %v", list, err)
	}
}

// A project that moved, or a linked work tree of it, has the same identity, and so the same conversations.
func TestIdentity(t *testing.T) {
	o := bench(t)
	o.Identity = "repository 7"
	id := written(t, o)
	moved := *o
	moved.Project = "/elsewhere/shop"
	if list, _, err := List(t.Context(), &moved, false, 0); err != nil || len(list) != 1 || list[0].ID != id || list[0].Project != o.Project {
		t.Errorf("%+v %v", list, err)
	}
	moved.Identity = "repository 8"
	if list, _, err := List(t.Context(), &moved, false, 0); err != nil || len(list) != 0 {
		t.Errorf("%+v %v", list, err)
	}
	if l, c, err := Open(t.Context(), &moved, id); err != nil || c.Project != o.Project { // by name, whatever it is about
		t.Errorf("%v", err)
	} else {
		l.Close()
	}
}

func BenchmarkList(b *testing.B) {
	o := &Options{Dir: filepath.Join(b.TempDir(), "c"), Project: "/p", Now: clock()}
	id := written(b, o)
	src, err := os.ReadFile(file(b, o, id))
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(o.folder(), fmt.Sprintf("c-%d%s", i, suffix)), src, 0o600); err != nil {
			b.Fatal(err)
		}
	}
	for b.Loop() {
		if list, more, err := List(b.Context(), o, false, 100); err != nil || len(list) != 100 || more != 9_901 {
			b.Fatal(len(list), more, err)
		}
	}
}

// The state of the caller is that of the last line that says one, also within a turn that did not end, and follows Back.
func TestState(t *testing.T) {
	o := bench(t)
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(want string) {
		t.Helper()
		c, err := Read(o, l.ID(), false)
		if err != nil || string(c.State) != want {
			t.Errorf("state %s, %v, want %s", c.State, err, want)
		}
	}
	l.Begin("m", "one")
	check("")
	l.State(json.RawMessage(`{"a":1}`))
	check(`{"a":1}`)
	l.End(&End{Stop: "end", State: json.RawMessage(`{"a":2}`)})
	check(`{"a":2}`)
	l.Begin("m", "two")
	l.State(json.RawMessage(`{"a":3}`))
	check(`{"a":3}`)
	l.Back(1)
	check(`{"a":2}`)
	l.Close()
}

// The list of steps is what it was after the turns that were left.
func TestTodo(t *testing.T) {
	o := bench(t)
	o.Redact = redact.New([]redact.Secret{{Name: "KEY", Value: "hunter2-hunter2"}}).String
	l, err := Create(t.Context(), o, &Head{})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	check := func(want string) {
		t.Helper()
		c, err := Read(o, l.ID(), false)
		if err != nil || !strings.HasPrefix(string(c.Todo), want) || want == "" && c.Todo != nil || strings.Contains(string(c.Todo), "hunter2") {
			t.Errorf("list %s, %v, want %s", c.Todo, err, want)
		}
	}
	l.Begin("m", "one")
	check("")
	l.Todo(json.RawMessage(`[1]`))
	l.Todo(json.RawMessage(`[2]`))
	l.Begin("m", "two")
	l.Todo(json.RawMessage(`["hunter2-hunter2"]`))
	check(`["`)
	l.Back(1)
	check("[2]")
	l.Begin("m", "three")
	l.Todo(json.RawMessage(`[4]`))
	check("[4]")
	l.Back(0)
	check("")
}
