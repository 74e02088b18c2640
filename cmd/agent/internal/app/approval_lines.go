package app

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/dirhash"
)

// mostFiles is how many files that are only read, or folders of them, a question names. It counts the others. It names
// every file that may run.
const mostFiles = 20

// Lines describes what the approval is about. The lines hold foreign text.
func (p *Proposal) Lines() []string {
	lines := []string{
		fmt.Sprintf("Skill %q in %s", p.approval.Name, p.approval.Dir),
		"  sha256  " + strings.TrimPrefix(p.approval.Digest, dirhash.Prefix),
	}
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	if !slices.ContainsFunc(p.approval.Permissions, isPermission) {
		add("  declares no permissions; its scripts run as you")
	}
	for _, asked := range p.approval.Permissions {
		mark := ""
		if p.before != nil && !slices.Contains(p.before.Permissions, asked) {
			mark = " (new)"
		}
		add("  asks for %s%s", asked, mark)
	}
	if len(p.forwarded) > 0 {
		add("  its scripts now get these variables: %s", strings.Join(p.forwarded, " "))
	}
	if p.before == nil {
		add("  %s, never approved before:", Count(len(p.approval.Files), "file"))
	} else {
		add("  changed since it was approved on %s: %s", p.before.ApprovedAt.Format("2006-01-02 15:04"), Count(len(p.changes), "file"))
	}
	lines = append(lines, fileLines(p.files())...)
	if p.before != nil {
		for _, was := range p.before.Permissions {
			if !slices.Contains(p.approval.Permissions, was) {
				add("  no longer asks for %s", was)
			}
		}
	}
	return lines
}

// isPermission reports whether a line of an approval is about what scripts or tools may do.
func isPermission(asked string) bool {
	return !strings.HasPrefix(asked, "model: ") && !strings.HasPrefix(asked, "context: ")
}

// proposed is a file that an approval is about.
type proposed struct {
	path, line string
	runs       bool // it may run, or define what runs
}

// files returns the files that are new or changed, or all of them without an earlier approval, ordered by path.
func (p *Proposal) files() []proposed {
	links := map[string]bool{}
	for _, f := range p.approval.Files {
		links[f.Path] = f.Link
	}
	out := []proposed{}
	if p.before == nil {
		for _, f := range p.approval.Files {
			out = append(out, proposed{f.Path, fmt.Sprintf("%s (%s)", f.Path, Count(int(p.sizes[f.Path]), "byte")), mayRun(f.Path) || f.Link})
		}
		return out
	}
	for _, c := range p.changes {
		out = append(out, proposed{c.Path, fmt.Sprintf("%s %s", c.Kind, c.Path), mayRun(c.Path) || links[c.Path]})
	}
	return out
}

// fileLines names all files that may run, and names them first: a mass of other files cannot push a script out of sight.
// It names other files if they are few, and otherwise counts them by folder.
func fileLines(files []proposed) []string {
	var lines, rest []string
	folders := map[string]int{}
	for _, f := range files {
		if f.runs {
			lines = append(lines, "    "+f.line)
			continue
		}
		rest = append(rest, "    "+f.line)
		top, _, below := strings.Cut(f.path, "/")
		if !below {
			top = "."
		}
		folders[top]++
	}
	if len(rest) <= mostFiles {
		return append(lines, rest...)
	}
	left, named := len(rest), 0
	for _, top := range slices.Sorted(maps.Keys(folders)) {
		if named++; named > mostFiles {
			break
		}
		left -= folders[top]
		lines = append(lines, fmt.Sprintf("    and %s in %s/", Count(folders[top], "file"), top))
	}
	if left > 0 {
		lines = append(lines, fmt.Sprintf("    and %s elsewhere", Count(left, "file")))
	}
	return lines
}

// readExts are the extensions of files that are read and not run. A file with another extension, or none, may be a
// program or a part of one, such as a compiled module or a library.
var readExts = strings.Fields(".md .txt .csv .tsv .json .jsonl .yaml .yml .toml .xml .xsd .html .css .svg .png .jpg .jpeg .gif .webp .ico .pdf " +
	".docx .xlsx .pptx .ttf .otf .woff .woff2 .mp3 .mp4 .wav .rst .tex .log .ini .cfg .bin .dat .tmpl .template .j2 .sql")

// mayRun reports whether a file may run or, like the manifest, define what runs. In scripts/, bin/ and tools/, which hold
// scripts, that is every file.
func mayRun(file string) bool {
	top, _, below := strings.Cut(file, "/")
	if below && slices.Contains([]string{"scripts", "bin", "tools"}, strings.ToLower(top)) {
		return true
	}
	return strings.EqualFold(file, "SKILL.md") || !slices.Contains(readExts, strings.ToLower(path.Ext(file)))
}
