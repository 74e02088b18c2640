package watch

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/fsnotify/fsnotify"
	"go.uber.org/goleak"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must come.
const patience = 2 * time.Minute

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func skillText(name, more string) string {
	return fmt.Sprintf("---\nname: %s\ndescription: Does %s.\n%s---\nBody.\n", name, name, more)
}

// add puts a skill on disk, by renaming as editors do where it is there already.
func add(t *testing.T, root, name, more string) {
	t.Helper()
	path := filepath.Join(root, name, "SKILL.md")
	write(t, path+".new", skillText(filepath.Base(name), more))
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func opened(t *testing.T, roots ...string) *skill.Catalog {
	t.Helper()
	o := &skill.Options{}
	for i, r := range roots {
		o.Layers = append(o.Layers, skill.Layer{Name: fmt.Sprint("layer", i), Source: skill.Dir(r, nil), Trust: skill.TrustBundled})
	}
	c, err := skill.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// watched is a Watcher with what it said.
type watched struct {
	*Watcher
	t       *testing.T
	changes chan Change

	came chan trace.Event
}

func watching(t *testing.T, f *folders, roots ...string) *watched {
	t.Helper()
	return watchingCatalog(t, f, opened(t, roots...))
}

func watchingCatalog(t *testing.T, f *folders, c *skill.Catalog) *watched {
	t.Helper()
	w := &watched{t: t, changes: make(chan Change, 1000), came: make(chan trace.Event, 1000)}
	o := &Options{Catalog: c, debounce: 5 * time.Millisecond, longest: 100 * time.Millisecond, poll: 20 * time.Millisecond,
		OnChange: func(_, _ *skill.Catalog, c Change) { w.changes <- c },
		Trace:    trace.TracerFunc(func(_ context.Context, e trace.Event) { w.came <- e })}
	if f == nil {
		w.Watcher = Start(t.Context(), o)
	} else {
		w.Watcher = start(t.Context(), o, *f)
	}
	t.Cleanup(w.Close)
	for deadline := time.Now().Add(patience); w.looks.Load() == 0 && time.Now().Before(deadline); {
		runtime.Gosched() // until the folders are watched
	}
	return w
}

// names says what the present snapshot holds.
func (w *watched) names() string {
	var out []string
	for e := range w.Catalog().All() {
		out = append(out, e.Name()+":"+e.Version()+":"+e.State().String())
	}
	return strings.Join(out, " ")
}

// until waits until the snapshot holds what it should.
func (w *watched) until(want string) {
	w.t.Helper()
	deadline := time.After(patience)
	for w.names() != want {
		select {
		case <-w.changes:
		case <-deadline:
			w.t.Fatalf("got %q, want %q", w.names(), want)
		}
	}
}

// C72: a root that has a SKILL.md is watched below it, whatever that holds, except in the folders of its own skill.
func TestCollection(t *testing.T) {
	root := filepath.Join(t.TempDir(), "clone")
	add(t, root, "a", "")
	write(t, filepath.Join(root, "SKILL.md"), "# Our skills\n")
	w := watching(t, nil, root)
	w.until("a::enabled clone::broken")
	add(t, root, "b", "")
	w.until("a::enabled b::enabled clone::broken")
	write(t, filepath.Join(root, "SKILL.md"), skillText("clone", ""))
	w.until("a::enabled b::enabled clone::enabled")
	add(t, root, "references/none", "")
	add(t, root, "c", "")
	w.until("a::enabled b::enabled c::enabled clone::enabled")
}

// R68, R69: whatever happens to the files, a snapshot follows, and the skills that are not concerned stay.
func TestChanges(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "skills")
	add(t, root, "a", "")
	add(t, root, "group/c", "")
	add(t, dir, "store/linked", "")
	w := watching(t, nil, root)
	w.until("a::enabled c::enabled")

	add(t, root, "b", "")
	w.until("a::enabled b::enabled c::enabled")
	add(t, root, "a", "version: 2.0.0\n") // as editors save
	w.until("a:2.0.0:enabled b::enabled c::enabled")
	write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", "version: 3.0.0\n")) // in place
	w.until("a:3.0.0:enabled b::enabled c::enabled")
	write(t, filepath.Join(root, "b", "SKILL.md"), "---\nname: [\n---\n")
	w.until("a:3.0.0:enabled b::broken c::enabled")
	add(t, root, "b", "")
	w.until("a:3.0.0:enabled b::enabled c::enabled")
	add(t, root, "group/deep/d", "")
	w.until("a:3.0.0:enabled b::enabled c::enabled d::enabled")
	if err := os.RemoveAll(filepath.Join(root, "group")); err != nil {
		t.Fatal(err)
	}
	w.until("a:3.0.0:enabled b::enabled")
	if err := os.Rename(filepath.Join(root, "b"), filepath.Join(root, ".hidden")); err != nil {
		t.Fatal(err)
	}
	w.until("a:3.0.0:enabled")
	// A folder in the place of another.
	if err := errors.Join(os.Rename(filepath.Join(root, "a"), filepath.Join(dir, "away")), os.Rename(filepath.Join(root, ".hidden"), filepath.Join(root, "b"))); err != nil {
		t.Fatal(err)
	}
	w.until("b::enabled")
	add(t, root, "b", "version: 5.0.0\n")
	w.until("b:5.0.0:enabled")
	// A folder that is moved away, with nothing in its place.
	if err := os.Rename(filepath.Join(root, "b"), filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	w.until("")
}

// What lies in a skill's folder is a file of the skill, until its manifest is gone.
func TestManifestGone(t *testing.T) {
	root := t.TempDir()
	add(t, root, "a", "")
	add(t, root, "a/sub/b", "")
	w := watching(t, nil, root)
	w.until("a::enabled")
	if err := os.Remove(filepath.Join(root, "a", "SKILL.md")); err != nil {
		t.Fatal(err)
	}
	w.until("b::enabled")
	add(t, root, "a/sub/b", "version: 2.0.0\n")
	w.until("b:2.0.0:enabled")
}

// Only folders that can hold a manifest are watched.
func TestWatchedFolders(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "skills")
	for _, name := range []string{"a", "a/references/x", "g/b", "node_modules/m", ".git/c", ".claude/skills/d", ".curated/e", "g/.curated/f", ".vscode/g", "1/2/3/4/5/6/7/8/9/10/11"} {
		add(t, root, name, "")
	}
	f := folders{max: 100, open: fsnotify.NewWatcher}
	defer f.close()
	if why := f.watch([]string{root, filepath.Join(dir, "none", "skills")}); why != "" {
		t.Fatal(why)
	}
	var got []string
	for d := range f.dirs {
		rel, err := filepath.Rel(root, d)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, filepath.ToSlash(rel))
	}
	slices.Sort(got)
	want := ". .claude .claude/skills .claude/skills/d .curated .curated/e 1 1/2 1/2/3 1/2/3/4 1/2/3/4/5 1/2/3/4/5/6 1/2/3/4/5/6/7 1/2/3/4/5/6/7/8 1/2/3/4/5/6/7/8/9 1/2/3/4/5/6/7/8/9/10 a g g/b"
	if strings.Join(got, " ") != want || fmt.Sprint(f.guards) != fmt.Sprint(map[string][]string{dir: {"skills", "none"}}) {
		t.Errorf("got %q, want %q; guards %v", got, want, f.guards)
	}
}

// The folder of a skill comes before its manifest.
func TestFolderFirst(t *testing.T) {
	root := t.TempDir()
	w := watching(t, nil, root)
	for i := range 20 {
		dir := filepath.Join(root, fmt.Sprintf("g%d", i), "s")
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 { // once in a while the folder is watched before there is more
			if _, err := w.Refresh(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		write(t, filepath.Join(dir, "SKILL.md"), skillText("s", ""))
		w.until("s::enabled")
		if err := os.RemoveAll(filepath.Dir(dir)); err != nil {
			t.Fatal(err)
		}
		w.until("")
	}
}

// A root that does not exist yet, one that is removed and made again, and one that is a link to another place.
func TestRootsComeAndGo(t *testing.T) {
	dir := t.TempDir()
	root := filepath.Join(dir, "home", ".agents", "skills")
	w := watching(t, nil, root)
	w.until("")
	write(t, filepath.Join(dir, "unrelated"), "")
	add(t, root, "a", "")
	w.until("a::enabled")
	if err := os.RemoveAll(filepath.Join(dir, "home")); err != nil {
		t.Fatal(err)
	}
	w.until("")
	add(t, root, "b", "")
	w.until("b::enabled")
	if err := os.RemoveAll(root); err != nil {
		t.Fatal(err)
	}
	w.until("")
	for _, place := range []string{"one", "two"} {
		add(t, filepath.Join(dir, "places", place), place, "")
		link := filepath.Join(dir, "link")
		if err := errors.Join(os.Symlink(filepath.Join(dir, "places", place), link), os.Rename(link, root)); err != nil {
			t.Fatal(err)
		}
		w.until(place + "::enabled")
		add(t, filepath.Join(dir, "places", place), place, "version: 1.0.0\n")
		w.until(place + ":1.0.0:enabled")
	}
}

// A skill behind a link inside its root is seen when it changes there.
func TestLinkedSkill(t *testing.T) {
	root := t.TempDir()
	add(t, root, ".store/v1/a", "version: 1.0.0\n")
	add(t, root, ".store/v2/a", "version: 2.0.0\n")
	link := func(version string) {
		t.Helper()
		at := filepath.Join(root, ".link")
		if err := errors.Join(os.Symlink(filepath.Join(".store", version, "a"), at), os.Rename(at, filepath.Join(root, "a"))); err != nil {
			t.Fatal(err)
		}
	}
	link("v1")
	w := watching(t, nil, root)
	w.until("a:1.0.0:enabled")
	add(t, root, ".store/v1/a", "version: 1.5.0\n")
	w.until("a:1.5.0:enabled")
	link("v2")
	w.until("a:2.0.0:enabled")
	add(t, root, ".store/v2/a", "version: 2.5.0\n")
	w.until("a:2.5.0:enabled")
}

// security 2.9 #145: many writes in a row are one change, or a few.
func TestStorm(t *testing.T) {
	root := t.TempDir()
	add(t, root, "a", "")
	changes := make(chan *skill.Catalog, 1000)
	w := Start(t.Context(), &Options{Catalog: opened(t, root), debounce: 200 * time.Millisecond, longest: 10 * time.Second,
		OnChange: func(_, fresh *skill.Catalog, _ Change) { changes <- fresh }})
	defer w.Close()
	begun := time.Now()
	for i := range 1000 {
		write(t, filepath.Join(root, "a", "SKILL.md"), skillText("a", fmt.Sprintf("version: 1.0.%d\n", i)))
		write(t, filepath.Join(root, "a", "other.txt"), fmt.Sprint(i))
	}
	for last := ""; last != "1.0.999"; {
		select {
		case c := <-changes:
			e, err := c.Lookup("a")
			if err != nil {
				t.Fatal(err)
			}
			last = e.Version()
		case <-time.After(patience):
			t.Fatalf("the last write was not seen, only %s", last)
		}
	}
	// On a busy machine there may be many pauses between the writes.
	if got, most := w.looks.Load(), 20+int64(time.Since(begun)/(200*time.Millisecond)); got > most {
		t.Errorf("looked %d times for 2,000 writes, want at most %d", got, most)
	}
}

// What a turn cannot wait for: Refresh looks at once, and both ways give the same snapshot.
func TestRefresh(t *testing.T) {
	root := t.TempDir()
	o := &Options{Catalog: opened(t, root), debounce: time.Hour, longest: time.Hour}
	w := Start(t.Context(), o)
	defer w.Close()
	add(t, root, "a", "")
	c, err := w.Refresh(t.Context())
	if err != nil || c.Len() != 1 || w.Catalog() != c {
		t.Errorf("got %d skills, %v", c.Len(), err)
	}
	if got := Diff(o.Catalog, c).String(); got != "Skills changed on disk. Added: a." {
		t.Errorf("got %q", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if again, err := w.Refresh(ctx); !errors.Is(err, context.Canceled) || again != c {
		t.Errorf("got %v", err)
	}
	w.Close()
	select {
	case <-w.done:
	default:
		t.Error("Close did not wait")
	}
	w.Close()
}

// Where not all can be watched it is looked at in fixed times, and said why.
func TestPolling(t *testing.T) {
	full := func() (*fsnotify.Watcher, error) { return nil, syscall.EMFILE }
	for _, row := range []struct {
		name, why string
		f         folders
	}{
		{"too many folders", "Skills are refreshed every 20ms: more than 4 folders of skills to watch", folders{max: 4, open: fsnotify.NewWatcher}},
		{"no watcher", "Skills are refreshed every 20ms: the system cannot watch files (" + syscall.EMFILE.Error() + ")", folders{max: 10, open: full}},
	} {
		t.Run(row.name, func(t *testing.T) {
			root := t.TempDir()
			for _, name := range []string{"a", "b", "c", "d"} {
				add(t, root, name, "")
			}
			w := watching(t, &row.f, root)
			select {
			case e := <-w.came:
				if e.Kind != Polling || e.Message != row.why {
					t.Errorf("got %s %q", e.Kind, e.Message)
				}
			case <-time.After(patience):
				t.Fatal("nothing was said")
			}
			add(t, root, "e", "")
			w.until("a::enabled b::enabled c::enabled d::enabled e::enabled")
			add(t, root, "e", "version: 2.0.0\n")
			w.until("a::enabled b::enabled c::enabled d::enabled e:2.0.0:enabled")
		})
	}
	f := folders{max: 7}
	if got := f.reason(syscall.ENOSPC); !strings.Contains(got, "fs.inotify.max_user_watches") {
		t.Errorf("got %q", got)
	}
}

// ownSource is a source of somebody else over a folder.
type ownSource struct{ dir string }

func (s ownSource) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return skill.Dir(s.dir, nil).Skills(ctx)
}

// rootedSource is one that says where its skills lie.
type rootedSource struct{ ownSource }

func (s rootedSource) Roots() []string { return []string{s.dir} }

// A source of one's own is looked at too: by the clock, unless it says which folders are to be watched.
func TestOwnSource(t *testing.T) {
	for _, row := range []struct {
		name   string
		source func(dir string) skill.Source
		polled bool
	}{
		{"own", func(dir string) skill.Source { return ownSource{dir} }, true},
		{"function", func(dir string) skill.Source { return skill.SourceFunc(ownSource{dir}.Skills) }, true},
		{"merged", func(dir string) skill.Source { return skill.Merge(skill.Dir(dir+"-none", nil), ownSource{dir}) }, true},
		{"relative roots", func(dir string) skill.Source { return rootedSource{ownSource{"skills"}} }, true},
		{"rooted", func(dir string) skill.Source { return rootedSource{ownSource{dir}} }, false},
		{"next to embedded", func(dir string) skill.Source {
			return skill.Merge(skill.FS(fstest.MapFS{}, nil), skill.FS(nil, nil), skill.Dir(dir, nil))
		}, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			base := t.TempDir()
			t.Chdir(base)
			root := filepath.Join(base, "skills")
			watched := t.TempDir()
			add(t, root, "a", "")
			c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{
				{Name: "own", Source: row.source(root)}, {Name: "dir", Source: skill.Dir(watched, nil)}}})
			if err != nil {
				t.Fatal(err)
			}
			w := watchingCatalog(t, nil, c)
			w.until("a::enabled")
			add(t, root, "b", "")
			w.until("a::enabled b::enabled")
			add(t, watched, "c", "") // seen by watching, whatever else is polled
			w.until("a::enabled b::enabled c::enabled")
			polled := 0
			w.Close()
			for close(w.came); ; {
				e, ok := <-w.came
				if !ok {
					break
				}
				if e.Kind == Polling {
					polled++
					if e.Message != "Skills are refreshed every 20ms: a source does not say where its skills are" {
						t.Errorf("got %q", e.Message)
					}
				}
			}
			if want := map[bool]int{true: 1}[row.polled]; polled != want {
				t.Errorf("polling is told %d times, want %d", polled, want)
			}
		})
	}
}

// Without a catalogue there is nothing to watch: the caller learns it at once, not in another goroutine.
func TestStartWithoutCatalog(t *testing.T) {
	for _, o := range []*Options{nil, {}} {
		func() {
			defer func() {
				if got := recover(); got != "watch: Start needs Options.Catalog" {
					t.Errorf("got %v", got)
				}
			}()
			Start(t.Context(), o).Close()
		}()
	}
}

// What is told is bounded, and holds nothing but names.
func TestChangeString(t *testing.T) {
	root := t.TempDir()
	add(t, root, "kept", "")
	add(t, root, "gone", "")
	add(t, root, "off", "")
	old := opened(t, root)
	add(t, root, "off", "disable-model-invocation: true\n")
	add(t, root, "new", "")
	add(t, root, "New2", "")
	if err := os.RemoveAll(filepath.Join(root, "gone")); err != nil {
		t.Fatal(err)
	}
	fresh, err := old.Refresh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := Diff(old, fresh)
	if !slices.Equal(c.Added, []string{"new", "new2"}) || !slices.Equal(c.Removed, []string{"gone", "off"}) || c.Changed != nil {
		t.Errorf("got %+v", c)
	}
	if got := c.String(); got != "Skills changed on disk. Added: new, new2. Removed: gone, off." {
		t.Errorf("got %q", got)
	}
	if d := Diff(fresh, fresh); !d.Empty() || d.String() != "" {
		t.Errorf("got %+v", d)
	}
	many := Change{Changed: []string{"bad name", "\x1b[31m"}}
	for i := range 30 {
		many.Changed = append(many.Changed, fmt.Sprintf("s%02d", i))
	}
	if got := many.String(); !strings.HasPrefix(got, "Skills changed on disk. Changed: s00, s01,") || !strings.HasSuffix(got, "s19 and 12 more.") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
	if got := (Change{Added: []string{"\n"}}).String(); got != "Skills changed on disk. Added: 1 more." {
		t.Errorf("got %q", got)
	}
}
