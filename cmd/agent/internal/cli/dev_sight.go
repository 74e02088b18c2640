package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// sight is what a model sees of a skill at each step, with the tokens that it costs.
type sight struct {
	line, instructions string
	scripts            []string
	tools              []tool.Tool

	lineCost, textCost, toolCost int
	known                        bool // it was looked at before
}

// sightOf finds out what a model sees of a skill.
func (d *studio) sightOf(ctx context.Context, s *skill.Skill, o *trial.Options) (*sight, error) {
	out := &sight{known: true}
	list, err := disclose.Catalog(ctx, d.cat, &disclose.Options{Entries: []skill.Entry{d.entry}})
	if err != nil {
		return nil, err
	}
	out.line = list.Body
	if len(list.Skills) > 0 {
		out.lineCost = list.Skills[0].Tokens
	}
	how, err := d.Tools.Options(d.cat)
	if err != nil {
		return nil, err
	}
	how.ByUser = true
	if r := skilltool.New(how).Activate(ctx, s.Canonical(), ""); r.Success {
		out.instructions = r.Result.(skilltool.Activation).Content
		out.textCost = disclose.Tokens(string(r.Encode()))
	} else {
		out.instructions = r.Message
	}
	scripts, _ := scriptNames(s, d.Settings.Survey())
	for _, sc := range scripts {
		out.scripts = append(out.scripts, sc.Name)
	}
	out.tools, _ = o.Toolsets.Tools(ctx, s, o.Admit) // what is wrong with them is found by the check
	for _, t := range out.tools {
		out.toolCost += worker.ToolTokens(t)
	}
	return out, ctx.Err()
}

// show prints the steps, what each costs, and how that changed since the last save.
func (d *studio) show(ctx context.Context, s *skill.Skill, o *trial.Options) error {
	now, err := d.sightOf(ctx, s, o)
	if err != nil {
		return err
	}
	was := d.seen
	d.seen = *now
	d.Out.Printf("%s  %s  %s\n", d.Out.Paint(ui.Bold, s.Name()), d.dir, d.Out.Paint(ui.Dim, d.Sys.Now().Format(time.TimeOnly)))
	var names []string
	for _, t := range now.tools {
		names = append(names, t.Name)
	}
	d.Out.Facts([][2]string{
		{"list", costText(now.lineCost, was.lineCost, was.known) + "  " + s.Entry().Brief()},
		{"instructions", costText(now.textCost, was.textCost, was.known)},
		{"scripts", strings.Join(now.scripts, ", ")},
		{"tools", toolsText(names, now.toolCost, was.toolCost, was.known)},
	})
	return d.Out.Flush()
}

// costText says what a step costs, and how that changed.
func costText(now, was int, known bool) string {
	text := fmt.Sprintf("%d tokens", now)
	if known && now != was {
		text += fmt.Sprintf(" (%+d)", now-was)
	}
	return text
}

func toolsText(names []string, now, was int, known bool) string {
	if len(names) == 0 {
		return ""
	}
	return costText(now, was, known) + "  " + strings.Join(names, ", ")
}

// texts prints what a model gets at each step.
func (d *studio) texts(context.Context) error {
	title := func(text string) { d.Out.Printf("%s\n", d.Out.Paint(ui.Bold, text)) }
	title("in the list")
	if err := d.Out.Foreign(d.seen.line + "\n"); err != nil {
		return err
	}
	title("when it is activated")
	if err := d.Out.Foreign(d.seen.instructions + "\n"); err != nil {
		return err
	}
	for _, t := range d.seen.tools {
		title("tool " + t.Name)
		if err := d.Out.Foreign(t.Description + "\n" + string(t.Input) + "\n"); err != nil {
			return err
		}
	}
	return nil
}

// run runs a script as a model would.
func (d *studio) run(ctx context.Context, line string) error {
	words, err := splitWords(line)
	if err == nil && len(words) == 0 {
		err = errors.New("run needs the name of a script")
	}
	if err != nil {
		d.Out.Error(err)
		return nil
	}
	kit, err := d.Tools.Kit(d.cat, nil)
	if err != nil {
		return err
	}
	r, err := d.wait(ctx, func(ctx context.Context) tool.Result {
		res, err := kit.RunScript(ctx, &skilltool.RunRequest{Skill: d.entry.Canonical(), Script: words[0], Args: words[1:]})
		if err != nil {
			return kit.Failure(ctx, err, d.entry.Canonical())
		}
		return res.Envelope()
	})
	if err != nil {
		return err
	}
	return d.answer(r)
}

// answer prints the envelope of a call, and what it took.
func (d *studio) answer(r tool.Result) error {
	text := r.Encode()
	if err := d.Out.JSONText(text); err != nil {
		return err
	}
	facts := fmt.Sprintf("%.1f s, %d tokens for the model", r.Duration.Seconds(), disclose.Tokens(string(text)))
	if had := skilltool.Confined(&r); had != nil {
		facts += ", sandbox " + had.Tier
	}
	d.Out.Printf("%s\n", d.Out.Paint(ui.Dim, facts))
	return nil
}

// call calls a tool of a toolset.
func (d *studio) call(ctx context.Context, line string) error {
	name, args, _ := strings.Cut(line, " ")
	for _, t := range d.seen.tools {
		if t.Name != name {
			continue
		}
		given, err := toolArguments(args, t.Input)
		if err != nil {
			d.Out.Error(err)
			return nil
		}
		r, err := d.wait(ctx, func(ctx context.Context) tool.Result {
			return (&tool.Executor{Tools: setOf(t)}).Call(ctx, name, given)
		})
		if err != nil {
			return err
		}
		return d.answer(r)
	}
	d.Out.Error(fmt.Errorf("%s has no tool %q", d.entry.Name(), name))
	var names []string
	for _, t := range d.seen.tools {
		names = append(names, t.Name)
	}
	if len(names) > 0 {
		d.Out.Hint("it has " + strings.Join(names, ", "))
	}
	return nil
}

// toolArguments reads the arguments of a call: a JSON object, or KEY=VALUE words.
func toolArguments(text string, schema json.RawMessage) (json.RawMessage, error) {
	if text = strings.TrimSpace(text); text == "" || text[0] == '{' {
		return json.RawMessage(text), nil
	}
	words, err := splitWords(text)
	if err != nil {
		return nil, err
	}
	return pairArguments(words, schema)
}

func setOf(t tool.Tool) *tool.Set {
	set := &tool.Set{}
	_ = set.Add(t) // it is the only one
	return set
}

// splitWords splits a line into words.
func splitWords(line string) ([]string, error) {
	words, ok := chat.SplitWords(line, 0)
	if !ok {
		return nil, failure.Usage(errors.New("a quote is not closed"), "")
	}
	return words, nil
}
