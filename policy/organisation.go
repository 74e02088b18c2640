package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/want"
)

// Refusal is the error for what a Decision refuses.
type Refusal struct {
	What string // what was refused, as a clause: `the model "x/y" is not used`; "" if the caller says it
	Decision
}

// Error returns what was refused and why.
func (r *Refusal) Error() string {
	if r.What == "" {
		return r.Why
	}
	return r.What + ": " + r.Why
}

// Refuse returns an error if d refuses something, and what it is.
func (d Decision) Refuse(format string, args ...any) error {
	if d.Level != Never {
		return nil
	}
	return &Refusal{fmt.Sprintf(format, args...), d}
}

// decided returns the decision that a document makes at a place. why is a clause: "only hosts of network are reached".
func (d *Document) decided(level Level, at Place, why string) Decision {
	layer := fmt.Sprintf("%s, %s", Layer, at)
	return Decision{Level: level, Why: why + by(layer, d.contact), Layer: layer, At: at, Contact: d.contact}
}

// by ends a clause with who decided it and whom to ask.
func by(layer, contact string) string {
	if contact == "" {
		return " (" + layer + ")"
	}
	return " (" + layer + "; ask " + contact + ")"
}

// Err returns why a document of the organisation allows nothing, or nil.
func (p *Policy) Err() error {
	for _, d := range p.documents() {
		if err := d.Err(); err != nil {
			return err
		}
	}
	return nil
}

// documents returns the documents that say something. It may be called for nil.
func (p *Policy) documents() []*Document {
	if p == nil {
		return nil
	}
	if p.Changed != nil {
		if d := p.Changed(); d != nil {
			return []*Document{d}
		}
	}
	return p.Organisation
}

// each returns the strictest of what the documents decide. A document that cannot be used decides Never.
func (p *Policy) each(decide func(d *Document) Decision) (strictest Decision) {
	for _, d := range p.documents() {
		if d == nil {
			continue
		}
		made := Decision{}
		if err := d.Err(); err != nil {
			layer := Layer + ", " + d.file
			made = Decision{Level: Never, Why: err.Error(), Layer: layer, At: Place{File: d.file}}
		} else {
			made = decide(d)
		}
		if made.Level > strictest.Level {
			strictest = made
		}
	}
	return strictest
}

// Model decides about a model, PROVIDER/NAME. host is the host that it is asked at, if that is not the provider's own; "" if it is.
func (p *Policy) Model(name, host string) Decision {
	return p.listed(KeyModels, "only the models that it lists are used", func(item string) bool {
		pattern, at := splitModel(item)
		if pattern == "*" {
			pattern = "**"
		}
		if !glob.Match(pattern, name) || (at == "") != (host == "") {
			return false
		}
		return host == "" || want.HostOf(at).Covers(want.HostOf(host))
	})
}

// splitModel returns the parts of PROVIDER/NAME@HOST; host is "" without one.
func splitModel(text string) (name, host string) {
	if i := strings.LastIndexByte(text, '@'); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// listed decides about something that must be covered by an item of a key, if the key is set.
func (p *Policy) listed(key, why string, covers func(item string) bool) Decision {
	return p.each(func(d *Document) Decision {
		items, set := d.Items(key)
		if !set || slices.ContainsFunc(items, func(i Item) bool { return covers(i.Text) }) {
			return Decision{}
		}
		return d.decided(Never, d.At(key), why)
	})
}

// Host decides about a connection to a host: HOST, which stands for its ports 443 and 80, HOST:PORT, *.HOST or want.Any.
func (p *Policy) Host(host string) Decision {
	wanted := want.HostOf(host)
	d := p.listed(KeyNetwork, "only the hosts that it lists are reached", func(item string) bool { return want.HostOf(item).Covers(wanted) })
	return strictest(d, p.never(wanted))
}

// Network returns the hosts that may be reached at all, and whether there are only some. Of several documents the first that says it
// is returned: Host decides.
func (p *Policy) Network() (hosts []string, limited bool) {
	for _, d := range p.documents() {
		if items, set := d.Items(KeyNetwork); set {
			for _, item := range items {
				hosts = append(hosts, item.Text)
			}
			return hosts, true
		}
		if d != nil && slices.ContainsFunc(d.values[KeyNever], func(i Item) bool { kind, _, _ := strings.Cut(i.Text, ":"); return kind == string(want.Host) }) {
			limited = true
		}
	}
	return nil, limited
}

// strictest returns the stricter of two decisions, the first of equals.
func strictest(a, b Decision) Decision {
	if b.Level > a.Level {
		return b
	}
	return a
}
