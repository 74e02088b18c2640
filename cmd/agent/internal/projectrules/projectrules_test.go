package projectrules

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/test/gittest"
	"github.com/agent-base/agent-base/want"
)

func rulesOf(t *testing.T, s *Store) []string {
	t.Helper()
	list, err := s.Rules()
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// Rules are kept for one project, in a file that nobody else reads; a folder that takes its place, and the same one elsewhere, have none.
func TestStore(t *testing.T) {
	top := paths.Real(t.TempDir())
	one := &Store{Dir: filepath.Join(top, "state"), Project: filepath.Join(top, "one")}
	for _, dir := range []string{"one", "other"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if list := rulesOf(t, one); list != nil {
		t.Errorf("at first: %q", list)
	}
	if err := errors.Join(one.Add(t.Context(), "Bash(go test:*)", "WebFetch(domain:example.com)"), one.Add(t.Context(), " Bash(go test:*) ")); err != nil {
		t.Fatal(err)
	}
	if list, want := rulesOf(t, one), []string{"Bash(go test:*)", "WebFetch(domain:example.com)"}; !slices.Equal(list, want) {
		t.Errorf("got %q, want %q", list, want)
	}
	if info, err := os.Stat(one.File()); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	other := &Store{Dir: one.Dir, Project: filepath.Join(top, "other")}
	if list := rulesOf(t, other); list != nil {
		t.Errorf("another project has %q", list)
	}
	if err := errors.Join(os.Rename(one.Project, filepath.Join(top, "moved")), os.Rename(other.Project, one.Project)); err != nil {
		t.Fatal(err)
	}
	moved := &Store{Dir: one.Dir, Project: filepath.Join(top, "moved")}
	if list := rulesOf(t, moved); list != nil {
		t.Errorf("at another path: %q", list)
	}
	if list, err := one.Rules(); list != nil || !errors.As(err, new(*OtherError)) {
		t.Errorf("another folder in its place has %q, %v", list, err)
	}
	if err := one.Add(t.Context(), "Edit(docs/**)"); err != nil {
		t.Fatal(err)
	}
	if list := rulesOf(t, one); !slices.Equal(list, []string{"Edit(docs/**)"}) {
		t.Errorf("after a rule of its own: %q", list)
	}
	for _, rule := range []string{"Edit(docs/**)", "Edit(docs/**)"} {
		removed, err := one.Remove(t.Context(), rule)
		if list := rulesOf(t, one); err != nil || removed != (list == nil) && len(list) > 0 {
			t.Errorf("removed %t, %v, left %q", removed, err, list)
		}
	}
}

// A project has so many rules, and what is one too many is refused and loses none.
func TestMostRules(t *testing.T) {
	top := paths.Real(t.TempDir())
	s := &Store{Dir: filepath.Join(top, "state"), Project: top}
	var rules []string
	for i := range maxRules {
		rules = append(rules, fmt.Sprintf("Bash(make %d)", i))
	}
	if err := s.Add(t.Context(), rules...); err != nil {
		t.Fatal(err)
	}
	if err := s.Add(t.Context(), "Bash(one more)"); err == nil {
		t.Error("one more was added")
	}
	if list := rulesOf(t, s); !slices.Equal(list, rules) {
		t.Errorf("%d rules, want %d", len(list), maxRules)
	}
}

// The work trees of a repository share their rules. A folder that only says that it is one of them does not.
func TestWorkTrees(t *testing.T) {
	top := paths.Real(t.TempDir())
	if err := os.Mkdir(filepath.Join(top, "repo"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"init", "--quiet"}, {"commit", "--quiet", "--allow-empty", "-m", "x"}, {"worktree", "add", "--quiet", filepath.Join(top, "linked")}} {
		cmd := exec.Command(gittest.Program(t), append([]string{"-C", filepath.Join(top, "repo"), "-c", "user.name=x", "-c", "user.email=x@example.com"}, args...)...)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if err := errors.Join(os.Mkdir(filepath.Join(top, "false"), 0o755),
		os.WriteFile(filepath.Join(top, "false", ".git"), []byte("gitdir: "+filepath.Join(top, "repo", ".git", "worktrees", "linked")+"\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	at := func(name string) *Store {
		return &Store{Dir: filepath.Join(top, "state"), Project: filepath.Join(top, name)}
	}
	if err := at("linked").Add(t.Context(), "Bash(make)"); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"repo": 1, "linked": 1, "false": 0} {
		if list := rulesOf(t, at(name)); len(list) != want {
			t.Errorf("%s has %q", name, list)
		}
	}
}

// What is damaged, too new, too large, or could have been written by others is not used, and adding a rule does not lose it.
func TestDamaged(t *testing.T) {
	top := paths.Real(t.TempDir())
	s := &Store{Dir: filepath.Join(top, "state"), Project: top}
	if err := s.Add(t.Context(), "Bash(make)"); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(s.File())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"damaged": "{", "too new": strings.Replace(string(good), `"version": 1`, `"version": 9`, 1), "too large": strings.Repeat(" ", maxFile+1)} {
		if err := os.WriteFile(s.File(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		list, err := s.Rules()
		add := s.Add(t.Context(), "Bash(ls)")
		if after, _ := os.ReadFile(s.File()); list != nil || err == nil || add == nil || string(after) != text {
			t.Errorf("%s: got %q, %v; adding: %v", name, list, err, add)
		}
	}
	if err := os.WriteFile(s.File(), good, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(s.File(), 0o666); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Rules(); list != nil || err == nil {
		t.Errorf("of others: %q, %v", list, err)
	}
	for _, rule := range []string{"", " ", "a\nb", strings.Repeat("x", maxRule+1)} {
		if err := s.Add(t.Context(), rule); err == nil {
			t.Errorf("%.20q was added", rule)
		}
	}
}

// Two that add at the same time lose nothing.
func TestSameTime(t *testing.T) {
	top := paths.Real(t.TempDir())
	var all sync.WaitGroup
	for _, rule := range []string{"Bash(a)", "Bash(b)", "Bash(c)", "Bash(d)"} {
		all.Go(func() {
			s := &Store{Dir: filepath.Join(top, "state"), Project: top}
			if err := s.Add(t.Context(), rule); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if list := rulesOf(t, &Store{Dir: filepath.Join(top, "state"), Project: top}); len(list) != 4 {
		t.Errorf("got %q", list)
	}
}

// Approvals of servers are kept beside the rules, belong to the folder as they do, and go one by one.
func TestServers(t *testing.T) {
	top := paths.Real(t.TempDir())
	s := &Store{Dir: filepath.Join(top, "state"), Project: filepath.Join(top, "one")}
	if err := os.Mkdir(s.Project, 0o755); err != nil {
		t.Fatal(err)
	}
	if was, err := s.UntrustServer(t.Context(), "a"); was || err != nil {
		t.Errorf("at first: %v, %v", was, err)
	}
	given := want.Each(want.Host, want.User, "example.com")
	err := errors.Join(s.Add(t.Context(), "Bash(ls)"), s.TrustServer(t.Context(), "a", Server{Digest: "1", Given: given}), s.TrustServer(t.Context(), "b", Server{Digest: "2"}),
		s.TrustServer(t.Context(), "a", Server{Digest: "3", Given: given}))
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.Servers()
	if err != nil || len(got) != 2 || got["a"].Digest != "3" || !got["a"].Given.Has(want.HostOf("example.com")) {
		t.Errorf("got %+v, %v", got, err)
	}
	if rules := rulesOf(t, s); len(rules) != 1 {
		t.Errorf("the rules are %q", rules)
	}
	if was, err := s.UntrustServer(t.Context(), "a"); !was || err != nil {
		t.Errorf("taken back: %v, %v", was, err)
	}
	if got, _ := s.Servers(); len(got) != 1 {
		t.Errorf("left: %+v", got)
	}
	for i := range maxServers {
		err = s.TrustServer(t.Context(), fmt.Sprint(i), Server{Digest: "1"})
	}
	if err == nil {
		t.Error("there is no limit")
	}
	if err := errors.Join(os.Rename(s.Project, filepath.Join(top, "moved")), os.Mkdir(s.Project, 0o755)); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Servers(); got != nil || !errors.As(err, new(*OtherError)) {
		t.Errorf("another folder in its place has %v, %v", got, err)
	}
}
