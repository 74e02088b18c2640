package cli

import (
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill/manifest"
)

// shellWord returns a path as a shell reads it back, in quotes where it needs any.
func shellWord(path string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r)
	}
	if path != "" && strings.IndexFunc(path, func(r rune) bool { return !plain(r) }) < 0 {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}

// wrapped returns foreign text as one safe line, or in a terminal as lines that fit its width, of which all but the
// first begin with indent spaces. A word that is longer than a line stays whole, so that it can be copied.
func (a *app) wrapped(text string, indent int) ui.Safe {
	text = ui.Line(text)
	if a.ui.Width <= 0 || indent+ui.Width(text) <= a.ui.Width {
		return ui.Safe(text)
	}
	var b strings.Builder
	at := indent
	for i, word := range strings.Fields(text) {
		width := ui.Width(word)
		switch {
		case i == 0:
		case at+1+width > a.ui.Width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += width
	}
	return ui.Safe(b.String())
}

// someProblems prints problems under a title, each with its cure; without any it prints nothing.
func (a *app) someProblems(problems []manifest.Problem) {
	a.underTitle("Problems", problems, func(p *manifest.Problem) string { return p.Error() })
}

// underTitle is someProblems with a title and a text of its own.
func (a *app) underTitle(title string, problems []manifest.Problem, text func(*manifest.Problem) string) {
	if len(problems) == 0 {
		return
	}
	a.ui.Printf("\n%s\n", a.ui.Paint(ui.Bold, title))
	for i := range problems {
		a.ui.Printf("  %s\n", a.wrapped(text(&problems[i]), 4))
		if cure := problems[i].Cure; cure != "" {
			a.ui.Printf("      %s\n", a.wrapped(cure, 6))
		}
	}
}

// ownProblems are problems of one skill, with files as they are called below it.
func ownProblems(d *details) []manifest.Problem {
	out := slices.Clone(d.Problems)
	for i := range out {
		out[i].File = strings.TrimPrefix(out[i].File, filepath.Dir(d.Location)+"/")
	}
	return out
}
