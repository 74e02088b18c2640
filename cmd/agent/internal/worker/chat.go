package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/tool"
)

// talk is a conversation with a person, in the terminal or in another program.
type talk struct {
	o       *Options
	w       *worker
	watch   *watch.Watcher
	next    *Past  // what the user goes on with
	planned bool   // the model knows that the mode is plan
	wentTo  string // the prompt that /back went to

	spent  spent
	branch atomic.Value // string: the branch of the project, as it was when the last turn began or ended

	mu sync.Mutex // guards w.found and the session, which the status line reads while a turn runs

	changing sync.Mutex                 // held while a turn or a command changes the conversation
	parts    atomic.Pointer[[][]string] // of a request, as measure last found them
}

// converse runs agent without a verb: a conversation, until the user leaves or the input ends. It returns the conversation that the user
// wants to go on with, or nil.
func converse(ctx context.Context, o *Options) (*Past, error) {
	s, prompter := o.Services, &chat.Prompter{}
	var ask consent.AskFunc
	if s.Approver.There() {
		ask = prompter.Ask
	}
	t, err := newTalk(ctx, o, ask, func(e tool.Event) {
		if text := LiveText(e); text != "" {
			prompter.Live(chat.LiveText{Call: e.Call, Text: text, Need: e.Kind == tool.EventNeeds})
		}
	})
	if err != nil {
		return nil, err
	}
	w := t.w
	w.jobs.Note = func() { prompter.News(func() []string { return w.jobs.Ended(true) }) }
	defer func() { t.close(ctx) }()
	if err := s.Out.Flush(); err != nil {
		return nil, err
	}
	terminal, mark := s.Out.InTerminal && s.Out.OutTerminal && s.Out.Cursor, ""
	if s.Out.InTerminal && !terminal {
		mark = "> "
	}
	options := &chat.Options{
		In: s.Sys.In, Out: s.Sys.Out, Terminal: terminal, Colour: s.Out.Colour, Prompt: mark,
		Crops: crops(s.Sys.Getenv), Term: s.Sys.Getenv("TERM"), Greeting: t.greeting(), First: o.Prompt, Ask: func(ctx context.Context, prompt string) iter.Seq2[agent.Step, error] {
			return t.ask(ctx, prompt, prompt)
		}, Dropped: w.dropped, Commands: t.commands(), Skills: t.skills, Status: t.status,
		Files: w.files, Labels: w.servers.labels, Prompts: w.servers.promptsOf,
		History: typed(s.Settings), Editor: editor(s.Sys), Prompter: prompter, Question: s.Approver.Answer, Suggest: near.Name, Now: s.Sys.Now, Changed: changed, Printed: printed,
		Notify: s.Settings.Config().Agent.Notify, Interrupt: s.Sys.Interrupt, Stop: s.Sys.Stop,
	}
	options.Clipboard = s.Out.OutTerminal && !slices.Contains([]string{"linux", "dumb"}, options.Term) // those would print it
	options.Said.Prompt, options.Said.Answer = o.past.last()
	err = chat.Run(ctx, options)
	if id := w.keep.id(); id != "" && t.next == nil && s.Out.InTerminal && s.Out.OutTerminal && !s.Out.Quiet() {
		s.Out.Printf("agent --resume %s continues this conversation\n", ui.Safe(id))
	}
	return t.next, err
}

// greeting names the version, the model and the number of skills.
func (t *talk) greeting() string {
	n := 0
	for range t.watch.Catalog().Visible() {
		n++
	}
	from := t.w.found.String()
	if t.w.found.Origin != "" {
		from += " (" + t.w.found.Origin + ")"
	}
	text := fmt.Sprintf("agent %s, %s, %s. Type /help for help.", setup.Version, from, output.Count(n, "skill"))
	what := "again"
	if t.w.approver != nil {
		what = "about with the first prompt"
	}
	lines := append([]string{text}, t.w.keep.said...)
	if text := t.w.before(what); text != "" {
		lines = append(lines, text)
	}
	return strings.Join(lines, "\n")
}

// crops reports whether the terminal cuts rows that are too long for a smaller window, as xterm and screen do. A program that xterm
// started, such as tmux, has xterm's variables, but also names itself in TERM_PROGRAM.
func crops(getenv func(string) string) bool {
	return getenv("STY") != "" || getenv("XTERM_VERSION") != "" && getenv("TERM_PROGRAM") == ""
}

// ask answers a prompt with the skills as they are on disk now. typed is the part of it that the user typed.
func (t *talk) ask(ctx context.Context, prompt, typed string, with ...llm.Media) iter.Seq2[agent.Step, error] {
	return func(yield func(agent.Step, error) bool) {
		if _, err := t.watch.Refresh(ctx); err != nil {
			yield(agent.Step{Done: &agent.Answer{Stop: agent.Cancelled}}, err)
			return
		}
		if t.w.approver != nil {
			for _, text := range t.w.offer(ctx) {
				if !yield(agent.Step{Notice: text}, nil) {
					return
				}
			}
		}
		if command, outside, ok := shellCommand(typed); ok && t.w.approver != nil {
			t.shell(ctx, command, outside, yield)
			return
		}
		defer t.change()()
		t.tellPlan()
		before := len(t.w.conversation.Messages())
		t.lookAtBranch()
		defer t.lookAtBranch()
		for step, err := range t.w.ask(ctx, prompt, typed, with...) {
			if t.spent.add(step, t.w.prices(&step)); step.Usage != nil {
				t.measure()
			}
			if !yield(step, t.onward(before, hinted(err))) {
				return
			}
		}
	}
}

// onward adds to an error of the model how the prompt that it ended is continued. Before it there were so many messages: if the
// model said nothing, there is nothing to continue.
func (t *talk) onward(before int, err error) error {
	if _, ok := errors.AsType[*llm.Error](err); !ok || len(t.w.conversation.Messages()) < before+2 {
		return err
	}
	return fmt.Errorf("%w\nwhat was done stays: say \"go on\" to continue", err)
}

// hinted adds the hint to an error.
func hinted(err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	if f := failure.Explain(err); f.Hint != "" {
		return fmt.Errorf("%w\nhint: %s", err, f.Hint)
	}
	return err
}

// status returns what the status line shows. It may be called while a turn runs.
func (t *talk) status() chat.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	st := chat.Status{Model: t.w.found.String(), Todo: t.w.todo.Items(), Jobs: t.w.jobs.Running()}
	st.Branch, _ = t.branch.Load().(string)
	t.spent.into(&st, window(t.w.s.Settings.Config(), &t.w.found.Facts))
	if m := t.w.gate.current().Mode(); m != permit.Ask {
		st.Mode = string(m)
	}
	allows := allows(t.w.session, t.w.s.Settings.Config().Enforce)
	for _, act := range slices.Backward(t.w.session.Active()) {
		st.Active = append(st.Active, chat.ActiveSkill{Name: act.Name, Allows: allows})
	}
	return st
}

// commands returns the commands that need the engine.
func (t *talk) commands() []chat.Command {
	always, bare := func(string) bool { return true }, func(args string) bool { return args == "" }
	return []chat.Command{
		{Name: "skills", Help: "List the skills, with what each costs in the list.", Run: t.skillsCommand},
		{Name: "why", Usage: "NAME", Help: "Explain why a skill is loaded or not.", Run: t.whyCommand, Complete: t.completeSkills},
		{Name: "model", Meanwhile: bare, Usage: "[PROVIDER/NAME]", Help: "List the models that can be reached, or switch to one.", Run: t.modelCommand, Complete: completeModels},
		{Name: "effort", Meanwhile: bare, Usage: "[EFFORT]", Help: "Show how much the model thinks, or change it; auto leaves it to the provider.", Run: t.effortCommand, Complete: t.completeEfforts},
		{Name: "mode", Meanwhile: bare, Usage: "[MODE]", Help: "Show what needs no question, or change it: ask, accept-edits, plan, read-only, all.", Run: t.modeCommand, Complete: completeModes},
		{Name: "plan", Help: "Change nothing before you approve a plan of the model, like /mode plan.", Run: t.planCommand},
		{Name: "undo", Help: "Take back the changes of files that the last prompt made.", Run: t.undoCommand, Diff: true},
		{Name: "back", Usage: "[N]", Help: "Go back to an earlier prompt that you choose, or to before the last N.", Run: t.backCommand, Fill: t.again},
		{Name: "resume", Usage: "[ID]", Help: "Go on with another conversation of this project.", Run: t.resumeCommand},
		{Name: "fork", Help: "Go on with a copy of this conversation; the first stays as it is.", Run: t.forkCommand},
		{Name: "clear", Help: "Clear the conversation.", Run: t.clearCommand},
		{Name: "init", Help: "Write a first AGENTS.md, like agent init.", Run: t.initCommand},
		{Name: "context", Meanwhile: always, Help: "Show the tokens of each part of a request, and the model's window.", Run: t.contextCommand},
		{Name: "todo", Meanwhile: bare, Usage: "[clear]", Help: "Show the list of steps that the model keeps, or remove it.", Run: t.todoCommand},
		{Name: "cost", Meanwhile: always, Help: "Show what the conversation has cost.", Run: t.costCommand},
		{Name: "hooks", Meanwhile: always, Help: "Show your own hooks, and where each comes from.", Run: t.hooksCommand},
		{Name: "permissions", Meanwhile: always, Help: "Show the rules about the agent's own tools, and where each comes from.", Run: t.permissionsCommand},
		{Name: "jobs", Meanwhile: always, Usage: "[N | stop N]", Help: "Show the commands in the background, or one with its output, or stop it.", Run: t.jobsCommand},
		{Name: "mcp", Meanwhile: always, Help: "Show the MCP servers, and what became of them.", Run: t.mcpCommand},
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
		return "No skills. \"agent skill create NAME\" makes one.", nil
	}
	text, err := t.printed(func(s *app.Services) error { return s.Out.Table([]string{"  SKILL", "TOKENS", "ABOUT"}, rows) })
	return text + fmt.Sprintf("\n(* active; each request begins with about %d tokens on skills and their tools)", t.w.onSkills()), err
}

func (t *talk) whyCommand(ctx context.Context, name string) (string, error) {
	if name == "" {
		return "", errors.New("no name given: /why NAME")
	}
	text, err := t.printed(func(s *app.Services) error { return t.o.Why(ctx, s, name) })
	return text, hinted(err)
}

func (t *talk) initCommand(ctx context.Context, _ string) (string, error) {
	text, err := t.printed(func(s *app.Services) error { return t.o.Init(ctx, s) })
	return text, hinted(err)
}

// lookAtBranch finds out the branch of the project.
func (t *talk) lookAtBranch() {
	branch := ""
	if at, err := gitdir.Of(paths.Real(t.w.s.Settings.Config().Paths.Project)); at != nil && err == nil {
		_, branch = at.Head()
	}
	t.branch.Store(branch)
}

// printed returns what a command of the command line prints.
func (t *talk) printed(print func(*app.Services) error) (string, error) {
	var out bytes.Buffer
	streams := *t.o.Services.Out.Streams
	streams.Resized(t.o.Services.Sys.Out)
	streams.Out, streams.Err, streams.Colour, streams.OutTerminal = &out, &out, false, false
	streams.Width = max(streams.Width-1, 0) // the last column of a conversation stays free
	err := print(t.o.Services.To(&streams))
	return ui.Text(strings.TrimRight(out.String(), "\n")), err
}

func (t *talk) clearCommand(ctx context.Context, _ string) (string, error) {
	t.w.keep.clear()
	t.w.todo.Set(nil)
	return "conversation cleared", t.anew(ctx)
}

// anew begins the conversation again, with what the keeper has of it.
func (t *talk) anew(ctx context.Context) error {
	defer t.change()()
	t.mu.Lock()
	t.w.kit.End(t.w.as(ctx))
	t.w.jobs.Close()
	t.mu.Unlock()
	t.spent.clear()
	return t.w.begin(ctx, nil)
}

// mcpCommand is /mcp.
func (t *talk) mcpCommand(context.Context, string) (string, error) {
	var rows [][]string
	for _, label := range t.w.servers.labels() {
		i := t.w.servers.host.Info(label)
		about := i.Name
		if i.Err != nil {
			about = i.Err.Error()
		}
		rows = append(rows, []string{label, i.State, strconv.Itoa(i.Tools), about})
	}
	if len(rows) == 0 {
		return `No MCP servers. "agent mcp add LABEL -- COMMAND" adds one.`, nil
	}
	return t.printed(func(s *app.Services) error { return s.Out.Table([]string{"SERVER", "STATE", "TOOLS", "ABOUT"}, rows) })
}

func (t *talk) compactCommand(ctx context.Context, _ string) (string, error) {
	defer t.change()()
	before := t.w.conversation.Usage()
	notice, err := t.w.conversation.Compact(ctx)
	t.w.keep.pay(t.w, t.spent.summary(before, t.w.conversation.Usage(), t.w.found.Facts.Prices, err == nil))
	kept := t.w.takeKept()
	if errors.Is(err, agent.ErrShort) {
		return "nothing to shorten: the last answer stays word for word, and a summary of the rest would not be shorter", nil
	}
	if err != nil {
		return "", err
	}
	return strings.Join(append([]string{notice}, kept...), "\n"), nil
}

func (t *talk) completeSkills(prefix string) []string {
	var names []string
	for e := range t.watch.Catalog().All() {
		if strings.HasPrefix(e.Canonical(), manifest.Canonical(prefix)) {
			names = append(names, e.Canonical())
		}
	}
	return names
}

func completeModels(prefix string) []string {
	return slices.DeleteFunc(models.Names(), func(name string) bool { return !strings.HasPrefix(name, prefix) })
}

// typed returns the history of earlier input in the project, or nil without a home.
func typed(s *setup.Settings) chat.History {
	home := s.Config().Paths.State()
	if home == "" {
		return nil
	}
	return &chat.HistoryFile{Path: filepath.Join(home, "history"), Project: paths.Real(s.Config().Paths.Project)}
}
