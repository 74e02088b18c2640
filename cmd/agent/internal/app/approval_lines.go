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

// Lines describes all that the approval is about. The lines hold foreign text.
func (p *Proposal) Lines() []string {
	lines := p.head(p.approval.Dir)
	lines = append(lines, p.askedLines()...)
	lines = append(lines, p.contentLine())
	lines = append(lines, fileLines(p.files())...)
	lines = append(lines, p.droppedLines()...)
	for _, v := range p.variables {
		lines = append(lines, "  "+v.text())
	}
	return append(lines, p.homeLines()...)
}

func (p *Proposal) head(dir string) []string {
	return []string{
		fmt.Sprintf("Skill %q in %s", p.approval.Name, dir),
		"  sha256  " + strings.TrimPrefix(p.approval.Digest, dirhash.Prefix),
	}
}

// askedLines says what the manifest asks for.
func (p *Proposal) askedLines() []string {
	var lines []string
	if !slices.ContainsFunc(p.approval.Permissions, isPermission) {
		lines = append(lines, "  declares no permissions; its scripts run as you")
	}
	for _, asked := range p.approval.Permissions {
		mark := ""
		if p.before != nil && !slices.Contains(p.before.Permissions, asked) {
			mark = " (new)"
		}
		lines = append(lines, "  asks for "+asked+mark)
	}
	return lines
}

// contentLine counts the files.
func (p *Proposal) contentLine() string {
	if p.before == nil {
		return fmt.Sprintf("  %s, never approved before:", Count(len(p.approval.Files), "file"))
	}
	return fmt.Sprintf("  changed since it was approved on %s: %s", p.before.ApprovedAt.Format("2006-01-02 15:04"), Count(len(p.changes), "file"))
}

// droppedLines says what the manifest no longer asks for.
func (p *Proposal) droppedLines() []string {
	var lines []string
	if p.before != nil {
		for _, was := range p.before.Permissions {
			if !slices.Contains(p.approval.Permissions, was) {
				lines = append(lines, "  no longer asks for "+was)
			}
		}
	}
	return lines
}

// homeLines says that a former content left files in the private home.
func (p *Proposal) homeLines() []string {
	if p.home == nil || p.before == nil || len(p.changes) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("  its home has %s of the former content; clear-home empties it", Count(p.home.Files, "file"))}
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
