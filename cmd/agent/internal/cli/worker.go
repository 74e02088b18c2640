package cli

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/agent/hosttool"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// worker is the agent at work: a model, its tools, the skills, and one conversation. Ask is for one goroutine at a time;
// status may be asked for from another.
type worker struct {
	a       *app
	found   *models.Found
	catalog func() *skill.Catalog // the present snapshot
	asker   asker                 // nil: nobody can be asked
	bash    bool                  // commands need no question
	turns   int                   // most requests for one prompt; 0: the setting

	id      string // of the conversation
	told    *skill.Catalog
	session *session.Session
	kit     *skilltool.Kit
	plan    *disclose.Plan
	set     *tool.Set
	system  string

	conversation *agent.Conversation
	invoked      string    // what the next turn tells of a skill that the user called for
	byUser       *llm.Call // stands for that activation in what is shown; no model made it
}

// asker puts a question to a person; the answer is no where nobody is there.
type asker func(ctx context.Context, question string, details []string) (bool, error)

// begin starts a conversation, or goes on with one of another model: from then on its prefix stays as it is.
func (w *worker) begin(ctx context.Context, history []llm.Message) error {
	cfg, _ := w.a.settings()
	if w.session == nil {
		w.id = fmt.Sprintf("agent-%x", w.a.sys.Now().UnixNano())
		w.session = session.New(&session.Options{Trace: w.a.tracer()})
	}
	w.told = w.catalog()
	own, err := w.ownTools()
	if err != nil {
		return err
	}
	mode := disclose.Mode(cfg.Disclosure)
	w.kit = skilltool.New(w.kitOptions(mode))
	w.set = w.join(ctx, own, w.kit.Tools())
	w.plan, err = disclose.NewPlan(w.told, &disclose.PlanOptions{Mode: mode, Blocks: w.blocks(), List: disclose.Options{
		Style: disclose.Style(cfg.XMLStyle), Location: disclose.Location(cfg.Location),
		Activation: disclose.Activation(cfg.ActivationText), Budget: w.budget(), MaxSkills: cfg.MaxSkills}})
	if err != nil {
		return err
	}
	w.system = disclose.Join(agentText, w.place(), w.plan.Prefix().Body)
	o := w.options()
	o.History = history
	w.conversation = agent.New(o)
	return nil
}

// budget is the most tokens of the list of skills: where the settings name none, a twentieth of the model's window, so
// that hundreds of skills leave room for the work.
func (w *worker) budget() int {
	cfg, _ := w.a.settings()
	if cfg.Budget > 0 {
		return cfg.Budget
	}
	return cfg.Agent.Window / 20
}

// agentText is how the system prompt begins.
const agentText = "You are agent, an assistant that works with tools. Do what the user asks, with the skill that fits where there is one. " +
	"Say what you found or did, in few words, and only what you know."

// place tells where files are.
func (w *worker) place() string {
	cfg, _ := w.a.settings()
	return "Files are read and written in the workspace " + cfg.Paths.Project + "."
}

// blocks says which paragraphs on the work with skills are wanted.
func (w *worker) blocks() *disclose.BlockOptions {
	cfg, _ := w.a.settings()
	o := &disclose.BlockOptions{Blocks: []disclose.Block{}, Tools: []string{}}
	for _, name := range cfg.Agent.Blocks {
		o.Blocks = append(o.Blocks, disclose.Block(name))
	}
	for t := range w.set.All() {
		o.Tools = append(o.Tools, t.Name)
	}
	return o
}

// options is how the loop runs here.
func (w *worker) options() *agent.Options {
	cfg, _ := w.a.settings()
	o := &agent.Options{
		Model: w.found.Model, Tools: w.executor(w.set), System: w.system, Retry: &llm.RetryOptions{},
		Turn: w.turn, Carry: w.carry, Fork: w.fork,
		MaxTurns: cfg.Agent.MaxTurns, MaxTokens: cfg.Agent.MaxTokens, MaxTime: cfg.Agent.MaxTime, Window: cfg.Agent.Window,
		CacheKey: w.id, Trace: w.a.tracer(), Now: w.a.sys.Now,
	}
	if w.turns > 0 {
		o.MaxTurns = w.turns
	}
	return o
}

// turn is what stands in a turn beside the prompt: which skills changed on disk, what the prompt's words bring up, and
// the skill that the user called for. The prefix does not change for it.
func (w *worker) turn(ctx context.Context, prompt string) string {
	news, invoked := w.news(), w.invoked
	w.invoked = ""
	choice, err := w.kit.Turn(ctx, w.plan, prompt)
	if err != nil {
		return disclose.Join(news, invoked)
	}
	for _, warning := range choice.Text.Warnings {
		w.emit(ctx, slog.LevelWarn, warning)
	}
	return disclose.Join(news, choice.Text.Body, invoked)
}

// news tells what has changed on disk since the model was told of the skills.
func (w *worker) news() string {
	now, before := w.catalog(), w.told
	if now == before { // as a rule: comparing all skills would take longer than the rest of the turn
		return ""
	}
	w.told = now
	change := watch.Diff(before, now)
	if change.Empty() {
		return ""
	}
	entries := []skill.Entry{}
	for _, name := range slices.Concat(change.Added, change.Changed) {
		if e, err := now.Lookup(name); err == nil && len(entries) < mostNews {
			entries = append(entries, e)
		}
	}
	list, err := disclose.Catalog(now, &disclose.Options{Style: disclose.Registry, Entries: entries, Search: disclose.SearchTool})
	if err != nil || len(entries) == 0 {
		return change.String()
	}
	return change.String() + "\n" + list.Body
}

// mostNews is how many skills that are new or changed are told of with their descriptions.
const mostNews = 20

func (w *worker) carry(ctx context.Context) string { return w.kit.Carry(ctx).Body }

func (w *worker) executor(set *tool.Set) *tool.Executor {
	return &tool.Executor{Tools: set, Trace: w.a.tracer()}
}

// join puts the tools in their order: the agent's own, then those of skills (R161). A name that is taken stays with
// the first; the log says so.
func (w *worker) join(ctx context.Context, lists ...[]tool.Tool) *tool.Set {
	set := &tool.Set{}
	for _, list := range lists {
		for _, t := range list {
			if err := set.Add(t); err != nil {
				w.emit(ctx, slog.LevelWarn, err.Error())
			}
		}
	}
	return set
}

// ownTools are those of the agent itself.
func (w *worker) ownTools() ([]tool.Tool, error) {
	cfg, _ := w.a.settings()
	shell, err := w.a.sys.LookPath("bash")
	if err != nil || !filepath.IsAbs(shell) {
		shell = ""
	}
	o := &hosttool.Options{
		Workspace: cfg.Paths.Project, Mounts: w.mounts, ReadOnly: w.readOnly, SkillRoots: w.skillRoots, ReadScripts: cfg.ScriptRead == "allow",
		Shell: shell, Env: commandEnv(w.a.sys.Environ), Trace: w.a.tracer(),
	}
	if w.bash || w.asker != nil {
		o.Approve = w.approveCommand
	}
	return hosttool.Tools(o)
}

func (w *worker) approveCommand(ctx context.Context, command string) (bool, error) {
	if w.bash {
		return true, nil
	}
	return w.asker(ctx, "Run this command, as you and outside any sandbox?", commandLines(command))
}

// glance is how many lines and bytes of a command a person takes in at a glance.
const (
	glanceLines = 15
	glanceBytes = 1000
)

// commandLines is a command as a person is asked about it. The size of a long one is told at its end, beside the answer:
// its beginning may have left the screen, and empty lines may be there for that. What looks like a blank is one.
func commandLines(command string) []string {
	lines := strings.Split(ui.Exact(command), "\n")
	if len(lines) > glanceLines || len(command) > glanceBytes {
		lines = append(lines, fmt.Sprintf("(that was a long command: %s, %d bytes; look at all of it)", count(len(lines), "line"), len(command)))
	}
	return lines
}

// commandEnv keeps of the environment what a shell needs, and no keys.
func commandEnv(environ []string) []string {
	var out []string
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR":
			out = append(out, kv)
		default:
			if strings.HasPrefix(name, "LC_") {
				out = append(out, kv)
			}
		}
	}
	return out
}

// mounts are the folders of the skills that are on disk. Those that a model is not told of have their rules too, but
// for broken ones: their scripts can be read to repair them. One that its user called for is told of as long as it is active.
func (w *worker) mounts() []hosttool.Mount {
	var out []hosttool.Mount
	add := func(e skill.Entry, hidden bool) {
		if hidden && (e.State() == skill.StateBroken || e.Layer() == config.Bundled) { // or it would be unpacked for that
			return
		}
		if at := e.Location(); at != "" {
			out = append(out, hosttool.Mount{Name: e.Canonical(), Dir: filepath.Dir(at), Hidden: hidden})
		}
	}
	for e := range w.catalog().All() {
		_, active := w.session.Lookup(e.Canonical())
		add(e, e.State() != skill.StateEnabled && !(e.State() == skill.StateHidden && active))
		for _, other := range e.Shadows() {
			add(other, true)
		}
	}
	return out
}

// readOnly are the folders with what decides which content may run, and those whose content runs unasked.
func (w *worker) readOnly() []string {
	cfg, _ := w.a.settings()
	dirs := []string{cfg.Paths.Agent, cfg.Paths.System, cfg.CoreDir}
	if set := w.a.trustSet.Load(); set != nil {
		dirs = append(dirs, set.Roots()...)
	}
	if cfg.Want.Mode == skill.SelectAllUntrusted {
		dirs = append(dirs, w.catalog().Roots()...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// skillRoots are the folders that skills are found in: what is written there speaks to the next model.
func (w *worker) skillRoots() []string {
	return slices.DeleteFunc(slices.Clone(w.catalog().Roots()), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// kitOptions is how the five tools of skills work here.
func (w *worker) kitOptions(mode disclose.Mode) *skilltool.Options {
	cfg, _ := w.a.settings()
	o := w.a.toolOptions(w.told)
	o.Catalog, o.Session, o.Forks = w.catalog, w.session, true
	o.Instructions.SessionID = w.id
	o.Carry.All = min(25_000, cfg.Agent.Window/4) // a small window must hold more than its skills
	o.Carry.Each = min(5_000, o.Carry.All)
	o.Unlisted, o.Budget, o.MaxSkills = mode != disclose.ToolDescription, w.budget(), cfg.MaxSkills
	if w.asker != nil {
		o.Approve = w.approve
	}
	return o
}

// approve asks the person about a skill's content, and remembers a yes.
func (w *worker) approve(ctx context.Context, s *skill.Skill) (bool, error) {
	p, err := w.a.propose(ctx, s)
	if err != nil {
		return false, err
	}
	yes, err := w.asker(ctx, fmt.Sprintf("Let the scripts of %q run?", p.approval.Name), w.a.proposalLines(p))
	if err != nil || !yes {
		return false, err
	}
	return true, w.a.approve(ctx, p)
}

// active returns the names of the active skills, the one activated first being first.
func (w *worker) active() []string {
	out := []string{}
	for _, s := range w.session.Active() {
		out = append(out, s.Name)
	}
	return out
}

// prefix is what every request begins with, in estimated tokens.
func (w *worker) prefix() prefixJSON {
	p := prefixJSON{System: disclose.Tokens(w.system)}
	for t := range w.set.All() {
		p.Tools += disclose.Tokens(t.Name) + disclose.Tokens(t.Description) + disclose.Tokens(string(t.Input))
	}
	return p
}
