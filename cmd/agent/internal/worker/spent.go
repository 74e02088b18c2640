package worker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill/manifest"
)

// spent counts what a conversation costs. It is safe for concurrent use.
type spent struct {
	mu     sync.Mutex
	skills map[string]int // tokens of results, by the skill that they came from
	usage  llm.Usage
	last   llm.Usage // of the last request of the conversation itself
	cost   float64   // in US dollars
	free   int       // requests to models whose prices are not known
}

// prices returns the prices of the model of a step, which may be that of a sub-agent.
func (w *worker) prices(s *agent.Step) models.Prices {
	if s.Usage == nil || s.Model == "" || s.Model == w.found.String() {
		return w.found.Facts.Prices
	}
	return w.s.Models.Finder().FactsFor(s.Model).Prices
}

// add adds what a step cost.
func (s *spent) add(step agent.Step, p models.Prices) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := step.Usage; u != nil {
		s.pay(*u, p)
		if step.Depth == 0 {
			s.last = *u
		}
	}
	if step.Result == nil {
		return
	}
	var args struct {
		Skill string `json:"skill_name"`
		Short string `json:"skill"`
	}
	if json.Unmarshal(step.Result.Call.Args, &args) != nil {
		return
	}
	if args.Skill == "" {
		args.Skill = args.Short
	}
	if args.Skill != "" && manifest.CheckName(args.Skill) == nil {
		s.skills[manifest.Canonical(args.Skill)] += disclose.Tokens(step.Result.Text)
	}
}

// pay adds what a request, or a turn that was saved, cost.
func (s *spent) pay(u llm.Usage, p models.Prices) {
	s.usage = s.usage.Add(u)
	if s.cost += p.Of(u); p == (models.Prices{}) && u != (llm.Usage{}) {
		s.free++
	}
}

// summary adds the cost of a summary that the user asked for, and returns it. If it shortened the conversation, how full the window is is
// not known before the next request.
func (s *spent) summary(before, now llm.Usage, p models.Prices, shorter bool) llm.Usage {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := now.Add(llm.Usage{Input: -before.Input, CacheRead: -before.CacheRead, CacheWrite: -before.CacheWrite, Output: -before.Output})
	s.pay(u, p)
	if shorter {
		s.last = llm.Usage{}
	}
	return u
}

// clear forgets what belongs to the messages that are gone. What was paid stays.
func (s *spent) clear() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.skills)
	s.last = llm.Usage{}
}

// into writes what the status line shows.
func (s *spent) into(st *chat.Status, window int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st.Usage = s.usage
	if used := s.last.Input + s.last.Output; window > 0 && used > 0 {
		st.Context = min(max(used*100/window, 1), 100)
	}
	if s.cost > 0 {
		st.Cost = dollars(s.cost)
	}
	for _, name := range sortedKeys(s.skills) {
		st.Tokens = append(st.Tokens, chat.SkillTokens{Name: name, Tokens: s.skills[name]})
	}
}

func sortedKeys(m map[string]int) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// dollars writes an amount of US dollars: small ones with four digits after the point.
func dollars(amount float64) string {
	if amount < 0.1 {
		return fmt.Sprintf("$%.4f", amount)
	}
	return fmt.Sprintf("$%.2f", amount)
}

// costCommand is /cost.
func (t *talk) costCommand(context.Context, string) (string, error) {
	s := &t.spent
	s.mu.Lock()
	usage, cost, free := s.usage, s.cost, s.free
	s.mu.Unlock()
	rows := [][]string{{"input", chat.Number(usage.Input)}, {"  read from the cache", chat.Number(usage.CacheRead)}, {"  written to the cache", chat.Number(usage.CacheWrite)},
		{"output", chat.Number(usage.Output)}}
	if cost > 0 {
		rows = append(rows, []string{"about", dollars(cost)})
	}
	text, err := t.printed(func(s *app.Services) error { return s.Out.Table([]string{"TOKENS", ""}, rows) })
	found := t.model()
	switch {
	case cost > 0 && free > 0:
		text += fmt.Sprintf("\n%s to models without known prices: not counted.", output.Count(free, "request"))
	case cost > 0:
		text += fmt.Sprintf("\nBy the list prices of %s; your provider's bill may differ.", found.Facts.Date)
	case free > 0:
		text += "\nThe prices of " + found.String() + " are not known."
	}
	return text, err
}

// modelCommand is /model.
func (t *talk) modelCommand(ctx context.Context, name string) (string, error) {
	finder := t.w.s.Models.Finder()
	if name == "" {
		now := t.model().String()
		var rows [][]string
		for _, full := range finder.Reachable(ctx) {
			mark, facts := " ", finder.FactsFor(full)
			if full == now {
				mark = "*"
			}
			rows = append(rows, []string{mark + " " + full, number(facts.Window), price(facts.Prices.Input), price(facts.Prices.Output)})
		}
		if len(rows) == 0 {
			return now, nil
		}
		text, err := t.printed(func(s *app.Services) error {
			return s.Out.Table([]string{"  MODEL", "WINDOW", "INPUT", "OUTPUT"}, rows)
		})
		return text + "\n(* answers now: " + now + "; prices for a million tokens; /model NAME switches)", err
	}
	found, err := finder.Find(ctx, name)
	if err != nil {
		return "", hinted(err)
	}
	defer t.change()()
	before, effort, note := t.w.found, t.effort(), ""
	if _, err := found.WithEffort(effort); err != nil {
		t.setEffort("")
		note = fmt.Sprintf("; it has no effort %s and thinks as its provider chooses", effort)
	}
	t.setModel(found)
	if err := t.w.begin(ctx, t.w.conversation.Messages()); err != nil {
		t.setEffort(effort)
		t.setModel(before)
		return "", err
	}
	if address := finder.Unanswered(ctx, found); address != "" {
		note += "; nothing listens at " + address + " yet: start that server first"
	}
	return found.String() + " answers from now on" + note, nil
}

// model returns the model that answers now.
func (t *talk) model() *models.Found {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.w.found
}

func (t *talk) setModel(found *models.Found) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.w.found = found
}

// number and price write a fact about a model, "-" for one that is not known.
func number(n int) string {
	if n == 0 {
		return "-"
	}
	return chat.Number(n)
}

func price(p float64) string {
	if p == 0 {
		return "-"
	}
	return "$" + strings.TrimSuffix(fmt.Sprintf("%.2f", p), ".00")
}
