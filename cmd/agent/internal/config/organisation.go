package config

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// organisation makes values stricter as the organisation's policy says, whatever set them, and takes out of lists what is never given.
func (l *loader) organisation(g given) {
	for _, b := range l.Policy.Bounds() {
		for _, k := range keys {
			if k.name == b.Key || b.Key == "sandbox" && k.name == "bashSandbox" {
				l.bound(g, k, b)
			}
		}
	}
	for name, kind := range listed {
		l.withhold(g, name, kind)
	}
	l.closeHooks(g)
	if all, ok := g[serversSection].value.([]Server); ok {
		l.closeServers(g, all)
	}
}

// listed are the settings that give commands of bash something, and the fetching of packages hosts.
var listed = map[string]want.Kind{"bashNetwork": want.Host, "packageHosts": want.Host, "bashRead": want.Read, "bashWrite": want.Write, "bashSockets": want.Socket, "bashVariables": want.Variable}

// bound gives a key the value of a bound if its own is looser.
func (l *loader) bound(g given, k *key, b policy.Bound) {
	at := Origin{Rank: Organisation, Name: b.At.File, Line: b.At.Line, Col: b.At.Col}
	out := given{}
	l.take(out, k, plain(b.Value, at))
	strict, ok := out[k.name]
	was := g[k.name]
	if !ok || k.strictness(was) >= k.strictness(strict) {
		return
	}
	g[k.name] = strict
	if len(was.origins) > 0 && was.origins[0].Rank > FromProfile {
		l.governed(was.origins[0], fmt.Sprintf("%s is %v in place of %v: %s", k.name, strict.value, was.value, b.Why), b.Decision)
	}
}

// withhold takes out of a list what the organisation never gives.
func (l *loader) withhold(g given, name string, kind want.Kind) {
	e := g[name]
	all, _ := e.value.([]string)
	kept := slices.DeleteFunc(slices.Clone(all), func(item string) bool {
		w := want.Of(kind, item)
		if item == allHosts && kind == want.Host {
			w.Name = want.Any
		}
		d := l.Policy.Decide(w)
		if d.Layer == "" || d.Level != policy.Never {
			return false
		}
		l.governed(e.origins[0], fmt.Sprintf("%q of %s is ignored: %s", item, name, d.Why), d)
		return true
	})
	if len(kept) < len(all) {
		g[name] = entry{kept, e.origins}
	}
}

// closeServers takes from servers of tools what is never given to their programs, and from their entries that they run without a sandbox.
func (l *loader) closeServers(g given, all []Server) {
	required := l.Policy.Sandbox("off")
	out := slices.Clone(all)
	for i := range out {
		s := &out[i]
		if s.Open && required.Level == policy.Never {
			s.Open = false
			l.governed(s.Origin, fmt.Sprintf("the server %q is started in the sandbox: %s", s.Label, required.Why), required)
		}
		s.Opens, _ = s.Opens.Split(func(w want.Want) bool {
			d := l.Policy.Decide(w)
			if d.Layer == "" || d.Level != policy.Never {
				return true
			}
			l.governed(s.Origin, fmt.Sprintf("the server %q does not get %s: %s", s.Label, w, d.Why), d)
			return false
		})
	}
	g[serversSection] = entry{out, g[serversSection].origins}
}

// governed reports what the organisation changed.
func (l *loader) governed(at Origin, message string, d policy.Decision) {
	cure := "only an administrator can change the policy"
	if d.Contact != "" {
		cure = "ask " + d.Contact
	}
	l.report(at, manifest.SeverityWarning, "config-policy", message, cure)
}
