package consent

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// mostSuggested is how many hosts of the scripts' texts a question suggests. More would not be read.
const mostSuggested = 6

// choice is what a skill gets if the answer is yes. The person may change it before the answer.
type choice struct {
	gets  want.Set // what its manifest declares, hosts that the scripts' texts name, and what the person named
	clear bool
}

// preselect returns what the question suggests. SKILL.md can suggest what it declares, because the person can read it. A
// host in the text of a script is suggested too: the question shows it, and scripts that use the network rarely declare it. A
// variable in such a text is not: its value is a secret of the user's. Keys of model providers and the user's home are never
// suggested. What the person chose for the former content is suggested again, and nothing that is new in the texts since.
func (p *Proposal) preselect() choice {
	_, gets := p.declared.Split(p.doubtful)
	gets = gets.Add(grants.WritesHere())
	byEntry := script.Grant{Declared: true}
	for _, v := range p.variables {
		if v.Declared && !v.Provider && !byEntry.Passes(p.manifest, v.Name) {
			gets = gets.Add(grants.User(want.VariableOf(v.Name)))
		}
	}
	if p.before == nil && p.granted == nil {
		gets = gets.Add(p.suggestions()...)
	}
	if p.granted != nil {
		_, named := gets.Split(func(w want.Want) bool { return w.From == want.Declared })
		gets = named.Add(p.again()...)
	}
	return choice{gets: gets}
}

// again returns what the person chose before, but for want.Here. A grant that has lapsed has no part that opens much.
func (p *Proposal) again() want.Set {
	named, seen := p.granted.Given.Split(func(w want.Want) bool { return w.From != want.Seen })
	_, named = named.Split(func(w want.Want) bool {
		opens := w.Kind == want.Home || w.Kind == want.Unasked || w == grants.EveryHost() || w.Kind == want.Variable && script.IsProviderKey(w.Name)
		return w.Kind == want.Package || w == grants.WritesHere() || opens && p.lapsed
	})
	still, _ := p.suggestions().Split(seen.Has)
	return p.declared.Without(p.granted.Withheld...).Add(still...).Add(named...)
}

// suggestions are the hosts of the scripts' texts that a question may suggest: names of public services.
func (p *Proposal) suggestions() want.Set {
	var out want.Set
	for _, host := range p.seen.Wants().Hosts() {
		h, err := hostname.Parse(host)
		if err == nil && !h.Below && !hostname.IsLocal(h.Host) && !hostname.IsAddress(h.Host) && !hostname.IsForeign(h.Host) &&
			!p.declared.Has(want.HostOf(host)) && len(out) < mostSuggested {
			out = append(out, want.Want{Kind: want.Host, Name: host, From: want.Seen})
		}
	}
	return out
}

// doubtful reports whether something declared is not suggested: what only a question gives, and a host without a name.
func (p *Proposal) doubtful(w want.Want) bool {
	switch w.Kind {
	case want.Variable: // script.Declared left out those that cannot be given
		return false
	case want.Host:
		h, err := hostname.Parse(w.Name)
		return err != nil || hostname.IsAddress(h.Host)
	}
	return p.policy.Decide(w).Level != policy.Free || strings.HasPrefix(w.Name, "~/.")
}

// Give adds what flags name. With only, nothing else is given, and nothing is taken that the content had. What the person withheld
// stays withheld, from a former content too.
func (p *Proposal) Give(given want.Set, only bool) {
	if p.added = only; only {
		p.choice = choice{gets: p.declared}
		if p.granted != nil {
			p.choice.gets = p.declared.Without(p.granted.Withheld...)
		}
	}
	for _, w := range given {
		if w.Kind != want.Variable || !p.choice.gets.Has(w) {
			p.choice.gets = p.choice.gets.Add(w)
		}
	}
}

// words are what the choice holds, as a person types it. Variables stand last: many of them must not push a host out of sight.
func (c *choice) words() []string {
	var out []string
	own := want.Set{}
	for _, w := range grants.OwnWords() {
		if own = append(own, w.Want); c.gets.Has(w.Want) {
			out = append(out, w.Word)
		}
	}
	if c.clear {
		out = append(out, grants.WordClear)
	}
	variables, others := c.gets.Without(own...).Split(func(w want.Want) bool { return w.Kind == want.Variable })
	for _, w := range slices.Concat(others, variables) {
		if word := grants.WordOf(w); !slices.Contains(out, word) {
			out = append(out, word)
		}
	}
	return out
}

// choose changes the choice by the words of a line: a word is added, or taken out if "-" stands before it. "-" alone takes out
// everything. After an error the choice is unchanged.
func (p *Proposal) choose(line string) error {
	c := p.choice
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		if word == "-" {
			c = choice{}
			continue
		}
		name, out := strings.CutPrefix(word, "-")
		switch w := grants.ReadWord(name); {
		case name == grants.WordClear:
			c.clear = !out
		case out && !c.gets.Has(w):
			return fmt.Errorf("it does not get %s", name)
		case out:
			c.gets = c.gets.Without(w)
		default:
			more, err := p.more(w)
			if err != nil {
				return err
			}
			c.gets = c.gets.Without(more).Add(more)
		}
	}
	p.choice = c
	return nil
}

// more returns what a word adds to a choice: what the manifest declares, or something that the person named.
func (p *Proposal) more(w want.Want) (want.Want, error) {
	if i := slices.IndexFunc(p.declared, func(d want.Want) bool { return d.Kind == w.Kind && d.Name == w.Name }); i >= 0 {
		return p.declared[i], nil
	}
	switch {
	case w.Kind.Files():
		return p.folder(w)
	case w.Kind == want.Host:
		if w.Name == want.Any {
			return w, nil
		}
		host, err := hostname.Parse(w.Name)
		if err != nil {
			return w, fmt.Errorf("%s is not a host: %w", w.Name, err)
		}
		return grants.User(want.HostOf(host.String())), nil
	case w.Kind == want.Variable:
		return w, p.known(w.Name)
	}
	if d := p.policy.Decide(w); d.Level == policy.Never {
		return w, setup.Never(w, d)
	}
	return w, w.Check()
}

// folder returns a folder that a person typed, as a path of this machine.
func (p *Proposal) folder(w want.Want) (want.Want, error) {
	if w.Name == want.Here {
		return w, nil
	}
	if below, ok := strings.CutPrefix(w.Name, "~/"); ok {
		w.Name = filepath.Join(p.policy.Home, below)
	}
	if !filepath.IsAbs(w.Name) {
		return w, fmt.Errorf("%s is not an absolute path, or one that begins with ~/", w.Name)
	}
	w.Name = filepath.Clean(w.Name)
	if d := p.policy.Decide(w); d.Level == policy.Never {
		return w, setup.Never(w, d)
	}
	return w, nil
}

// known returns an error for a word that is no variable that can be granted, or one that the skill never reads.
func (p *Proposal) known(word string) error {
	if err := script.CheckGrant(word); err != nil {
		return err
	}
	names := []string{grants.WordClear}
	for _, own := range grants.OwnWords() {
		names = append(names, own.Word)
	}
	for _, v := range p.variables {
		names = append(names, v.Name)
	}
	if p.set(word) || slices.Contains(names, word) {
		return nil
	}
	if meant := near.Name(word, names); meant != "" {
		return fmt.Errorf("%s is not set, and nothing reads it: did you mean %s?", word, meant)
	}
	return errors.New(word + " is not set, and nothing reads it")
}

// given returns what the choice grants.
func (p *Proposal) given() *trust.Grant {
	declared, named := p.choice.gets.Split(func(w want.Want) bool { return w.From == want.Declared })
	return &trust.Grant{Given: named, Withheld: p.declared.Without(declared...)}
}
