package app

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/trust"
)

// The words of a choice that are no names of variables.
const (
	wordWrite = "write"      // it may write in the directory where it is started
	wordHome  = "home"       // HOME is the user's own
	wordClear = "clear-home" // its private home is emptied first
)

// choice is what a skill gets if the answer is yes. The person may change it before the answer.
type choice struct {
	declared          []string // entries of permissions.env that pass
	env               []string // further variables
	home, here, clear bool
	more              Given // from flags: what has no word
}

// preselect returns what the question suggests. SKILL.md can suggest variables, because the person can read what it declares;
// the text of a script cannot, because nobody reads it and every name in it may be a trap. Keys of model providers and the
// user's home are never suggested. What the person chose for the former content is suggested again.
func (p *Proposal) preselect() choice {
	c := choice{declared: slices.Clone(p.declared), here: true}
	for _, v := range p.variables {
		byEntry := script.Grant{Declared: true}
		if v.Declared && !v.Provider && !byEntry.Passes(p.manifest, v.Name) {
			c.env = append(c.env, v.Name)
		}
	}
	if p.granted != nil {
		for _, name := range p.granted.Env {
			if !p.lapsed || !script.IsProviderKey(name) {
				c.env = append(c.env, name)
			}
		}
		c.home = p.granted.Home && !p.lapsed
		c.declared = slices.DeleteFunc(c.declared, func(entry string) bool { return slices.Contains(p.granted.Withheld, entry) })
	}
	slices.Sort(c.env)
	c.env = slices.Compact(c.env)
	return c
}

// Give adds what flags name. With only, nothing else is given, and nothing is taken that the content had.
func (p *Proposal) Give(a *Given, only bool) {
	if p.added = only; only {
		p.choice = choice{declared: p.declared, env: a.Env}
	}
	for _, name := range a.Env {
		if !slices.Contains(p.choice.words(), name) {
			p.choice.env = append(p.choice.env, name)
		}
	}
	p.choice.home = p.choice.home || a.Home
	p.choice.more = Given{Read: a.Read, Write: a.Write, Net: a.Net}
}

// words are what the choice holds, as a person types it.
func (c *choice) words() []string {
	var out []string
	for _, w := range []struct {
		word string
		on   bool
	}{{wordWrite, c.here}, {wordHome, c.home}, {wordClear, c.clear}} {
		if w.on {
			out = append(out, w.word)
		}
	}
	return slices.Concat(out, c.declared, c.env)
}

// choose changes the choice by the words of a line: a word is added, or taken out if "-" stands before it. "-" alone takes out
// everything. After an error the choice is unchanged.
func (p *Proposal) choose(line string) error {
	c := p.choice
	for _, word := range strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' }) {
		if word == "-" {
			c = choice{more: c.more}
			continue
		}
		name, out := strings.CutPrefix(word, "-")
		if out && !slices.Contains(c.words(), name) {
			return fmt.Errorf("it does not get %s", name)
		}
		if err := p.turn(&c, name, !out); err != nil {
			return err
		}
	}
	p.choice = c
	return nil
}

// turn adds a word to a choice, or takes it out.
func (p *Proposal) turn(c *choice, word string, on bool) error {
	switch {
	case word == wordWrite:
		c.here = on
	case word == wordHome:
		c.home = on
	case word == wordClear:
		c.clear = on
	case !on:
		c.declared, c.env = without(c.declared, word), without(c.env, word)
	case slices.Contains(c.words(), word):
	case slices.Contains(p.declared, word):
		c.declared = append(slices.Clone(c.declared), word)
	default:
		if err := p.known(word); err != nil {
			return err
		}
		c.env = append(slices.Clone(c.env), word)
	}
	return nil
}

// known returns an error for a word that is no variable that can be granted, or one that the skill never reads.
func (p *Proposal) known(word string) error {
	if err := script.CheckGrant(word); err != nil {
		return err
	}
	names := []string{wordWrite, wordHome, wordClear}
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
func (c *choice) given(declared []string) *trust.Grant {
	t := &trust.Grant{Env: c.env, Home: c.home, Read: c.more.Read, Write: c.more.Write, Net: c.more.Net}
	if c.here {
		t.Write = append(slices.Clone(t.Write), trust.Here)
	}
	for _, entry := range declared {
		if !slices.Contains(c.declared, entry) {
			t.Withheld = append(t.Withheld, entry)
		}
	}
	return t
}
