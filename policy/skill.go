package policy

import (
	"slices"

	"github.com/agent-base/agent-base/internal/glob"
)

// Source decides about where a skill is installed from, as the command that installs it is given it.
func (p *Policy) Source(source string) Decision {
	return p.listed(KeySources, "skills are only installed from the sources that it lists", func(item string) bool { return glob.Match(item, source) })
}

// Signer decides about a skill by those whose signatures of it are valid.
func (p *Policy) Signer(signers ...string) Decision {
	return p.listed(KeySigners, "skills are only used if one of those that it lists signed them", func(item string) bool { return slices.Contains(signers, item) })
}

// Digest decides about a skill by the digest of its content, sha256: and 64 hexadecimal digits.
func (p *Policy) Digest(digest string) Decision {
	return p.listed(KeyDigests, "only skills with the contents that it lists are used", func(item string) bool { return item == digest })
}

// Name decides about a skill by its name in the one form that names are compared in.
func (p *Policy) Name(name string) Decision {
	listed := p.listed(KeyAllow, "only the skills that it lists are used", func(item string) bool { return glob.Match(item, name) })
	return strictest(listed, p.each(func(d *Document) Decision {
		for _, item := range d.values[KeyForbid] {
			if glob.Match(item.Text, name) {
				return d.decided(Never, item.At, "the skills that "+item.Text+" names are not used")
			}
		}
		return Decision{}
	}))
}

// Scan returns the severity from which a finding keeps a skill from being used, the lowest of all documents; "" if there is none.
func (p *Policy) Scan() string {
	levels := []string{"low", "medium", "high", "critical"}
	found := len(levels)
	for _, d := range p.documents() {
		if items, set := d.Items(KeyScan); set {
			found = min(found, slices.Index(levels, items[0].Text))
		}
	}
	return append(levels, "")[found]
}
