package worker

import (
	"cmp"
	"context"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/surroundings"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/toolkit"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/gitdir"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/undo"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/trace"
)

// worker answers prompts. It is for one goroutine at a time; only status may be called from another.
type worker struct {
	s        *app.Services
	found    *models.Found
	effort   string                // of the model; "" means that the provider chooses
	catalog  func() *skill.Catalog // the present snapshot
	approver *consent.Approver     // nil: no person can be asked
	gate     *gate
	hosts    *hosts
	journal  *undo.Journal
	todo     todo.List
	jobs     hosttool.Jobs
	subs     int                  // sub-agents that it has started
	agents   []surroundings.Agent // kinds of sub-agents
	unread   []string             // files of such that are not read, and why
	home     *bashHome
	tools    *toolkit.Toolkit            // of the conversation
	refresh  func(context.Context) error // brings the snapshot up to date; nil: it stays
	fresh    fresh
	watch    func(tool.Event) // gets the events of calls; nil: nobody does
	turns    int              // limit of requests for one prompt; 0: the setting
	added    string           // to the system text, by the user
	mode     disclose.Mode
	context  *surroundings.Texts // in the system text
	hooks    *ownHooks           // of the user's settings
	started  int                 // tokens of what the first turn began with; 0 if another process sent it
	bare     bool                // without context
	oneByOne bool                // sub-agents do not run at the same time
	window   int                 // tokens of a conversation with the model that it began with
	budget   int                 // of the list of skills

	id      string         // of the conversation
	prompts int            // that it got
	kept    string         // for the user: what of its skills survived when it was shortened
	warned  bool           // that scripts are not confined
	told    *skill.Catalog // the snapshot that the model knows
	hidden  *runner.Told   // what it knows of paths that rules hide from scripts
	session *session.Session
	sets    *toolset.Host // nil where no script is run
	servers *connected    // nil without any
	kit     *skilltool.Kit
	plan    *disclose.Plan
	set     *tool.Set
	system  string

	conversation *agent.Conversation
	keep         *keeper     // writes the conversation
	pending      string      // text of the next turn about what the user did since the last one
	invoked      string      // text of the next turn about a skill that the user activated
	shown        []llm.Media // images and documents of the next turn
	drops        sync.Map    // paths outside the project that the user pasted and may attach
	attached     string      // text of the next turn from MCP servers, as the user asked
	shells       int         // commands that the user typed
	byUser       *llm.Call   // the call that is shown for that activation; no model made it
}

// newWorker returns a worker that is ready for its first prompt. A nil approver means that no person can be asked.
func newWorker(ctx context.Context, o *Options, found *models.Found, catalog func() *skill.Catalog, approver *consent.Approver) (*worker, error) {
	s := o.Services
	w := unready(s, found.Facts, catalog, approver)
	w.found, w.turns, w.added, w.bare = found, o.MaxTurns, o.System, o.bare
	w.follow(o)
	if err := w.openServers(ctx, !o.Asked); err != nil {
		return w, err
	}
	if err := w.begin(ctx, nil); err != nil {
		return w, err
	}
	return w, w.gate.check()
}

// unready returns a worker that has no model, no tools and no conversation yet.
func unready(s *app.Services, facts models.Facts, catalog func() *skill.Catalog, approver *consent.Approver) *worker {
	cfg := s.Settings.Config()
	w := &worker{s: s, effort: cfg.Agent.Effort, catalog: catalog, approver: approver, mode: disclose.Mode(cfg.Disclosure), window: window(cfg, &facts),
		gate: newGate(s, approver), id: saved.NewID(s.Sys.Now())}
	w.budget = listBudget(cfg, w.window)
	w.gate.note = func(kind, text string, confined bool) { w.keep.approve(kind, text, confined) }
	w.hosts = newHosts(w.gate)
	w.keep, w.session = &keeper{}, session.New(s.Tools.Session())
	w.journal = newJournal(s, w.id)
	w.gate.ran = func() { w.journal.Ran() }
	w.home = newBashHome(cfg.Paths.Cache, cfg.Paths.Project, cfg.Agent.BashDisk)
	w.home.files, w.home.id = cfg.Agent.BashFiles, func() string { return w.keep.id() }
	w.home.git = &gitdir.User{Home: w.s.Sys.Home, Getenv: w.s.Sys.Getenv}
	w.tools = s.Tools.In(w.temps, w.hosts.forScript)
	return w
}

// close ends what runs for the conversation, after its skills were left.
func (w *worker) close(ctx context.Context) {
	w.kit.End(w.as(ctx))
	if n := w.jobs.Close(); n > 0 {
		w.s.Out.Remark(output.Count(n, "command") + " in the background ended with the conversation")
	}
	if w.sets != nil {
		_ = w.sets.Close()
	}
	w.servers.close()
	w.home.close()
	w.keep.close()
}

// begin starts a conversation, or continues one that another model began. Its prefix does not change afterwards.
func (w *worker) begin(ctx context.Context, history []llm.Message) error {
	if err := w.compose(ctx); err != nil {
		return err
	}
	o, err := w.options(w.found)
	if err != nil {
		return err
	}
	o.History = history
	w.resume(ctx, o)
	w.conversation = agent.New(o)
	w.started = 0
	w.keep.begun(w.conversation)
	return nil
}

// compose makes the tools and the system text of a conversation, from the skills that the catalog has now.
func (w *worker) compose(ctx context.Context) error {
	w.told, w.hidden = w.catalog(), &runner.Told{}
	w.agents, w.unread = w.readAgents()
	own, err := w.ownTools(ctx, func() *skilltool.Kit { return w.kit }, &w.jobs)
	if err != nil {
		return err
	}
	skillTools, err := w.kitOptions()
	if err != nil {
		return err
	}
	w.kit = skilltool.New(skillTools)
	w.set = w.join(ctx, own, w.gate.guard([]tool.Tool{w.todo.Tool(), w.task()}), w.gate.guard(w.kit.Tools()), w.serverTools(ctx))
	w.plan, err = disclose.NewPlan(ctx, w.told, &disclose.PlanOptions{Mode: w.mode, Blocks: w.blocks(), List: *w.listOptions()})
	if err != nil {
		return err
	}
	w.context = w.readContext()
	w.system = disclose.Join(agentText, w.place(), w.plan.Prefix().Body, w.context.Body(), w.added)
	return nil
}

// listOptions returns how skills are listed in the system text.
func (w *worker) listOptions() *disclose.Options {
	cfg := w.s.Settings.Config()
	return &disclose.Options{Style: disclose.Style(cfg.XMLStyle), Location: disclose.Location(cfg.Location),
		Activation: disclose.Activation(cfg.ActivationText), Budget: w.budget, MaxSkills: cfg.MaxSkills}
}

// listBudget returns the limit on the tokens of the list of skills. Without a setting it is a twentieth of the model's
// window, so hundreds of skills leave room for the work; a large window is not a reason to send more with each request.
func listBudget(cfg *config.Config, window int) int {
	if cfg.Budget > 0 {
		return cfg.Budget
	}
	return min(window/20, MostBudget)
}

// MostBudget is the largest limit on the tokens of the list of skills that no setting asks for.
const MostBudget = 9_000

// window returns how many tokens a conversation with a model may have.
func window(cfg *config.Config, facts *models.Facts) int {
	return cmp.Or(cfg.Agent.Window, facts.Window, agent.DefaultWindow)
}

// agentText is how the system prompt begins.
const agentText = "You are agent, an assistant that works with tools. Do what the user asks, with the skill that fits where there is one. " +
	"Say what you found or did, in few words, and only what you know."

// place says where files are.
func (w *worker) place() string {
	cfg := w.s.Settings.Config()
	return "Files are read and written in the workspace " + cfg.Paths.Project + "."
}

// blocks returns which paragraphs about skills the system text has.
func (w *worker) blocks() *disclose.BlockOptions {
	cfg := w.s.Settings.Config()
	o := &disclose.BlockOptions{Blocks: []disclose.Block{}, Tools: []string{}}
	for _, name := range cfg.Agent.Blocks {
		o.Blocks = append(o.Blocks, disclose.Block(name))
	}
	for t := range w.set.All() {
		o.Tools = append(o.Tools, t.Name)
	}
	return o
}

// options returns the options of the conversation, or of a sub-agent of it with another model. That one thinks as its provider
// chooses if it does not have the effort that the user set.
func (w *worker) options(found *models.Found) (*agent.Options, error) {
	cfg := w.s.Settings.Config()
	effort, err := found.WithEffort(w.effort)
	if err != nil && found == w.found {
		return nil, err
	}
	o := &agent.Options{
		Model: found.Model, Tools: w.executor(w.set, w.kit), System: w.system, Retry: retryOptions(cfg, w.s.Sys.Now),
		Turn: w.turn, Carry: w.carry, Fork: w.fork, Together: w.together, More: w.more(w.kit, w.set),
		Continue: func(ctx context.Context, before int) string { return w.continued(ctx, w.kit, before) },
		MaxTurns: cfg.Agent.MaxTurns, MaxTokens: cfg.Agent.MaxTokens, MaxTime: cfg.Agent.MaxTime,
		Window: window(cfg, &found.Facts), AnswerTokens: cfg.Agent.Answer, Effort: effort,
		Watch: func(e tool.Event) { w.watched(e) }, CacheKey: w.keep.key(w.id), Trace: w.s.Observe.Tracer(), Now: w.s.Sys.Now,
		Identity: w.identity(),
	}
	if w.turns > 0 {
		o.MaxTurns = w.turns
	}
	return o, nil
}

// watched passes an event of a call on.
func (w *worker) watched(e tool.Event) {
	if w.watch != nil {
		w.watch(e)
	}
}

// retryOptions returns how requests that fail for now are repeated. now tells the time.
func retryOptions(cfg *config.Config, now func() time.Time) *llm.RetryOptions {
	if cfg.Agent.RetryTime == 0 {
		return &llm.RetryOptions{Attempts: 1}
	}
	return &llm.RetryOptions{Time: cfg.Agent.RetryTime, Now: now}
}

// more returns the function that offers the tools of active skills' toolsets to the model of a conversation with these tools.
func (w *worker) more(kit *skilltool.Kit, set *tool.Set) func(context.Context) []tool.Tool {
	return func(ctx context.Context) []tool.Tool {
		return append(w.gate.guard(kit.More(ctx, set)), append(w.planTools(), w.servers.more(ctx, set, w.sayServers)...)...)
	}
}

// tell keeps a text about what the user did for the next turn.
func (w *worker) tell(text string) { w.pending = disclose.Join(w.pending, text) }

// identity returns for whom the steps of the conversation are taken.
func (w *worker) identity() trace.Identity {
	i := trace.Identity{Agent: "agent", Tenant: w.s.Settings.Config().Tenant, Task: w.id}
	if w.found != nil { // a preview has no model
		i.Model = w.found.String()
	}
	return i
}

// as returns a context for steps of the conversation that its model does not ask for.
func (w *worker) as(ctx context.Context) context.Context {
	return trace.WithIdentity(ctx, w.identity())
}

// turn returns the text that goes with a prompt: at the start what the surroundings are, which skills changed on disk, which skills the prompt brings up, and the
// skill that the user activated. The prefix stays unchanged.
func (w *worker) turn(ctx context.Context, prompt string) string {
	start := ""
	if len(w.conversation.Messages()) == 0 {
		start = disclose.Join(w.start(ctx), w.hooks.begun(ctx))
		w.started = disclose.Tokens(start)
	}
	news, invoked := disclose.Join(start, w.pending, w.news(ctx), w.contextNews(), disclose.Join(w.jobs.Ended(false)...)), disclose.Join(w.invoked, w.attached)
	w.invoked, w.attached, w.pending = "", "", ""
	choice, err := w.kit.Turn(ctx, w.plan, prompt)
	if err != nil {
		return disclose.Join(news, invoked)
	}
	for _, warning := range choice.Text.Warnings {
		w.emit(ctx, slog.LevelWarn, warning)
	}
	return disclose.Join(news, choice.Text.Body, invoked)
}

// news describes what has changed on disk since the model was last informed.
func (w *worker) news(ctx context.Context) string {
	now, before := w.catalog(), w.told
	if now == before { // the usual case: comparing all skills would take longer than the rest of the turn
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
	list, err := disclose.Catalog(ctx, now, &disclose.Options{Style: disclose.Registry, Entries: entries, Search: disclose.SearchTool})
	if err != nil || len(entries) == 0 {
		return change.String()
	}
	return change.String() + "\n" + list.Body
}

// mostNews is how many new or changed skills are described in a turn.
const mostNews = 20

// join returns the tools in order: the agent's own, then those of skills. If two have the same name, it keeps the first
// and logs a warning.
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

// mounts returns the folders of the skills on disk. The rules also hold for skills that are hidden from the model, except
// broken ones: their scripts can be read to repair them. A hidden skill is visible while the user keeps it active.
func (w *worker) mounts(ctx context.Context) []hosttool.Mount {
	var out []hosttool.Mount
	add := func(e skill.Entry, hidden bool) {
		if hidden && (e.State() == skill.StateBroken || e.Layer() == config.Bundled) { // its location would unpack it
			return
		}
		if at, err := e.Location(ctx); err == nil {
			out = append(out, hosttool.Mount{Name: e.Canonical(), Path: e.Mounted(), Dir: filepath.Dir(at), Hidden: hidden})
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

// keptScripts returns the scripts of a mounted skill that are run and not read. For a broken skill they are those of one
// without a manifest.
func (w *worker) keptScripts(ctx context.Context, m *hosttool.Mount, files fs.FS) (out []hosttool.Script) {
	said := &manifest.Manifest{}
	if e, ok := w.mounted(ctx, m); ok {
		if s, err := e.Load(ctx); err == nil {
			said = s.Manifest()
			s.Close()
		}
	}
	for _, sc := range survey.Of(files, said, w.s.Settings.Survey()).Kept() {
		out = append(out, hosttool.Script{File: sc.File, Name: sc.Name})
	}
	return out
}

// mounted returns the entry of a mounted skill, which another may hide.
func (w *worker) mounted(ctx context.Context, m *hosttool.Mount) (skill.Entry, bool) {
	e, err := w.catalog().Lookup(m.Name)
	if err != nil {
		return e, false
	}
	for _, e := range append([]skill.Entry{e}, e.Shadows()...) {
		if at, err := e.Location(ctx); err == nil && filepath.Dir(at) == m.Dir {
			return e, true
		}
	}
	return e, false
}

// readOnly returns the folders that decide which content may run, and those whose content runs without a question.
func (w *worker) readOnly() []string {
	cfg := w.s.Settings.Config()
	dirs := []string{cfg.Paths.Agent, cfg.Paths.System, cfg.CoreDir}
	dirs = append(dirs, w.s.Trust.Known().Roots()...)
	if cfg.Want.Mode == skill.SelectAllUntrusted {
		dirs = append(dirs, w.catalog().Roots()...)
	}
	return slices.DeleteFunc(dirs, func(dir string) bool { return !filepath.IsAbs(dir) })
}

// skillRoots returns the folders of skills: what is written there reaches the next model.
func (w *worker) skillRoots() []string {
	return slices.DeleteFunc(slices.Clone(w.catalog().Roots()), func(dir string) bool { return !filepath.IsAbs(dir) })
}

// kitOptions returns the options of the tools for skills.
func (w *worker) kitOptions() (*skilltool.Options, error) {
	cfg := w.s.Settings.Config()
	o, err := w.tools.Options(w.told)
	if err != nil {
		return nil, err
	}
	o.Catalog, o.Session, o.Rules, o.Forks = w.catalog, w.session, w.rules, true
	o.Free = []string{todo.Name, hosttool.JobTool}
	if w.sets == nil {
		if w.sets, err = w.tools.Toolsets(func() runner.Denied { return w.kit.DeniedFiles() }); err != nil {
			return nil, err
		}
	}
	if w.sets != nil {
		o.Toolsets, o.Policy.Starts = w.sets, w.gate.starts
	}
	o.Show.Instructions.SessionID = w.id
	o.Show.Carry.All = min(25_000, w.window/4) // a small window must hold more than its skills
	o.Show.Carry.Each = min(5_000, o.Show.Carry.All)
	o.Show.Unlisted, o.Show.Budget, o.Show.MaxSkills = w.mode != disclose.ToolDescription, w.budget, cfg.MaxSkills
	o.Policy.Ask = func(context.Context, string, string) (bool, error) { return true, nil } // the gate has asked
	if w.approver != nil {
		o.Policy.Approve = w.s.Consent.With(w.approver).Scripts
	}
	return o, nil
}

// active returns the names of the active skills, the one activated first being first.
func (w *worker) active() []string {
	out := []string{}
	for _, s := range w.session.Active() {
		out = append(out, s.Name)
	}
	return out
}

// prefix returns the estimated tokens of what each request begins with.
func (w *worker) prefix() stream.Prefix {
	p := stream.Prefix{System: disclose.Tokens(w.system)}
	for t := range w.set.All() {
		p.Tools += ToolTokens(t)
	}
	return p
}

// onSkills returns how many estimated tokens of each request are about skills: in the system text and in their tools.
func (w *worker) onSkills() int {
	sum := w.plan.Prefix().Tokens
	for _, t := range w.kit.Tools() {
		sum += ToolTokens(t)
	}
	return sum
}
