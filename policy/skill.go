package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/naming"
)

// Skill is a skill as the keys about skills see it.
type Skill struct {
	Name string // in the one form that names are compared in

	// Source is where the skill comes from, as install/source writes it: https://github.com/acme/skills, oci://host/name, mcp:LABEL/NAME,
	// or the absolute path of its folder. It is "" for a skill that comes with the program, of which the name alone counts.
	Source string

	// Digest returns the digest of its content. Signed reports whether a certificate of a PEM file vouches for its signature. They are
	// called only if a document asks. An error refuses the skill.
	Digest func() (string, error)
	Signed func(certificates []byte) (bool, error)

	// Scanned scans its content and returns what of severity level or worse is in it, or was not read; "" for nothing.
	Scanned func(level string) (string, error)
}

// AsksAboutSkills reports whether Skill may refuse something: without that, nobody need ask it.
func (p *Policy) AsksAboutSkills() bool {
	return slices.ContainsFunc(p.documents(), func(d *Document) bool {
		if d.Err() != nil {
			return true
		}
		return slices.ContainsFunc([]string{KeySources, KeySigners, KeyAllow, KeyForbid, KeyDigests, KeyScan}, func(key string) bool {
			_, set := d.Items(key)
			return set
		})
	})
}

// Skill decides about a skill.
func (p *Policy) Skill(s *Skill) Decision {
	d := p.name(s.Name)
	if s.Source == "" || d.Level == Never {
		return d
	}
	for _, decide := range []func() Decision{
		func() Decision { return p.Source(s.Source) },
		func() Decision { return p.digest(s) },
		func() Decision { return p.signed(s) },
		func() Decision { return p.scanned(s) },
	} {
		if d := decide(); d.Level == Never {
			return d
		}
	}
	return Decision{}
}

// Source decides about where skills come from: see Skill.Source.
func (p *Policy) Source(source string) Decision {
	return p.listed(KeySources, "only skills from the sources that it lists are used", func(item string) bool {
		return glob.Match(plainSource(item), plainSource(source))
	})
}

// plainSource returns a source without what may end the address of a repository.
func plainSource(text string) string {
	return strings.TrimSuffix(strings.TrimSuffix(text, "/"), ".git")
}

// name decides about a skill by its name.
func (p *Policy) name(name string) Decision {
	names := []string{name}
	if _, plain, ok := strings.Cut(name, ":"); ok { // SERVER:NAME, of a skill whose name another one has, too
		names = append(names, plain)
	}
	matches := func(item string) bool {
		pattern := naming.Canonical(item)
		return slices.ContainsFunc(names, func(name string) bool { return glob.Match(pattern, name) })
	}
	listed := p.listed(KeyAllow, "only the skills that it lists are used", matches)
	return strictest(listed, p.each(func(d *Document) Decision {
		for _, item := range d.values[KeyForbid] {
			if matches(item.Text) {
				return d.decided(Never, item.At, "the skills that "+item.Text+" names are not used")
			}
		}
		return Decision{}
	}))
}

// digest decides about a skill by its content.
func (p *Policy) digest(s *Skill) Decision {
	return p.each(func(d *Document) Decision {
		items, set := d.Items(KeyDigests)
		if !set {
			return Decision{}
		}
		digest, err := s.Digest()
		switch {
		case err != nil:
			return d.decided(Never, d.At(KeyDigests), fmt.Sprintf("only skills with the contents that it lists are used, and this one's cannot be read: %v", err))
		case !slices.ContainsFunc(items, func(i Item) bool { return i.Text == digest }):
			return d.decided(Never, d.At(KeyDigests), "only skills with the contents that it lists are used, and this one has "+digest)
		}
		return Decision{}
	})
}

// signed decides about a skill by who signed it.
func (p *Policy) signed(s *Skill) Decision {
	return p.each(func(d *Document) Decision {
		items, set := d.Items(KeySigners)
		if !set {
			return Decision{}
		}
		why := "only skills that one of those that it lists signed are used"
		for _, item := range items {
			certificates, err := readFile(item.Text)
			var ok bool
			if err == nil {
				ok, err = s.Signed(certificates)
			}
			if ok && err == nil {
				return Decision{}
			}
			if err != nil {
				why += fmt.Sprintf("; %s: %v", item.Text, err)
			}
		}
		return d.decided(Never, d.At(KeySigners), why)
	})
}

// scanned decides about a skill by what a scan finds in it.
func (p *Policy) scanned(s *Skill) Decision {
	return p.each(func(d *Document) Decision {
		level, set := d.Items(KeyScan)
		if !set {
			return Decision{}
		}
		if reviewed, _ := d.Items(KeyReviewed); len(reviewed) > 0 {
			digest, err := s.Digest()
			if err == nil && slices.ContainsFunc(reviewed, func(i Item) bool { return i.Text == digest }) {
				return Decision{}
			}
		}
		why, err := s.Scanned(level[0].Text)
		if err != nil {
			why = fmt.Sprintf("this one cannot be scanned: %v", err)
		}
		if why == "" {
			return Decision{}
		}
		return d.decided(Never, d.At(KeyScan), "only skills in which a scan finds nothing of severity "+level[0].Text+" or worse are used: "+why)
	})
}
