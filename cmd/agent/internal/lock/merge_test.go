package lock_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
)

// conflict is a file in a merge: each side adds a skill, and both change one.
const conflict = `{
  "version": 1,
  "skills": {
<<<<<<< HEAD
    "both": {"source": "a/x", "sourceType": "github", "computedHash": "01"},
    "mine": {"source": "a/y", "sourceType": "github", "computedHash": "02", "note": "kept"}
||||||| base
    "both": {"source": "a/x", "sourceType": "github", "computedHash": "00"}
=======
    "both": {"source": "a/x", "sourceType": "github", "computedHash": "03"},
    "yours": {"source": "a/z", "sourceType": "github", "computedHash": "04"}
>>>>>>> other
  },
  "extra": 1
}
`

func TestMerge(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		theirs bool
		both   string // hash of the skill that differs
	}{
		"ours": {conflict, false, "01"}, "theirs": {conflict, true, "03"},
		"lines end as on Windows": {strings.ReplaceAll(conflict, "\n", "\r\n"), false, "01"},
		"no base":                 {strings.ReplaceAll(conflict, "||||||| base\n    \"both\": {\"source\": \"a/x\", \"sourceType\": \"github\", \"computedHash\": \"00\"}\n", ""), false, "01"},
		"byte order mark":         {"\ufeff" + conflict, false, "01"},
	} {
		t.Run(name, func(t *testing.T) {
			p := &lock.Project{Dir: t.TempDir()}
			at := filepath.Join(p.Dir, lock.FileName)
			if err := os.WriteFile(at, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := p.Load(t.Context()); !errors.Is(err, lock.ErrMerge) {
				t.Errorf("load: %v", err)
			}
			if err := p.Edit(t.Context(), func(s *lock.Set) error { s.Put("x", lock.Entry{}); return nil }); !errors.Is(err, lock.ErrMerge) {
				t.Errorf("edit: %v", err)
			}
			if m, err := p.Merge(t.Context(), tt.theirs, true); err != nil || !m.Needed || m.Written {
				t.Errorf("check: %+v, %v", m, err)
			}
			m, err := p.Merge(t.Context(), tt.theirs, false)
			if err != nil || !m.Written || m.Skills != 3 || !slices.Equal(m.Differ, []string{"both"}) {
				t.Errorf("merge: %+v, %v", m, err)
			}
			s, err := p.Load(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, k := range s.Skills() {
				names = append(names, k.Name)
			}
			both, _ := s.Get("both")
			if !slices.Equal(names, []string{"both", "mine", "yours"}) || both.ComputedHash != tt.both {
				t.Errorf("got %q, both has %s", names, both.ComputedHash)
			}
			if text, err := os.ReadFile(at); err != nil || !strings.Contains(string(text), `"extra": 1`) || !strings.Contains(string(text), `"kept"`) {
				t.Errorf("%s, %v", text, err)
			}
			if m, err := p.Merge(t.Context(), false, false); err != nil || m.Needed || m.Skills != 3 {
				t.Errorf("again: %+v, %v", m, err)
			}
		})
	}
}

// A side that is no lock file, and marks that are not in their places, are not mended.
func TestMergeRefused(t *testing.T) {
	for name, text := range map[string]string{
		"a side is cut": "<<<<<<< a\n{\n=======\n{\"version\": 1}\n>>>>>>> b\n",
		"no end":        strings.ReplaceAll(conflict, ">>>>>>> other\n", ""),
		"two starts":    strings.ReplaceAll(conflict, "=======\n", "<<<<<<< x\n"),
		"end alone":     "{}\n>>>>>>> b\n",
		"newer":         "<<<<<<< a\n{\"version\": 2}\n=======\n{\"version\": 1}\n>>>>>>> b\n",
	} {
		p := &lock.Project{Dir: t.TempDir()}
		at := filepath.Join(p.Dir, lock.FileName)
		if err := os.WriteFile(at, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := p.Merge(t.Context(), false, false)
		if now, _ := os.ReadFile(at); string(now) != text || !errors.Is(err, lock.ErrCorrupt) && !errors.Is(err, lock.ErrNewer) {
			t.Errorf("%s: %v, %s", name, err, now)
		}
	}
	if m, err := (&lock.Project{Dir: t.TempDir()}).Merge(t.Context(), false, false); err != nil || m.Needed {
		t.Errorf("missing: %+v, %v", m, err)
	}
}

func TestByteOrderMark(t *testing.T) {
	p := &lock.Project{Dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(p.Dir, lock.FileName), []byte("\ufeff"+written), 0o600); err != nil {
		t.Fatal(err)
	}
	if s, err := p.Load(t.Context()); err != nil || len(s.Skills()) != 3 {
		t.Errorf("%v", err)
	}
}

// However the marks stand: what is put together is a lock file without marks, and a refusal changes nothing.
func FuzzMerge(f *testing.F) {
	f.Add(conflict)
	f.Add("<<<<<<< a\n{\"version\": 1}\n=======\n{\"version\": 1, \"skills\": {\"x\": {}}}\n>>>>>>> b\n")
	f.Fuzz(func(t *testing.T, text string) {
		p := &lock.Project{Dir: t.TempDir()}
		if err := os.WriteFile(filepath.Join(p.Dir, lock.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := p.Merge(t.Context(), false, false)
		if err != nil {
			return
		}
		if s, err := p.Load(t.Context()); err != nil || len(s.Skills()) != m.Skills {
			t.Errorf("%+v, then %v", m, err)
		}
	})
}
