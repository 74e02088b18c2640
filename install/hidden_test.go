package install_test

import (
	"slices"
	"testing"
	"testing/fstest"
)

// A place whose only skills are in hidden folders that are not searched names these folders, and no others. C72
func TestHiddenOnly(t *testing.T) {
	w := newWorld(t)
	w.place.files = fstest.MapFS{
		"README.md":                  file("skills\n"),
		".apm/skills/pdf/SKILL.md":   skillFile("pdf"),
		".apm/skills/csv/SKILL.md":   skillFile("csv"),
		"pack/.other/SKILL.md":       skillFile("other"),
		".empty/notes.md":            file("none\n"),
		".deep/a/b/c/d/e/f/SKILL.md": skillFile("deep"),
	}
	p, err := w.OpenAll(t.Context(), w.ref)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	slices.Sort(p.Hidden)
	if len(p.Skills) > 0 || !slices.Equal(p.Hidden, []string{".apm", "pack/.other"}) {
		t.Errorf("skills %v, hidden %q", p.Skills, p.Hidden)
	}
	w.place.files["skills/sum/SKILL.md"] = skillFile("sum")
	if p := w.open(); len(p.Skills) != 1 || len(p.Hidden) > 0 {
		t.Errorf("beside a skill that is found: %v, %q", p.Skills, p.Hidden)
	}
}
