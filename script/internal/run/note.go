package run

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/runner"
)

// mostHidden is how many hidden paths a note names.
const mostHidden = 5

// hidden says what rules deny a script to read in the folders that it sees: "" for nothing.
func hidden(denied []string) string {
	if len(denied) == 0 {
		return ""
	}
	text := "rules hide from the script: " + strings.Join(denied[:min(len(denied), mostHidden)], ", ")
	if more := len(denied) - mostHidden; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// maxSource is how much of a script's text is searched, in bytes.
const maxSource = 256 << 10

// nothingGiven says that a script, which failed or printed nothing, had an empty standard input that nobody gave, "" if its text does not
// read any.
func (a *attempt) nothingGiven(out *runner.Output) string {
	c := a.c
	if c.Input != nil || c.Hook != nil || c.Serves != nil || out.ExitCode == 0 && len(bytes.TrimSpace(out.Stdout)) > 0 {
		return ""
	}
	fsys := c.Skill.FS()
	reads := survey.LanguageIn(c.Script.File, survey.Head(fsys, c.Script.File)).Row().Input
	if reads == nil {
		return ""
	}
	f, err := fsys.Open(c.Script.File)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil || !reads().Match(text) {
		return ""
	}
	return "the script reads its standard input, which was empty because none was given"
}
