package script

import (
	"context"
	"log/slog"
	"strings"

	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// HelpOptions says how a script is asked for its help.
type HelpOptions struct {
	Admit Admit // nil: the skill runs
}

// Help runs the script with --help, for at most a minute. It keeps the answer for a minute and does not run the script again
// while the skill's content is the same. It has the requirements of Run. The error is an *Error, or that of ctx if ctx is
// done.
//
// A script whose text does not show that it knows --help (survey.KnowsHelp) is not run, unless Options.AlwaysHelp is set.
// Its help is then what its author says about it, and Admit is not asked.
func (h *Host) Help(ctx context.Context, s *skill.Skill, sc Script, o *HelpOptions) (*HelpText, error) {
	if o == nil {
		o = &HelpOptions{}
	}
	ctx, ended := Traced(ctx, h.o.Trace, s, sc, true)
	if !h.o.AlwaysHelp {
		described, err := Describe(ctx, s, sc)
		if err != nil {
			ended(err)
			return nil, err
		}
		if described != nil {
			ended(nil, slog.Bool("described", true))
			return described, nil
		}
	}
	c := &run.Call{Asked: h.asked(s, sc, min(h.o.Timeout, DefaultTimeout))}
	c.Args = []string{"--help"}
	var help *HelpText
	var kept []slog.Attr
	err := h.engine.Admitted(ctx, c, o.Admit, func() error {
		key, err := keyOf(ctx, c)
		if err == nil {
			if help = h.helps.get(key); help != nil {
				kept = append(kept, slog.Bool("kept", true))
				return nil
			}
		}
		done, callErr := h.engine.Run(ctx, c)
		if callErr != nil {
			return callErr
		}
		if help = helpOf(done.Out); err == nil {
			h.helps.put(key, help)
		}
		return nil
	})
	ended(err, kept...)
	return help, err
}

// Describe returns the help of a script that has none of its own, nil for one that shows that it knows --help. It runs nothing.
func Describe(ctx context.Context, s *skill.Skill, sc Script) (*HelpText, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := run.CheckOpen(s); err != nil {
		return nil, err
	}
	text := survey.Beginning(s.FS(), sc.File)
	lang := survey.LanguageIn(sc.File, text)
	if survey.KnowsHelp(lang, text) {
		return nil, nil
	}
	usage := strings.Join(survey.UsageLines(s.Manifest().Body, sc), "\n")
	return &HelpText{Text: survey.DocText(lang, text), Usage: usage, Described: true}, nil
}

func helpOf(out *runner.Output) *HelpText {
	t := output.Text(out.Stdout)
	if strings.TrimSpace(t) == "" {
		t = output.Text(out.Stderr)
	}
	return &HelpText{Text: t, Usage: usage(t)}
}

// usage returns the paragraph of a help text that begins with "usage:".
func usage(help string) string {
	var paragraph []string
	for line := range strings.Lines(help) {
		line = strings.TrimRight(line, " \r\n")
		switch {
		case len(paragraph) > 0 && line == "":
			return strings.Join(paragraph, "\n")
		case len(paragraph) > 0, strings.HasPrefix(strings.ToLower(strings.TrimSpace(line)), "usage:"):
			paragraph = append(paragraph, line)
		}
	}
	return strings.Join(paragraph, "\n")
}

func keyOf(ctx context.Context, c *run.Call) (helpKey, error) {
	id, err := c.Skill.ID(ctx)
	return helpKey{id, c.Script.File}, err
}
