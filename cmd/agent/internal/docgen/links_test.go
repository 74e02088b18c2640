package main

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Every link from a page to a file or a heading of the project leads somewhere.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	pages, err := filepath.Glob(root + "/*.md")
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(root + "/docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range append(pages, more...) {
		name := strings.TrimPrefix(filepath.ToSlash(file), root+"/")
		for _, m := range link.FindAllStringSubmatch(read(t, name), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			target, anchor, _ := strings.Cut(m[1], "#")
			at := name
			if target != "" {
				at = path.Join(path.Dir(name), target)
			}
			if _, err := os.Stat(filepath.Join(root, at)); err != nil {
				t.Errorf("%s: the link %q leads nowhere", name, m[1])
			} else if anchor != "" && !headings(read(t, at))[anchor] {
				t.Errorf("%s: %s has no heading %q", name, at, anchor)
			}
		}
	}
	if seen < 50 {
		t.Errorf("%d links found, want 50 at least", seen)
	}
}

// headings returns the anchors of a page: lower case, hyphens for blanks, other signs left out.
func headings(page string) map[string]bool {
	out := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^#+ (.+)$`).FindAllStringSubmatch(page, -1) {
		anchor := regexp.MustCompile(`[^a-z0-9 _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out[strings.ReplaceAll(anchor, " ", "-")] = true
	}
	return out
}

// R175: the smallest skill of the guide is one, by the open standard's rules.
func TestSmallestSkill(t *testing.T) {
	_, text, _ := strings.Cut(read(t, "docs/SKILLS.md"), "```markdown\n")
	text, _, _ = strings.Cut(text, "```")
	for _, profile := range manifest.Profiles() {
		m, problems := manifest.Parse([]byte(text), &manifest.Options{Dir: "csv-report", Profile: &manifest.Profile{Name: profile}})
		if m.Name != "csv-report" || m.Body == "" || len(problems) > 0 {
			t.Errorf("profile %s: %q, %v", profile, m.Name, problems)
		}
	}
}
