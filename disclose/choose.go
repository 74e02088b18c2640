package disclose

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/disclose/internal/words"
	"github.com/agent-base/agent-base/skill"
)

// Tier says how much of the skills a text shows.
type Tier string

// The tiers, least first.
const (
	TierNothing      Tier = "nothing"      // no skill is visible
	TierBreadcrumb   Tier = "breadcrumb"   // how many there are
	TierRegistry     Tier = "registry"     // names and brief descriptions
	TierInstructions Tier = "instructions" // the full text of the skills that the query calls for
)

// ChooseOptions says how to choose. The zero value is useful.
type ChooseOptions struct {
	Recent    []string // names of recently used skills, the latest first
	MaxSkills int      // limit on skills with instructions; 0 means 3
	Budget    int      // limit on the tokens of a registry; 0 means none
	Search    string   // see Options

	// Render, if set, returns the text of each skill in place of its framed instructions. If it fails, the skill is left out.
	Render func(context.Context, skill.Entry) (Text, error)
}

// Choice is the text that a query adds to the turn.
type Choice struct {
	Tier    Tier
	Text    Text
	Matches []Match // with TierInstructions: the skills whose instructions are in Text
}

// Choose returns what a model is shown with query, for `disclosure: triggers`: the instructions of the skills that it
// triggers; the registry if it asks which skills there are; otherwise the registry of the skills without triggers and a
// breadcrumb that counts the others. If that registry exceeds the budget, it has only the skills that query is about, the
// best first, if there are any. The text depends on the query, so it belongs to the turn and not to a cached prefix.
//
// A skill that cannot be loaded is left out with a warning. The error is that of ctx.
func (x *Index) Choose(ctx context.Context, query string, o *ChooseOptions) (Choice, error) {
	if o == nil {
		o = &ChooseOptions{}
	}
	if len(x.entries) == 0 {
		return Choice{Tier: TierNothing}, nil
	}
	matches := x.Match(query, &MatchOptions{Recent: o.Recent, Max: o.MaxSkills})
	named := len(matches) > 0 && matches[0].Score >= nameScore
	if asksForSkills(query) && !named {
		return x.registry(ctx, &Options{Entries: x.entries}, o)
	}
	var warnings []string
	if len(matches) > 0 {
		c, err := x.instructions(ctx, matches, o)
		if err != nil || len(c.Matches) > 0 {
			return c, err
		}
		warnings = c.Text.Warnings
	}
	c, err := x.unasked(ctx, query, o)
	c.Text.Warnings = append(warnings, c.Text.Warnings...)
	return c, err
}

// unasked returns the choice for a query that triggers no skill.
func (x *Index) unasked(ctx context.Context, query string, o *ChooseOptions) (Choice, error) {
	var plain, others []skill.Entry
	for _, e := range x.entries {
		if e.Triggers().Empty() {
			plain = append(plain, e)
		} else {
			others = append(others, e)
		}
	}
	if len(plain) == 0 {
		text, err := Catalog(ctx, x.catalog, &Options{Style: Breadcrumb, Entries: others})
		return Choice{Tier: TierBreadcrumb, Text: text}, err
	}
	c, err := x.registry(ctx, &Options{Entries: plain}, o)
	if err == nil && incomplete(c.Text) {
		hits := x.about(query, mostOffered, func(e skill.Entry) bool { return e.Triggers().Empty() })
		if len(hits) > 0 {
			c, err = x.registry(ctx, &Options{Entries: hits, Ranked: true, More: len(plain) - len(hits)}, o)
		}
	}
	if err != nil || len(others) == 0 {
		return c, err
	}
	crumb, err := Catalog(ctx, x.catalog, &Options{Style: Breadcrumb, Entries: others})
	c.Text.Body += "\n\n" + crumb.Body
	c.Text.Tokens = Tokens(c.Text.Body)
	return c, err
}

// mostOffered is how many skills a list has that was made for a query.
const mostOffered = 10

// incomplete reports whether a list lacks skills, or descriptions of skills.
func incomplete(t Text) bool {
	return slices.ContainsFunc(t.Cut, func(c Cut) bool { return c.What == LeftOut || c.What == NameOnly })
}

func (x *Index) registry(ctx context.Context, list *Options, o *ChooseOptions) (Choice, error) {
	list.Style, list.Budget, list.Search, list.Recent = Registry, o.Budget, o.Search, o.Recent
	text, err := Catalog(ctx, x.catalog, list)
	return Choice{Tier: TierRegistry, Text: text}, err
}

// instructions renders the skills of matches, one after the other.
func (x *Index) instructions(ctx context.Context, matches []Match, o *ChooseOptions) (Choice, error) {
	c := Choice{Tier: TierInstructions}
	render := o.Render
	if render == nil {
		render = o.load
	}
	var bodies []string
	for _, m := range matches {
		text, err := render(ctx, m.Entry)
		if ctx.Err() != nil {
			return Choice{}, ctx.Err()
		}
		if err != nil {
			c.Text.Warnings = append(c.Text.Warnings, fmt.Sprintf("skill %q is left out: %v", m.Entry.Name(), err))
			continue
		}
		bodies = append(bodies, text.Body)
		c.Matches = append(c.Matches, m)
		c.Text.Skills = append(c.Text.Skills, text.Skills...)
		c.Text.Warnings = append(c.Text.Warnings, text.Warnings...)
	}
	c.Text.Body = strings.Join(bodies, "\n\n")
	c.Text.Tokens = Tokens(c.Text.Body)
	return c, nil
}

// load renders the instructions of a skill.
func (o *ChooseOptions) load(ctx context.Context, e skill.Entry) (Text, error) {
	s, err := e.Load(ctx)
	if err != nil {
		return Text{}, err
	}
	defer s.Close()
	return Instructions(ctx, s, &InstructionOptions{Wrap: true})
}

// longestAsk is the most words of a question about the skills themselves. In a longer one the same words are about
// something else.
const longestAsk = 9

// asksForSkills reports whether query asks which skills there are: "what can you do?", "list
// skills", "show me your capabilities".
func asksForSkills(query string) bool {
	var w words.Folded
	w.Fold(words.Capped(query))
	if w.Len() == 0 || w.Len() > longestAsk {
		return false
	}
	list := make([]string, w.Len())
	for i := range list {
		list[i] = string(w.Span(i, i+1))
	}
	has := func(any ...string) int {
		return slices.IndexFunc(list, func(s string) bool { return slices.Contains(any, s) })
	}
	what, can, you, do := has("what"), has("can", "could"), has("you", "u"), has("do")
	if what >= 0 && what < min(can, you) && max(can, you) < do && aboutYou(list[do+1:]) {
		return true
	}
	ask, things := has("what", "which", "list", "show", "tell"), has("skills", "capabilities", "abilities")
	return ask >= 0 && things > ask
}

// aboutYou reports whether the words after "what can you do" do not change the question.
func aboutYou(rest []string) bool {
	return !slices.ContainsFunc(rest, func(s string) bool {
		return !slices.Contains([]string{"for", "me", "us", "here", "now", "today", "exactly", "please", "then"}, s)
	})
}
