package output

import (
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Wrapped returns foreign text as one safe line or, in a terminal, as lines that fit its width. All lines except the first
// begin with indent spaces. A word or a command that is longer than a line stays whole, so it can be copied.
func (p *Printer) Wrapped(text string, indent int) ui.Safe {
	return ui.Safe(ui.Wrap(ui.Line(text), p.Width, indent, indent))
}

// Problems prints problems under a title, each with its cure. Without any it prints nothing.
func (p *Printer) Problems(problems []manifest.Problem) {
	p.UnderTitle("Problems", problems, func(p *manifest.Problem) string { return p.Error() })
}

// UnderTitle is Problems with another title and text.
func (p *Printer) UnderTitle(title string, problems []manifest.Problem, text func(*manifest.Problem) string) {
	if len(problems) == 0 {
		return
	}
	p.Printf("\n%s\n", p.Paint(ui.Bold, title))
	for i := range problems {
		p.Printf("  %s\n", p.Wrapped(text(&problems[i]), 4))
		if cure := problems[i].Cure; cure != "" {
			p.Printf("      %s\n", p.Wrapped(cure, 6))
		}
	}
}

// aboutSkill matches the beginning of a command about one skill. A placeholder such as NAME is not a skill.
var aboutSkill = lazyregexp.New(`\bagent (skill (?:trust|untrust|grant|revoke|prepare|why|info|enable|activate|read)|script (?:list|help|run)) [a-z0-9]`)

// typed returns a text with the flags that choose skills in each of its commands about one skill. Without them the command
// would not find a skill that only --skills-dir names.
func (f *Flags) typed(text string) string {
	places := f.places()
	if places == "" {
		return text
	}
	return aboutSkill().ReplaceAllStringFunc(text, func(command string) string {
		return "agent" + places + strings.TrimPrefix(command, "agent")
	})
}

// places returns the flags that choose skills, each after a space.
func (f *Flags) places() string {
	var b strings.Builder
	for _, dir := range f.SkillsDir {
		b.WriteString(" --skills-dir " + cure.Word(dir))
	}
	if f.Project != "" {
		b.WriteString(" --project " + cure.Word(f.Project))
	}
	return b.String()
}

// OrDash returns s, or a dash if s is empty.
func OrDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// Count returns a number with its noun: "1 script", "2 scripts".
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}

// Short cuts a digest to the eight characters that people are shown.
func Short(digest string) string {
	digest = strings.TrimPrefix(digest, dirhash.Prefix)
	return digest[:min(8, len(digest))]
}
