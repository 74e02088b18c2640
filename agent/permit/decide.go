package permit

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/agent-base/agent-base/session/allow"
)

// Decide returns what happens to a call.
func (p *Policy) Decide(c *Call) Decision {
	if r, ok := p.deny.names(c); ok {
		return Decision{Verdict: Denied, Rule: r, Reason: fmt.Sprintf("the rule %s denies it%s", r.Text, r.By)}
	}
	if p.o.Mode == ReadOnly && c.changes() {
		return Decision{Verdict: Denied, Reason: "the mode is read-only"}
	}
	if p.o.Mode == Plan && c.changes() && (c.Kind != Command || !c.Confined || c.Writes) {
		return Decision{Verdict: Denied, Reason: "the mode is plan: nothing is changed before the user approves a plan"}
	}
	if r, ok := p.ask.names(c); ok {
		return Decision{Verdict: Asked, Rule: r, Reason: fmt.Sprintf("the rule %s asks%s", r.Text, r.By)}
	}
	if p.Doubt() {
		return Decision{Verdict: Asked, Doubt: true, Reason: "every call is asked about, since a rule cannot be read: " + p.o.Doubt}
	}
	if p.o.Mode == All && c.Kind != Fetch && (c.Kind != Command || c.Special == "" && (c.Confined || p.o.Unconfined)) {
		return Decision{Verdict: Allowed, Reason: "the mode is all"}
	}
	r, form, ok := p.allows(c)
	if ok && !(p.o.Mode == Plan && c.Kind == Command) { // a command that a rule allows may change files
		return Decision{Verdict: Allowed, Rule: r, Reason: fmt.Sprintf("the rule %s allows it", r.Text)}
	}
	d := p.byKind(c)
	if d.Verdict == Asked && form != "" {
		d.Reason += ", and no rule covers it as it is written: " + form
	}
	return d
}

// changes reports whether a call may change something.
func (c *Call) changes() bool {
	switch c.Kind {
	case Edit, Command, Script:
		return true
	case Server:
		return !c.Reads
	}
	return false
}

// byKind decides about a call that no rule names.
func (p *Policy) byKind(c *Call) Decision {
	switch {
	case c.Kind == Command && c.Special != "":
		return Decision{Verdict: Asked, Reason: c.Special}
	case c.Kind == Command && c.Confined && p.o.Mode == AcceptEdits:
		return Decision{Verdict: Allowed, Reason: "it stays inside the sandbox"}
	case c.Kind == Command && c.Confined && c.Writes:
		return Decision{Verdict: Asked, Reason: "it changes files"}
	case c.Kind == Command && c.Confined:
		return Decision{Verdict: Allowed, Reason: "it stays inside the sandbox and changes no file of yours", ReadOnly: true}
	case c.Kind == Command:
		return Decision{Verdict: Asked, Reason: "it runs outside a sandbox"}
	case c.Kind == Edit && c.Special != "":
		return Decision{Verdict: Asked, Reason: c.Special}
	case c.Kind == Edit && p.o.Mode == AcceptEdits:
		return Decision{Verdict: Allowed, Reason: "the mode is accept-edits"}
	case c.Kind == Edit:
		return Decision{Verdict: Asked, Reason: "it changes a file"}
	case c.Kind == Fetch:
		return Decision{Verdict: Asked, Reason: "it asks a host, which sees what it asks"}
	case c.Kind == Server && !c.Reads:
		return Decision{Verdict: Asked, Reason: "it does something at an MCP server, outside any sandbox of the agent"}
	}
	return Decision{Verdict: Allowed, Reason: "it changes nothing"}
}

// allows returns the rule that allows a call. Of a command with several parts it is the rule for one of them. A special
// file needs a rule without a wildcard. form says why a command in another form might be allowed.
func (p *Policy) allows(c *Call) (r Rule, form string, ok bool) {
	l := p.allow
	switch {
	case c.Special != "":
		l = p.exact
	case c.Kind == Command && !c.Confined:
		l = p.free
	}
	if len(l.rules) == 0 {
		return Rule{}, "", false
	}
	for _, q := range c.calls() {
		refusal := l.parsed.Check(q)
		if refusal == nil {
			r, _ := l.named(q)
			return r, "", true
		}
		if _, near := l.named(q); near && refusal.Form {
			form = refusal.Why
		}
	}
	return Rule{}, form, false
}

// names returns the rule that names a call or a part of it.
func (l *list) names(c *Call) (Rule, bool) {
	if len(l.rules) == 0 {
		return Rule{}, false
	}
	for _, q := range c.calls() {
		if r, ok := l.named(q); ok {
			return r, true
		}
	}
	return Rule{}, false
}

// named returns the rule that names q, with its origin.
func (l *list) named(q allow.Call) (Rule, bool) {
	found, ok := l.parsed.Names(q)
	if !ok {
		return Rule{}, false
	}
	for _, r := range l.rules {
		if strings.TrimSpace(r.Text) == found.Text {
			return r, true
		}
	}
	return Rule{Text: found.Text}, true
}

// calls returns a call in the forms that rules name. Rules about Edit and Write both mean every change of a file, and
// rules about Read every reading.
func (c *Call) calls() []allow.Call {
	switch c.Kind {
	case Command:
		return []allow.Call{{Tool: "bash", Args: object("command", c.Command)}}
	case Edit:
		args := object("file_path", c.Path)
		return []allow.Call{{Tool: "edit_file", Args: args}, {Tool: "write_file", Args: args}}
	case Read:
		return []allow.Call{{Tool: "read_file", Args: object("file_path", c.Path)}}
	case Fetch:
		return []allow.Call{{Tool: "web_fetch", Args: object("url", c.URL)}}
	}
	return []allow.Call{{Tool: c.Tool, Args: c.Args, Source: c.Source}}
}

// object returns {key: value}.
func object(key, value string) json.RawMessage {
	raw, err := json.Marshal(map[string]string{key: value})
	if err != nil { // a map of strings always has a form
		return json.RawMessage("{}")
	}
	return raw
}

// Host returns what happens if a command wants to reach a host: HOST, which covers its ports 443 and 80, or HOST:PORT. Only rules that name
// hosts count, as WebFetch(domain:example.com): those that deny for every port, those that allow for 443 and 80.
func (p *Policy) Host(host string) Decision {
	d := p.Page("https://" + host + "/")
	if d.Verdict != Asked && !strings.Contains(d.Rule.Text, "(") {
		return Decision{Verdict: Asked, Reason: "no rule names the host"}
	}
	return d
}

// Page returns what happens if a model wants to get the page at a URL whose host is in its one form. All rules about web_fetch count. A
// rule that allows a host is about its ports 443 and 80, one that denies it about each.
func (p *Policy) Page(address string) Decision {
	d := p.Decide(&Call{Tool: "web_fetch", Kind: Fetch, URL: address})
	if d.Verdict == Allowed && strings.Contains(d.Rule.Text, "(") && hasPort(address) {
		return Decision{Verdict: Asked, Reason: "no rule names the port"}
	}
	return d
}

// hasPort reports whether a URL names a port that is not that of the web.
func hasPort(address string) bool {
	u, err := url.Parse(address)
	return err != nil || u.Port() != "" && u.Port() != "443" && u.Port() != "80"
}

// HostRule returns the rule that allows a host.
func HostRule(host string) string { return "WebFetch(domain:" + host + ")" }

// exact reports whether a rule has a pattern without a wildcard.
func exact(rule string) bool {
	return strings.Contains(rule, "(") && !strings.ContainsAny(rule, "*?[{")
}
