package script

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// HelpText is the help of a script.
type HelpText struct {
	Text  string // the whole help
	Usage string // only its usage paragraph, "" without one

	// Described means that the script has no help of its own and was not run: Text is its description (survey.DocText) and
	// Usage the lines of SKILL.md that call it (survey.UsageLines). Both may be "".
	Described bool
}

// HelpOptions says how a script is asked for its help.
type HelpOptions struct {
	Admit Admit // nil: the skill runs
}

// Help runs the script with --help, for at most a minute. It keeps the answer for HelpTTL and does not run the script again
// while the skill's content is the same. It has the requirements of Run. The error is an *Error, or that of ctx if ctx is
// done.
//
// A script whose text does not show that it knows --help (survey.KnowsHelp) is not run, unless Options.AlwaysHelp is set.
// Its help is then what its author says about it, and Admit is not asked.
func (h *Host) Help(ctx context.Context, s *skill.Skill, sc Script, o *HelpOptions) (*HelpText, error) {
	if o == nil {
		o = &HelpOptions{}
	}
	ctx, ended := h.started(ctx, s, sc, "Retrieved help for "+sc.Name, slog.Bool(trace.AttrHelp, true))
	if !h.o.AlwaysHelp {
		described, err := description(ctx, s, sc)
		if err != nil {
			ended(err)
			return nil, err
		}
		if described != nil {
			ended(nil, slog.Bool("described", true))
			return described, nil
		}
	}
	c := call{s: s, sc: sc, args: []string{"--help"}, timeout: min(h.o.Timeout, DefaultTimeout)}
	var help *HelpText
	var kept []slog.Attr
	err := h.admitted(ctx, &c, o.Admit, func() error {
		key, err := helpKey(ctx, &c)
		if err == nil {
			if help = h.helps.get(key); help != nil {
				kept = append(kept, slog.Bool("kept", true))
				return nil
			}
		}
		out, callErr := h.call(ctx, &c)
		if callErr != nil {
			return callErr
		}
		if help = helpOf(out); err == nil {
			h.helps.put(key, help)
		}
		return nil
	})
	ended(err, kept...)
	return help, err
}

// description returns the help of a script that has none of its own, nil for one that knows --help.
func description(ctx context.Context, s *skill.Skill, sc Script) (*HelpText, error) {
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err := checkOpen(s); err != nil {
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

// HelpTTL is how long an answer of Help is kept.
const HelpTTL = time.Minute

const maxHelps = 64 // answers that are kept

// helpKey names an answer by the skill's place and content, and the script.
func helpKey(ctx context.Context, c *call) (string, error) {
	digest, err := c.s.Digest(ctx)
	return strings.Join([]string{digest, c.s.Entry().Layer(), c.s.Canonical(), c.sc.File}, "\x00"), err
}

// helps keeps answers of Help.
type helps struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]keptHelp
}

type keptHelp struct {
	help  HelpText
	until time.Time
}

// get returns a copy of the answer, nil if there is none or it is too old.
func (c *helps) get(key string) *HelpText {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.known[key]
	if !ok || !c.now().Before(kept.until) {
		return nil
	}
	return &kept.help
}

func (c *helps) put(key string, help *HelpText) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := c.now()
	for k, kept := range c.known {
		if !now.Before(kept.until) {
			delete(c.known, k)
		}
	}
	if c.known == nil || len(c.known) >= maxHelps {
		c.known = map[string]keptHelp{}
	}
	c.known[key] = keptHelp{*help, now.Add(HelpTTL)}
}
