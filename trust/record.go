package trust

import (
	"log/slog"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// onlyTakes reports whether a grant has nothing that it had not before.
func onlyTakes(before, after *Grant) bool {
	seen := func(w want.Want) bool { return w.From == want.Seen }
	_, named := before.Given.Split(seen)
	_, stays := after.Given.Split(seen) // a host that the user names opens more than one that a question suggested
	return len(stays.Minus(named)) == 0 && len(after.Given.Minus(before.Given)) == 0 && len(before.Withheld.Minus(after.Withheld)) == 0
}

func approved(a *Approval) trace.Event {
	return trace.Event{Kind: trace.TrustApproved, Skill: a.Name, Message: "Approved the content of skill '" + a.Name + "'",
		Attrs: trace.ContentAttrs(a.Layer, a.Digest)}
}

func forgotten(c skill.ID) trace.Event {
	return trace.Event{Kind: trace.TrustRevoked, Skill: c.Name, Message: "Revoked the approval and the grant of a content of skill '" + c.Name + "'",
		Attrs: trace.ContentAttrs(c.Layer, c.Digest)}
}

func ofRoot(kind trace.Kind, dir, message string) trace.Event {
	return trace.Event{Kind: kind, Message: message, Attrs: []slog.Attr{slog.String(trace.AttrPath, dir)}}
}

// granted returns the event for what a skill has after a change.
func granted(g *Grant) trace.Event {
	e := trace.Event{Kind: trace.GrantChanged, Skill: g.Name, Message: "Changed the grants of skill '" + g.Name + "'"}
	if g.Empty() {
		e.Kind, e.Message = trace.GrantRevoked, "Revoked the grants of skill '"+g.Name+"'"
	}
	list := []string{}
	for _, w := range g.Given {
		if w.From == want.User {
			w.From = ""
		}
		list = append(list, w.String())
	}
	for _, w := range g.Withheld {
		list = append(list, "withheld "+want.Of(w.Kind, w.Name).String())
	}
	e.Attrs = append(trace.ContentAttrs(g.Layer, g.Digest), slog.Any(trace.AttrGrant, list))
	return e
}
