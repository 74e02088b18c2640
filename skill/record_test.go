package skill

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/agent-base/agent-base/internal/walk"
)

// However many workers there are, no two of them use a reading at the same time.
func TestWorkersShareReadings(t *testing.T) {
	const workers = 16
	v := &visit{s: &dirSource{abs: "/"}, readings: make([]reading, 2), level: make([]*record, 100*workers)}
	for i := range v.readings {
		v.readings[i].part = &part{layer: &Layer{}}
	}
	var inUse atomic.Int32
	var group sync.WaitGroup
	for w := range workers {
		group.Go(func() {
			for i := w; i < len(v.level); i += workers {
				name := fmt.Sprintf("skill-%d", i)
				v.Visit(w, i, &walk.Item{Dir: name, File: "SKILL.md", Data: []byte(skillText(name, ""))})
				rd := v.lock(w)
				if n := inUse.Add(1); n > 2 {
					t.Errorf("%d readings are in use, there are 2", n)
				}
				runtime.Gosched()
				inUse.Add(-1)
				rd.Unlock()
			}
		})
	}
	group.Wait()
	level := v.level
	v.finish()
	for i, r := range level {
		if want := fmt.Sprintf("skill-%d", i); r == nil || r.name() != want {
			t.Fatalf("record %d is %v, want %s", i, r, want)
		}
	}
}

// A record keeps nothing of the memory that a file was read into: the next file is read into the same.
func TestRecordOwnsItsTexts(t *testing.T) {
	heads := []string{
		"---\nname: plain\ndescription: In one line.\nversion: 1.2.0\n---\n",
		"---\nname: \"Other_Name\"\ndescription: >\n  Folded\n  text.\nmetadata: {version: 2.0.0, tags: [x, y], requires: {bins: [git]}}\nunknown: {a: [b]}\n---\n",
		"---\nname: many\ndescription: 'Quoted'\nbrief_description: Brief\nwhen_to_use: When\ntags: [forms, tables]\nrequires-skills: [base]\n" +
			"triggers: {keywords: [form], verbs: [fill], patterns: [\"f.rm\"]}\nscope: {agents: [one], tenants: [two], environments: [three]}\n" +
			"min_agent_base_version: 0.0.1\nmax_agent_base_version: 9.0.0\npriority: 3\nanother: key\n---\n",
		"---\nname: wide\ndescription: \"<" + strings.Repeat(`\P`, 30_000) + ">\"\n---\n",
		"---\nname: mended\ndescription: A colon: and another: here\nAllowed_Tools: Read\nname: twice\n---\n",
		"no front matter\n",
	}
	p := &part{source: newDirSource("/", DirOptions{}), layer: &Layer{}}
	shared, memory := &reading{part: p}, make([]byte, 0, 128<<10)
	var got []*record
	for _, head := range heads {
		memory = append(memory[:0], head...)
		got = append(got, shared.record(&Found{Path: "a/dir", File: "SKILL.md", Head: memory}))
		for i := range memory {
			memory[i] = '#'
		}
	}
	shared.arena.close()
	for i, head := range heads {
		alone := &reading{part: p}
		want := alone.record(&Found{Path: "a/dir", File: "SKILL.md", Head: []byte(head)})
		alone.arena.close()
		if !reflect.DeepEqual(got[i], want) {
			t.Errorf("%q: got %+v, %+v, want %+v, %+v", head[:20], got[i], got[i].kept(), want, want.kept())
		}
	}
}

// A long file without front matter is told from one that is not UTF-8, wherever reading stopped.
func TestLongTextWithoutFrontMatter(t *testing.T) {
	long := strings.Repeat("é", 100<<10)
	root := t.TempDir()
	for _, name := range []string{"a", "ab"} {
		if err := os.Mkdir(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "SKILL.md"), []byte(name+long), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for e := range onDir(t, root).All() {
		if p := e.Problems(); len(p) != 1 || p[0].Code != "frontmatter-missing" {
			t.Errorf("%s: got %v", e.Name(), p)
		}
	}
}

// A description that escapes make longer than the file is kept whole.
func TestWideDescription(t *testing.T) {
	const times = 30_000
	root := disk(t, t.TempDir(), map[string]string{"a/SKILL.md": "---\nname: a\nversion: 1.0.0\ndescription: \"<" + strings.Repeat(`\P`, times) + ">\"\n---\n"})
	e := find(t, onDir(t, root), "a")
	if got, want := e.Description(), "<"+strings.Repeat("\u2029", times)+">"; got != want || e.Version() != "1.0.0" || e.Path() != "a" {
		t.Errorf("got %d bytes, version %q, path %q, want %d bytes", len(got), e.Version(), e.Path(), len(want))
	}
	if len(e.Problems()) == 0 || e.State() != StateEnabled {
		t.Errorf("%v, %v", e.State(), e.Problems())
	}
}
