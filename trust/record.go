package trust

import (
	"context"
	"log/slog"
	"slices"

	"github.com/agent-base/agent-base/trace"
)

// record reports a change that is about to be written. An error keeps it from being written, but for a change that only takes
// rights away.
func (s *Store) record(ctx context.Context, e trace.Event) error {
	if s.Record == nil {
		return nil
	}
	e.Time = s.now()
	err := s.Record(ctx, e)
	if e.Kind == trace.TrustRevoked || e.Kind == trace.GrantRevoked {
		return nil
	}
	return err
}

// onlyTakes reports whether a grant has nothing that it had not before.
func onlyTakes(before, after *Grant) bool {
	kept := func(old, now []string) bool {
		return !slices.ContainsFunc(now, func(item string) bool { return !slices.Contains(old, item) })
	}
	return (before.Home || !after.Home) && kept(before.Env, after.Env) && kept(before.With, after.With) && kept(before.Read, after.Read) &&
		kept(before.Write, after.Write) && kept(before.Net, after.Net) && kept(before.Suggested, after.Suggested) && kept(after.Withheld, before.Withheld)
}

func approved(a *Approval) trace.Event {
	return trace.Event{Kind: trace.TrustApproved, Skill: a.Name, Message: "Approved the content of skill '" + a.Name + "'",
		Attrs: []slog.Attr{slog.String(trace.AttrDigest, a.Digest)}}
}

func forgotten(c *Content) trace.Event {
	return trace.Event{Kind: trace.TrustRevoked, Skill: c.Name, Message: "Revoked the approval and the grant of a content of skill '" + c.Name + "'",
		Attrs: []slog.Attr{slog.String(trace.AttrDigest, c.Digest)}}
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
	if g.Home {
		list = append(list, "home")
	}
	for _, of := range []struct {
		kind  string
		items []string
	}{{"env", g.Env}, {"withheld", g.Withheld}, {"read", g.Read}, {"write", g.Write}, {"net", g.Net}, {"package", g.With}} {
		for _, item := range of.items {
			list = append(list, of.kind+"="+item)
		}
	}
	e.Attrs = []slog.Attr{slog.Any(trace.AttrGrant, list), slog.String(trace.AttrDigest, g.Digest)}
	return e
}
