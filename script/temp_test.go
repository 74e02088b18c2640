package script

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// keeper is a skill whose scripts, hooks and servers name their folder for temporary files, with what is in it, and leave a file.
func keeper(t *testing.T) *skill.Skill {
	t.Helper()
	return open(t, "", tree{"scripts/a.sh": tells, "bin/server*": "#!/bin/sh\n" + tells})
}

const tells = `echo $TMPDIR $(ls $TMPDIR); echo >$TMPDIR/left` + "\n"

// tempOf returns the folder for temporary files of a run, and whether it had the file of an earlier one.
func tempOf(t *testing.T, h *rig, s *skill.Skill) (dir string, had bool) {
	t.Helper()
	got := strings.Fields(mustText(t, h, s, "a"))
	return got[0], len(got) > 1 && got[1] == "left"
}

// C76: without a conversation each run has its own folder for temporary files, or a skill has one that is kept for a time after a run.
func TestTempKept(t *testing.T) {
	h := host(t)
	s, same := keeper(t), keeper(t)
	first, _ := tempOf(t, h, s)
	if second, had := tempOf(t, h, s); first == second || had {
		t.Errorf("two runs have %s and %s", first, second)
	}
	h.KeepTemp = time.Hour
	first, _ = tempOf(t, h, s)
	if second, had := tempOf(t, h, s); first != second || !had {
		t.Errorf("two runs have %s and %s", first, second)
	}
	if other, had := tempOf(t, h, same); other == first || had {
		t.Errorf("a skill of that name in another root has %s", other)
	}
	if info, err := os.Stat(first); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("got %v, %v", info, err)
	}
	lock := filepath.Join(filepath.Dir(first), "lock")
	for _, tt := range []struct {
		age  time.Duration
		kept bool
	}{{50 * time.Minute, true}, {70 * time.Minute, false}} {
		was := time.Now().Add(-tt.age)
		if err := os.Chtimes(lock, was, was); err != nil {
			t.Fatal(err)
		}
		tempOf(t, h, same) // any run removes what is old
		if _, err := os.Stat(first); (err == nil) != tt.kept {
			t.Errorf("after %s: %v", tt.age, err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(h.Cache, "work", "*")); len(left) > 0 {
		t.Errorf("%q is left", left)
	}
}

// C76: what a run uses is not removed however long it runs, and Sweep removes what nobody used.
func TestTempInUse(t *testing.T) {
	h := host(t)
	h.KeepTemp = time.Hour
	s := keeper(t)
	inner := h.Options
	var during string
	h.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		during = c.Temp
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(filepath.Join(filepath.Dir(c.Temp), "lock"), old, old); err != nil {
			t.Error(err)
		}
		other := &rig{inner, t}
		tempOf(t, other, keeper(t))
		if _, err := os.Stat(c.Temp); err != nil {
			t.Errorf("the folder was removed: %v", err)
		}
		return runner.Exec{}.Run(ctx, c)
	})
	tempOf(t, h, s)
	found, err := h.Sweep(t.Context(), nil)
	if err != nil || len(found) != 1 || found[0].Why != "temporary files of a skill that did not run for 1h0m0s" {
		t.Errorf("got %v, %v", found, err)
	}
	if _, err := os.Stat(during); err == nil {
		t.Error("Sweep removed nothing")
	}
}

// C76: runs that begin while old folders are removed have one.
func TestTempAtOnce(t *testing.T) {
	h := host(t)
	h.KeepTemp = time.Nanosecond
	s := keeper(t)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 5 {
				own := h.host()
				g := &Grant{}
				w, err := own.places.Workplace(t.Context(), s, g)
				if err != nil {
					t.Error(err)
					return
				}
				if err := os.WriteFile(filepath.Join(w.Temp, "x"), nil, 0o600); err != nil {
					t.Error(err)
				}
				w.Remove()
			}
		})
	}
	all.Wait()
}

// C76: in a conversation a skill that may write files of the user has the folder of the other commands, whether the user or its manifest says
// so, and another one its own. Hooks and servers of a skill have what its scripts have.
func TestTempOfConversation(t *testing.T) {
	for _, tt := range []struct {
		name   string
		given  want.Set
		shared bool
	}{
		{"nothing", nil, false},
		{"what is read", want.New(want.Of(want.Read, "/srv"), want.Of(want.Host, "a.example"), want.Of(want.Home, "")), false},
		{"where the user is", want.New(want.Of(want.Write, want.Here)), true},
		{"another folder", want.New(want.Of(want.Write, t.TempDir())), true},
		{"what it declares", want.Each(want.Write, want.Declared, want.Here), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, room := host(t), t.TempDir()
			c := &Conversation{Temp: filepath.Join(room, "tmp"), Other: filepath.Join(room, "skills")}
			h.Conversation = func(context.Context) (*Conversation, error) { return c, nil }
			h.Granted = func(context.Context, *skill.Skill) (Grant, error) { return Grant{Given: tt.given}, nil }
			s := keeper(t)
			dir, _ := tempOf(t, h, s)
			if (dir == c.Temp) != tt.shared || !strings.HasPrefix(dir, room) {
				t.Errorf("got %s", dir)
			}
			out, err := h.host().RunHook(t.Context(), s, &HookOptions{Hook: manifest.Hook{Event: "Stop", Command: tells}})
			if err != nil || string(out.Stdout) != dir+" left\n" {
				t.Errorf("a hook: %v, %v", out, err)
			}
			var said closing
			if _, err := h.host().Serve(t.Context(), s, &ServeOptions{Name: "server", Command: "./bin/server", Out: &said}); err != nil || said.String() != dir+" left\n" {
				t.Errorf("a server: %q, %v", said.String(), err)
			}
			if other, had := tempOf(t, h, keeper(t)); had != tt.shared {
				t.Errorf("another skill has %s", other)
			}
			if _, err := os.Stat(dir); err != nil {
				t.Error(err)
			}
		})
	}
}

// C76, security 1.2: a folder that a script closed is open for the next run; a link in its place is not followed.
func TestTempClosed(t *testing.T) {
	h := host(t)
	h.KeepTemp = time.Hour
	s := keeper(t)
	dir, _ := tempOf(t, h, s)
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if _, had := tempOf(t, h, s); !had {
		t.Error("the folder is empty")
	}
	elsewhere := t.TempDir()
	if err := os.Chmod(elsewhere, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, dir); err != nil {
		t.Fatal(err)
	}
	if _, err := runAs(t, h, s, "a", &RunOptions{JSON: JSONNo}); err == nil || !strings.Contains(err.Error(), "is not a folder: remove it") {
		t.Errorf("got %v", err)
	}
	if info, err := os.Stat(elsewhere); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("what the link leads to has %v, %v", info, err)
	}
}

// C76, security 2.15 SB11: what is too much to be kept, or why a run was ended, goes after the run. What fills another folder takes nothing
// from this one, and nothing outside is touched.
func TestTempFull(t *testing.T) {
	const told = "its folder for temporary files, which may keep 1048576 bytes and 50 files, was too full and is empty again"
	for _, tt := range []struct {
		name, program string
		filled, empty bool
	}{
		{"little", "echo >$TMPDIR/x", false, false},
		{"half of the bytes", "head -c 1048576 /dev/zero >$TMPDIR/x", false, false},
		{"more than half of the bytes", "head -c 1048577 /dev/zero >$TMPDIR/x", false, true},
		{"many files", "i=0; while [ $i -lt 60 ]; do : >$TMPDIR/x$i; i=$((i+1)); done", false, true},
		{"what cannot be read", "mkdir $TMPDIR/d; i=0; while [ $i -lt 60 ]; do : >$TMPDIR/d/x$i; i=$((i+1)); done; chmod 300 $TMPDIR/d", false, true},
		{"what cannot be removed", "mkdir $TMPDIR/d; i=0; while [ $i -lt 60 ]; do : >$TMPDIR/d/x$i; i=$((i+1)); done; chmod 500 $TMPDIR/d", false, true},
		{"links", "head -c 1048577 /dev/zero >$TMPDIR/x; ln -s $1 $TMPDIR/out; ln -s $1/kept $TMPDIR/file", false, true},
		{"a run that was ended", "head -c 1048000 /dev/zero >$TMPDIR/x", true, true},
		{"a run that filled its home", "head -c 2097153 /dev/zero >$HOME/x", true, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, outside := host(t), t.TempDir()
			tree{"kept": ""}.Write(t, outside)
			h.KeepTemp, h.Disk, h.Files = time.Hour, 2<<20, 100
			var dir string
			h.Runner = runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
				dir = c.Temp
				c.Limits = runner.Limits{Disk: c.Limits.Disk, Files: c.Limits.Files}
				one := *c
				one.Limits = runner.Limits{} // it is not ended while it runs
				out, err := runner.Exec{}.Run(ctx, &one)
				if out != nil {
					out.Filled = tt.filled
				}
				return out, err
			})
			s := open(t, "", tree{"scripts/a.sh": ": >$TMPDIR/first; " + tt.program})
			res, err := runAs(t, h, s, "a", &RunOptions{JSON: JSONNo, Args: []string{outside}})
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(res.Warning, told) != tt.empty {
				t.Errorf("told %q", res.Warning)
			}
			if left, err := os.ReadDir(dir); err != nil || (len(left) == 0) != tt.empty {
				t.Errorf("left are %v, %v", left, err)
			}
			if _, err := os.Stat(filepath.Join(outside, "kept")); err != nil {
				t.Error(err)
			}
		})
	}
}
