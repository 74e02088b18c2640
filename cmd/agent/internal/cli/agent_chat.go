package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/watch"
)

// talk is a conversation in the terminal.
type talk struct {
	w     *worker
	watch *watch.Watcher

	mu    sync.Mutex // held for what the status line asks for while a turn runs
	spent map[string]int
	usage llm.Usage
}

// converse is agent without a verb: a conversation, until the person leaves or the input ends.
func (a *app) converse(ctx context.Context, o *agentOptions) error {
	found, err := a.model(ctx, o.model)
	if err != nil {
		return err
	}
	cat, err := a.skillsOrNone(ctx)
	if err != nil {
		return err
	}
	a.logSkills(ctx, cat)
	t := &talk{spent: map[string]int{}, watch: watch.Start(ctx, &watch.Options{Catalog: cat, Trace: a.tracer()})}
	defer t.watch.Close()
	prompter := &chat.Prompter{}
	t.w = &worker{a: a, found: found, catalog: t.watch.Catalog, asker: prompter.Confirm, bash: o.allowBash, turns: o.maxTurns}
	if err := t.w.begin(ctx, nil); err != nil {
		return err
	}
	defer func() { t.w.session.End(ctx) }()
	if err := a.flush(); err != nil {
		return err
	}
	terminal, mark := a.ui.InTerminal && a.ui.OutTerminal && a.ui.Cursor, ""
	if a.ui.InTerminal && !terminal {
		mark = "> "
	}
	return chat.Run(ctx, &chat.Options{
		In: a.sys.In, Out: a.sys.Out, Terminal: terminal, Colour: a.ui.Colour, Prompt: mark,
		Term: a.sys.getenv("TERM"), Greeting: t.greeting(), Ask: t.ask, Commands: t.commands(), Skills: t.skills, Status: t.status,
		History: a.typed(), Prompter: prompter, Suggest: near.Name, Now: a.sys.Now,
	})
}

// greeting says who answers, and with what.
func (t *talk) greeting() string {
	n := 0
	for range t.watch.Catalog().Visible() {
		n++
	}
	from := t.w.found.String()
	if t.w.found.Origin != "" {
		from += " (" + t.w.found.Origin + ")"
	}
	return fmt.Sprintf("agent %s, %s, %s. /help shows what there is.", engineVersion, from, count(n, "skill"))
}

// ask answers a prompt with the skills as they are on disk now.
func (t *talk) ask(ctx context.Context, prompt string) iter.Seq2[agent.Step, error] {
	return func(yield func(agent.Step, error) bool) {
		if _, err := t.watch.Refresh(ctx); err != nil {
			yield(agent.Step{Done: &agent.Answer{Stop: agent.Cancelled}}, err)
			return
		}
		for step, err := range t.w.ask(ctx, prompt, prompt) {
			t.count(step)
			if !yield(step, hinted(err)) {
				return
			}
		}
	}
}

// hinted adds to an error what to do about it.
func hinted(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if f := explain(explainModel(err)); f.hint != "" {
		return fmt.Errorf("%w\nhint: %s", err, f.hint)
	}
	return err
}

// count adds what a step cost to the skill that it is about.
func (t *talk) count(s agent.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if s.Usage != nil {
		t.usage = t.usage.Add(*s.Usage)
	}
	if s.Result == nil {
		return
	}
	var args struct {
		Skill string `json:"skill_name"`
		Short string `json:"skill"`
	}
	if json.Unmarshal(s.Result.Call.Args, &args) != nil {
		return
	}
	if args.Skill == "" {
		args.Skill = args.Short
	}
	if args.Skill != "" && manifest.CheckName(args.Skill) == nil {
		t.spent[manifest.Canonical(args.Skill)] += disclose.Tokens(s.Result.Text)
	}
}

// status is what the status line tells; it may be asked for while a turn runs.
func (t *talk) status() chat.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := chat.Status{Model: t.w.found.String(), Usage: t.usage}
	for _, act := range slices.Backward(t.w.session.Active()) {
		st.Active = append(st.Active, chat.ActiveSkill{Name: act.Name, Allows: allows(act)})
	}
	for _, name := range sortedKeys(t.spent) {
		st.Tokens = append(st.Tokens, chat.SkillTokens{Name: name, Tokens: t.spent[name]})
	}
	return st
}

// allows says which tools an active skill leaves.
func allows(act session.Activation) string {
	switch {
	case !act.Tools.Declared:
		return "all tools"
	case len(act.Tools.Rules) == 0:
		return "no tools"
	}
	return strings.Join(act.Tools.Rules, " ")
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// commands are those that need the engine.
func (t *talk) commands() []chat.Command {
	return []chat.Command{
		{Name: "skills", Help: "List the skills, with what each costs in the list.", Run: t.skillsCommand},
		{Name: "why", Usage: "NAME", Help: "Explain why a skill is loaded, or is not.", Run: t.whyCommand, Complete: t.completeSkills},
		{Name: "model", Usage: "[PROVIDER/NAME]", Help: "Show which model answers, or go on with another one.", Run: t.modelCommand, Complete: completeModels},
		{Name: "clear", Help: "Forget the conversation and begin anew.", Run: t.clearCommand},
		{Name: "compact", Help: "Shorten the conversation to a summary; active skills stay.", Run: t.compactCommand},
	}
}

func (t *talk) skillsCommand(ctx context.Context, _ string) (string, error) {
	cat, err := t.watch.Refresh(ctx)
	if err != nil {
		return "", err
	}
	active, costs := t.w.active(), t.w.plan.Prefix().Skills
	var rows [][]string
	for e := range cat.Visible() {
		mark, cost := " ", "-"
		if slices.Contains(active, e.Canonical()) {
			mark = "*"
		}
		if i := slices.IndexFunc(costs, func(c disclose.Cost) bool { return c.Name == e.Name() }); i >= 0 {
			cost = strconv.Itoa(costs[i].Tokens)
		}
		rows = append(rows, []string{mark + " " + e.Name(), cost, e.Brief()})
	}
	if len(rows) == 0 {
		return "There is no skill. \"agent skill create NAME\" makes one.", nil
	}
	text, err := t.w.a.printed(func(a *app) error { return a.ui.Table([]string{"  SKILL", "TOKENS", "ABOUT"}, rows) })
	return text + fmt.Sprintf("\n(* active; every request begins with about %d tokens on skills)", t.w.plan.Prefix().Tokens), err
}

func (t *talk) whyCommand(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", errors.New("why what? /why NAME")
	}
	text, err := t.w.a.printed(func(a *app) error { return a.why(ctx, name, false) })
	return text, hinted(err)
}

// printed returns what a command of the command line prints.
func (a *app) printed(print func(*app) error) (string, error) {
	var out bytes.Buffer
	streams := *a.ui
	streams.Out, streams.Err, streams.Colour, streams.OutTerminal = &out, &out, false, false
	streams.Width = max(streams.Width-1, 0) // the last column of a conversation stays free
	b := *a
	b.ui, b.flush = &streams, func() error { return nil }
	err := print(&b)
	return ui.Text(strings.TrimRight(out.String(), "\n")), err
}

func (t *talk) modelCommand(ctx context.Context, name string) (string, error) {
	if name == "" {
		return t.w.found.String(), nil
	}
	found, err := t.w.a.finder().Find(ctx, name)
	if err != nil {
		return "", hinted(err)
	}
	before := t.w.found
	t.setModel(found)
	if err := t.w.begin(ctx, t.w.conversation.Messages()); err != nil {
		t.setModel(before)
		return "", err
	}
	return found.String() + " answers from now on", nil
}

func (t *talk) setModel(found *models.Found) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w.found = found
}

func (t *talk) clearCommand(ctx context.Context, _ string) (string, error) {
	t.mu.Lock()
	t.w.session.End(ctx)
	clear(t.spent)
	t.mu.Unlock()
	return "forgotten", t.w.begin(ctx, nil)
}

func (t *talk) compactCommand(ctx context.Context, _ string) (string, error) {
	before := t.w.conversation.Size()
	err := t.w.conversation.Compact(ctx)
	if errors.Is(err, agent.ErrShort) {
		return "there is nothing to shorten yet", nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("a summary took the place of what was said: about %d tokens, before %d", t.w.conversation.Size(), before), nil
}

func (t *talk) completeSkills(prefix string) []string {
	var names []string
	for e := range t.watch.Catalog().All() {
		if strings.HasPrefix(e.Canonical(), prefix) {
			names = append(names, e.Canonical())
		}
	}
	return names
}

func completeModels(prefix string) []string {
	return slices.DeleteFunc(modelNames(), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// typed is where what was typed is kept from one conversation to the next; nil where there is no home.
func (a *app) typed() chat.History {
	if a.home() == "" {
		return nil
	}
	return chat.HistoryFile(filepath.Join(a.home(), "history"))
}
