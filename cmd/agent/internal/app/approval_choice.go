package app

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/trust"
)

// The words of a choice that are no names of variables and no hosts.
const (
	wordWrite = "write"      // it may write in the directory where it is started
	wordNet   = "net"        // it may reach every host
	wordHome  = "home"       // HOME is the user's own
	wordClear = "clear-home" // its private home is emptied first
)

// mostSuggested is how many hosts of the scripts' texts a question suggests. More would not be read.
const mostSuggested = 6

// choice is what a skill gets if the answer is yes. The person may change it before the answer.
type choice struct {
	declared               []string // entries of the manifest's permissions that count, see script.Declared
	env                    []string // further variables
	suggested              []string // hosts that the scripts' texts name
	read, write, net       []string // folders and hosts that the person named
	home, here, all, clear bool
}

// preselect returns what the question suggests. SKILL.md can suggest what it declares, because the person can read it. A
// host in the text of a script is suggested too: the question shows it, and scripts that use the network rarely declare it. A
// variable in such a text is not: its value is a secret of the user's. Keys of model providers and the user's home are never
// suggested. What the person chose for the former content is suggested again, and nothing that is new in the texts since.
func (p *Proposal) preselect() choice {
	c := choice{declared: slices.DeleteFunc(slices.Clone(p.declared), doubtful), here: true}
	for _, v := range p.variables {
		byEntry := script.Grant{Declared: true}
		if v.Declared && !v.Provider && !byEntry.Passes(p.manifest, v.Name) {
			c.env = append(c.env, v.Name)
		}
	}
	if p.before == nil && p.granted == nil {
		c.suggested = p.suggestions()
	}
	if p.granted != nil {
		p.again(&c)
	}
	slices.Sort(c.env)
	c.env = slices.Compact(c.env)
	return c
}

// again suggests what the person chose before.
func (p *Proposal) again(c *choice) {
	for _, name := range p.granted.Env {
		if !p.lapsed || !script.IsProviderKey(name) {
			c.env = append(c.env, name)
		}
	}
	c.home = p.granted.Home && !p.lapsed
	c.declared = without(p.declared, p.granted.Withheld...)
	c.suggested = slices.DeleteFunc(p.suggestions(), func(host string) bool { return !slices.Contains(p.granted.Suggested, host) })
	c.net = without(p.granted.Net, trust.AnyHost)
	c.all = len(c.net) < len(p.granted.Net) && !p.lapsed
	c.read, c.write = slices.Clone(p.granted.Read), without(p.granted.Write, trust.Here)
}

// suggestions are the hosts of the scripts' texts that a question may suggest: names of public services.
func (p *Proposal) suggestions() []string {
	var out []string
	for _, host := range p.contacts.Hosts {
		h, err := hostname.Parse(host)
		if err == nil && !h.Below && !hostname.IsLocal(h.Host) && !hostname.IsAddress(h.Host) && !hostname.IsForeign(h.Host) &&
			!slices.Contains(p.declared, host) && len(out) < mostSuggested {
			out = append(out, host)
		}
	}
	return out
}

// doubtful reports whether a declared entry is not suggested: a hidden folder of the home, in which programs keep secrets,
// and a host without a name.
func doubtful(entry string) bool {
	if h, err := hostname.Parse(entry); err == nil {
		return hostname.IsAddress(h.Host)
	}
	_, dir, _ := strings.Cut(entry, ":")
	return strings.HasPrefix(dir, "~/.")
}

// Give adds what flags name. With only, nothing else is given, and nothing is taken that the content had.
func (p *Proposal) Give(a *Given, only bool) {
	if p.added = only; only {
		p.choice = choice{declared: p.declared}
	}
	for _, name := range a.Env {
		if !slices.Contains(p.choice.words(), name) {
			p.choice.env = append(p.choice.env, name)
		}
	}
	c := &p.choice
	c.home = c.home || a.Home
	c.here = c.here || slices.Contains(a.Write, trust.Here)
	c.all = c.all || slices.Contains(a.Net, trust.AnyHost)
	c.read, c.write = slices.Concat(c.read, a.Read), slices.Concat(c.write, without(a.Write, trust.Here))
	c.net = slices.Concat(c.net, without(a.Net, trust.AnyHost))
}

// words are what the choice holds, as a person types it.
func (c *choice) words() []string {
	var out []string
	for _, w := range []struct {
		word string
		on   bool
	}{{wordWrite, c.here}, {wordNet, c.all}, {wordHome, c.home}, {wordClear, c.clear}} {
		if w.on {
			out = append(out, w.word)
		}
	}
	reach, variables := split(c.declared)
	out = slices.Concat(out, reach, c.suggested, c.net)
	for _, dir := range c.read {
		out = append(out, script.WordRead+dir)
	}
	for _, dir := range c.write {
		out = append(out, script.WordWrite+dir)
	}
	return slices.Concat(out, variables, c.env)
}

// split returns the hosts and folders among declared entries, and the variables. Many variables must not push a host out of
// sight.
func split(declared []string) (reach, variables []string) {
	for _, entry := range declared {
		if script.CheckGrant(strings.ReplaceAll(entry, "*", "_")) == nil && !strings.Contains(entry, ".") {
			variables = append(variables, entry)
		} else {
			reach = append(reach, entry)
		}
	}
	return reach, variables
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
	case word == wordNet:
		c.all = on
	case word == wordHome:
		c.home = on
	case word == wordClear:
		c.clear = on
	case !on:
		c.take(word)
	case slices.Contains(c.words(), word):
	case slices.Contains(p.declared, word):
		c.declared = append(slices.Clone(c.declared), word)
	default:
		return p.more(c, word)
	}
	return nil
}

// take takes a word out of a choice.
func (c *choice) take(word string) {
	for _, list := range []*[]string{&c.declared, &c.env, &c.suggested, &c.net} {
		*list = without(*list, word)
	}
	if dir, ok := strings.CutPrefix(word, script.WordRead); ok {
		c.read = without(c.read, dir)
	}
	if dir, ok := strings.CutPrefix(word, script.WordWrite); ok {
		c.write = without(c.write, dir)
	}
}

// more adds a folder, a host or a variable to a choice.
func (p *Proposal) more(c *choice, word string) error {
	if dir, ok := strings.CutPrefix(word, script.WordRead); ok {
		return p.folder(&c.read, dir)
	}
	if dir, ok := strings.CutPrefix(word, script.WordWrite); ok {
		if err := p.folder(&c.write, dir); err != nil {
			return err
		}
		return checkWrite(c.write[len(c.write)-1], p.userHome, p.own)
	}
	if strings.ContainsAny(word, ".:") || word == "localhost" {
		host, err := hostname.Parse(word)
		if err != nil {
			return fmt.Errorf("%s is not a host: %w", word, err)
		}
		c.net = append(slices.Clone(c.net), host.String())
		return nil
	}
	if err := p.known(word); err != nil {
		return err
	}
	c.env = append(slices.Clone(c.env), word)
	return nil
}

// folder adds a folder that a person typed to a list.
func (p *Proposal) folder(list *[]string, dir string) error {
	if below, ok := strings.CutPrefix(dir, "~/"); ok {
		dir = filepath.Join(p.userHome, below)
	}
	if !filepath.IsAbs(dir) {
		return fmt.Errorf("%s is not an absolute path, or one that begins with ~/", dir)
	}
	if dir = filepath.Clean(dir); p.own != "" && paths.WithinReal(p.own, dir) {
		return ownFolder(dir, p.own)
	}
	*list = append(slices.Clone(*list), dir)
	return nil
}

// known returns an error for a word that is no variable that can be granted, or one that the skill never reads.
func (p *Proposal) known(word string) error {
	if err := script.CheckGrant(word); err != nil {
		return err
	}
	names := []string{wordWrite, wordNet, wordHome, wordClear}
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
	c := &p.choice
	t := &trust.Grant{Env: c.env, Home: c.home, Read: c.read, Write: c.write, Net: c.net, Suggested: c.suggested,
		Withheld: without(p.declared, c.declared...)}
	if c.all {
		t.Net = append(slices.Clone(t.Net), trust.AnyHost)
	}
	if c.here {
		t.Write = append(slices.Clone(t.Write), trust.Here)
	}
	return t
}
