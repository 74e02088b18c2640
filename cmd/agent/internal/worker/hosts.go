package worker

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// hosts decides which hosts the commands and scripts of a conversation reach besides those of the settings and grants, and asks the user
// about the others. It is safe for concurrent use.
type hosts struct {
	gate *gate
	one  chan struct{} // has room for the one question that is asked

	mu      sync.Mutex
	allowed map[string][]string // by whose they are: hosts of the rest of the conversation
	late    map[string][]string // those that were allowed once, when a command had given up: the next one has them
}

func newHosts(g *gate) *hosts {
	return &hosts{gate: g, one: make(chan struct{}, 1), allowed: map[string][]string{}, late: map[string][]string{}}
}

// asker is who wants to reach hosts: one command, or one run of a script.
type asker struct {
	hosts *hosts
	whose string   // answers count for askers of the same name: "" for commands, or the name of a skill
	who   string   // in a question: "this command"
	about []string // details of a question, as it shows them
	page  bool     // it is a page for the model: all rules about pages count, and a registry is a host like others
	all   bool     // the settings allow every host

	quiet bool // nobody is asked

	also   string // what an answer for the conversation is about, too
	always string // the answer that lasts
	keep   func(ctx context.Context, hosts []string) error

	once []string // hosts.mu guards it
}

// The answer that is about one host of several.
const alone = "o"

// begin returns an asker, which has what was allowed too late for the one before.
func (h *hosts) begin(a asker) *asker {
	h.mu.Lock()
	defer h.mu.Unlock()
	a.hosts, a.once = h, h.late[a.whose]
	delete(h.late, a.whose)
	return &a
}

// network adds to n what is decided during the run. ctx is that of the call.
func (a *asker) network(ctx context.Context, n *runner.Network) {
	g := a.hosts.gate
	n.Denied = func(host string) bool { return a.decide(host).Verdict == permit.Denied }
	n.Waits = g.approver != nil && !a.quiet
	n.Ask = func(life context.Context, host string) runner.Verdict {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(life, cancel)()
		return a.ask(ctx, host)
	}
}

// decide returns what the rules say about a host.
func (a *asker) decide(host string) permit.Decision {
	if a.page {
		return a.hosts.gate.current().Page("https://" + host + "/")
	}
	return a.hosts.gate.current().Host(host)
}

// known reports whether a host was allowed before.
func (a *asker) known(host string) bool {
	a.hosts.mu.Lock()
	defer a.hosts.mu.Unlock()
	return slices.Contains(a.once, host) || slices.Contains(a.hosts.allowed[a.whose], host)
}

// ask decides about a host. One question is asked at a time: another answer may be about the same host.
func (a *asker) ask(ctx context.Context, host string) runner.Verdict {
	d := a.decide(host)
	switch {
	case d.Verdict == permit.Denied:
		return runner.No
	case d.Verdict == permit.Allowed && a.whose == "", d.Rule.Text == "" && (a.all || a.known(host)):
		return runner.Yes
	case a.hosts.gate.approver == nil, a.quiet:
		return runner.Unanswered
	}
	select {
	case a.hosts.one <- struct{}{}:
		defer func() { <-a.hosts.one }()
	case <-ctx.Done():
		return runner.Unanswered
	}
	if d.Rule.Text == "" && a.known(host) {
		return runner.Yes
	}
	tool.Notify(ctx, tool.Event{Kind: tool.EventNeeds, Need: want.Of(want.Host, host), Text: "the user is asked about " + host})
	group := []string{host}
	if hostname.IsRegistry(host) && d.Rule.Text == "" && !a.page {
		group = hostname.Registries()
	}
	answer, err := a.hosts.gate.approver.Answer(ctx, a.question(host, group, d))
	if err != nil || answer == "" {
		return runner.Unanswered
	}
	return a.settle(ctx, answer, host, group)
}

// settle does what an answer says.
func (a *asker) settle(ctx context.Context, answer, host string, group []string) runner.Verdict {
	if answer == alone {
		answer, group = "y", []string{host}
	}
	if answer == a.lasting() {
		if err := a.keep(ctx, group); err != nil {
			a.hosts.gate.s.Out.Warn(fmt.Sprintf("%s is allowed once: the rule could not be kept: %v", host, err))
		}
	}
	switch answer {
	case "y", a.lasting():
		a.hosts.mu.Lock()
		defer a.hosts.mu.Unlock()
		a.once = append(a.once, group...)
	case forNow:
		a.hosts.allow(a.whose, group...)
		for _, host := range group {
			if a.whose == "" {
				a.hosts.gate.note(allowedHost, host, false)
			} else {
				a.hosts.gate.note(scriptsHost, a.whose+" "+host, false)
			}
		}
	default:
		return runner.No
	}
	return runner.Yes
}

// lasting is the key of the answer that lasts: commands have it in this project, and others everywhere.
func (a *asker) lasting() string {
	if a.whose == "" {
		return inProject
	}
	return everywhere
}

// allow lets what has that name reach hosts for the rest of the conversation.
func (h *hosts) allow(whose string, names ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.allowed[whose] = append(h.allowed[whose], names...)
}

// question returns what the user is asked about a host, which may stand for a group.
func (a *asker) question(host string, group []string, d permit.Decision) *ui.Question {
	q := &ui.Question{Text: fmt.Sprintf("Let %s reach %s?", a.who, host), Details: a.about}
	what := "yes"
	if len(group) > 1 {
		q.Text = fmt.Sprintf("Let %s reach %s and the other public registries of packages?", a.who, host)
		q.Details = append(slices.Clone(q.Details), "", "They are those of "+strings.Join(hostname.RegistryNames(), ", ")+": "+strings.Join(group, ", "))
		what = "yes, all of them"
	}
	if d.Rule.Text != "" || d.Doubt {
		q.Text += " " + sentence(d.Reason)
	}
	q.Choices = []ui.Choice{{Key: "y", Label: what + ", this once"}}
	if d.Rule.Text == "" {
		q.Choices = append(q.Choices, ui.Choice{Key: forNow, Label: what + ", in this conversation" + a.also, Lasts: true})
	}
	if d.Rule.Text == "" && a.keep != nil && !strings.Contains(strings.Trim(host, "[]"), ":") {
		q.Choices = append(q.Choices, ui.Choice{Key: a.lasting(), Label: a.always, Lasts: true})
	}
	if len(group) > 1 {
		q.Choices = append(q.Choices, ui.Choice{Key: alone, Label: "only " + host + ", this once"})
	}
	q.Choices = append(q.Choices, ui.Choice{Key: "n", Label: "no"})
	return q
}

// end keeps what was allowed too late for the next run.
func (a *asker) end(out *runner.Output) {
	a.hosts.mu.Lock()
	for _, host := range out.Late {
		if slices.Contains(a.once, host) {
			a.hosts.late[a.whose] = append(a.hosts.late[a.whose], host)
		}
	}
	a.hosts.mu.Unlock()
}

// plainHost returns HOST:PORT without the port that a browser would not show.
func plainHost(host string) string {
	return strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
}

// keepHosts keeps rules for hosts for this project.
func (g *gate) keepHosts(ctx context.Context, names []string) error {
	var rules []string
	for _, host := range names {
		rules = append(rules, permit.HostRule(host))
	}
	return g.keep(ctx, rules...)
}

// forCommand returns the asker of a command of bash.
func (h *hosts) forCommand(command string) *asker {
	a := asker{who: "this command", about: commandLines(command), always: "always, in this project"}
	if h.gate.mayKeep() {
		a.keep = h.gate.keepHosts
	}
	return h.begin(a)
}

// forPage returns the asker of a page that the model gets. What is allowed for it is allowed for commands, and the other way round.
func (h *hosts) forPage() *asker {
	const also = ", for commands too"
	a := &asker{hosts: h, who: "the model", page: true, also: also, always: "always, in this project" + also}
	if h.gate.mayKeep() {
		a.keep = h.gate.keepHosts
	}
	return a
}

// forScript returns the network of a run of a script, with what the user says about hosts: see script.Options.Hosts.
func (h *hosts) forScript(ctx context.Context, s *skill.Skill, sc script.Script, args []string, n *runner.Network) (done func(*runner.Output)) {
	a := asker{whose: s.Canonical(), who: fmt.Sprintf("the script %s of %s", sc.Name, s.Name()), always: "always, while the content of the skill stays as it is"}
	if len(args) > 0 {
		a.about = commandLines(strings.Join(args, " "))
	}
	if _, err := h.gate.s.Trust.Edit(); err == nil && !h.gate.s.Trust.Everything() {
		a.keep = func(ctx context.Context, names []string) error {
			_, err := h.gate.s.Grants.Edit(ctx, s, want.Each(want.Host, want.Seen, names...), nil)
			return err
		}
	}
	run := h.begin(a)
	run.network(ctx, n)
	return run.end
}

// told adds to the result of a command what became of hosts, and what rules hide from it, as far as the model does not know that.
func (a *asker) told(ctx context.Context, known *runner.Told, o *hosttool.Output, cmd *runner.Command, out *runner.Output) {
	o.Hidden = known.Tell(cmd.Denied, out)
	for _, path := range o.Hidden {
		tool.Notify(ctx, tool.Event{Kind: tool.EventNeeds, Need: want.Want{Kind: want.Read, Name: path, From: want.Refused}, Text: "rules hide " + path})
	}
	hosts, text := a.refused(ctx, out.Refused)
	o.Refused = append(o.Refused, hosts...)
	var texts []string
	if text != "" {
		texts = append(texts, text)
	}
	for _, host := range out.Late {
		texts = append(texts, host+" is allowed now: run it again")
	}
	o.Network = strings.Join(texts, "; ")
}

// refused returns the hosts that were refused, and clauses that say why. It notifies the watch of the call of each.
func (a *asker) refused(ctx context.Context, refused []runner.Refusal) (hosts []string, text string) {
	var texts, ask []string
	for _, r := range refused {
		host := plainHost(r.Host)
		if slices.Contains(hosts, host) {
			continue
		}
		hosts = append(hosts, host)
		tool.Notify(ctx, tool.Event{Kind: tool.EventNeeds, Need: want.Want{Kind: want.Host, Name: host, From: want.Refused}, Text: host + " was refused"})
		d, organisation := a.decide(host), a.hosts.gate.s.Settings.Policy().Host(host)
		switch {
		case organisation.Level == policy.Never:
			texts = append(texts, host+" is not reached: "+organisation.Why)
		case d.Verdict == permit.Denied:
			texts = append(texts, host+" is not reached: "+d.Reason)
		case r.Said:
			texts = append(texts, "the user did not allow "+host)
		case r.Private || local(r.Host):
			texts = append(texts, host+" is on this machine or in its own network: "+cure.PrivateHost(host))
		case d.Rule.Text != "":
			texts = append(texts, host+" was refused: "+d.Reason+", and nobody could be asked")
		default:
			ask = append(ask, host)
		}
	}
	if len(ask) > 0 {
		texts = append(texts, "refused: "+strings.Join(ask, ", ")+" ("+cure.Hosts(ask)+")")
	}
	return hosts, strings.Join(texts, "; ")
}

// local reports whether HOST:PORT shows by itself that no question is about it.
func local(target string) bool {
	host, _, err := hostname.Split(target)
	if err == nil {
		host, err = hostname.Canonical(host)
	}
	return err == nil && hostname.IsLocal(host)
}
