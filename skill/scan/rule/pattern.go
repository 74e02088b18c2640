package rule

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/skill/scan"
)

// pattern is what must be so of one fact. What is empty holds for every fact.
type pattern struct {
	kinds, objects, roles []string
	name, detail          globs
	block, file           globs
	host                  []string // properties, see hostIs; with "!" before it the opposite
	maybe                 *bool
	starts, obeyed        *bool // the file is run at every login, connection or commit; agents obey it
}

// holds reports whether a fact is as the pattern says.
func (p *pattern) holds(v *view, i int) bool {
	f := &v.report.Facts[i]
	switch {
	case len(p.kinds) > 0 && !slices.Contains(p.kinds, string(f.Kind)),
		len(p.objects) > 0 && !slices.Contains(p.objects, string(f.Object)),
		len(p.roles) > 0 && !slices.Contains(p.roles, roleName(f.Role)),
		p.maybe != nil && *p.maybe != f.Maybe,
		!p.name.match(f.Name), !p.detail.match(f.Detail), !p.block.match(f.Place.Block), !p.file.match(f.Place.File):
		return false
	}
	for _, property := range p.host {
		name, not := strings.CutPrefix(property, "!")
		if hostIs(name, f) == not {
			return false
		}
	}
	return (p.starts == nil || *p.starts == starts(f.Name)) && (p.obeyed == nil || *p.obeyed == agentsObey(f.Name))
}

// roleName is the name of a role in a rule.
func roleName(r scan.Role) string {
	if r == "" {
		return "instruction"
	}
	return string(r)
}

// hostProperties are the properties of hosts that a rule may ask for.
var hostProperties = []string{"address", "local", "foreign", "registry", "http", "odd-port", "unknown"}

// hostIs reports whether the host of a fact has a property.
func hostIs(property string, f *scan.Fact) bool {
	host, err := hostname.Canonical(f.Name)
	address := err == nil && hostname.IsAddress(host)
	scheme, rest, _ := strings.Cut(strings.ToLower(f.Detail), "://")
	switch property {
	case "address": // of a machine without a name, also in an unusual spelling
		return address && !hostname.IsLocal(host) || err != nil && f.Name != "" && !strings.ContainsAny(f.Name, "{$%<*") && strings.Trim(strings.ToLower(f.Name), "0123456789.xabcdef") == "" && strings.ContainsAny(f.Name, "0123456789")
	case "local":
		return err == nil && hostname.IsLocal(host) || strings.HasPrefix(f.Name, "127.")
	case "foreign":
		return err != nil && !isASCII(f.Name) || err == nil && hostname.IsForeign(host)
	case "registry":
		return err == nil && hostname.IsRegistry(host) && !slices.Contains(hostname.Registry("GitHub"), host) // there anyone publishes anything
	case "http":
		return scheme == "http" || f.Detail != "" && !strings.Contains(f.Detail, "://") && !strings.Contains(f.Detail, "@")
	case "odd-port":
		authority, _, _ := strings.Cut(rest, "/")
		_, port, err := hostname.Split(authority)
		return err == nil && !slices.Contains([]uint16{80, 443, 8080, 8443}, port)
	}
	return f.Name == "" // unknown
}

// places are where the system looks for what to start. Package obeyed has what shells and git run.
var places = globs{any: []string{"*/.ssh/authorized_keys", "*/launchagents/*", "*/launchdaemons/*", "*/.config/autostart/*", "*/systemd/*", "/etc/cron*", "crontab", "*/cron/crontabs/*", "/etc/rc.local",
	"/etc/init.d/*", "/etc/profile*", "/etc/bash.bashrc", "/etc/ld.so.preload", "/etc/sudoers*", "*/start menu/programs/startup/*", "*/sitecustomize.py", "*/usercustomize.py", "*/site-packages/*.pth",
	"*/post-checkout", "*/post-merge", "*/post-commit", "*/pre-commit", "*/pre-push", "*/pre-rebase", "*/commit-msg", "*/prepare-commit-msg"}} // core.hooksPath

// starts reports whether a file is run without anybody who starts it.
func starts(name string) bool {
	return places.match(name) || listed(name, func(f obeyed.Found) bool { return f.Own && strings.HasPrefix(f.Does, "run") })
}

// agentsObey reports whether a file is one that agents obey.
func agentsObey(name string) bool { return listed(name, func(f obeyed.Found) bool { return f.Agents }) }

// listed reports whether a part of a path, below the home, the root or what is not known, is obeyed in a way.
func listed(name string, is func(obeyed.Found) bool) bool {
	dir := ""
	for part := range strings.SplitSeq(strings.TrimPrefix(strings.TrimLeft(strings.ReplaceAll(name, `\`, "/"), "~*/"), "./"), "/") {
		if f, ok := obeyed.In(dir, part); ok && f.Listed && is(f) {
			return true
		}
		dir = path.Join(dir, part)
	}
	return false
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 })
}

// globs are patterns of a text, in which * stands for any characters. Those with "!" before them must not match. Case does not count.
type globs struct{ any, none []string }

func (g *globs) match(text string) bool {
	if len(g.any) == 0 && len(g.none) == 0 {
		return true
	}
	text = strings.ToLower(text)
	one := func(pattern string) bool { return globMatch(pattern, text) }
	return (len(g.any) == 0 || slices.ContainsFunc(g.any, one)) && !slices.ContainsFunc(g.none, one)
}

// globMatch reports whether the whole of a text is as a pattern says, in which \* is a star. Both are in lower case.
func globMatch(pattern, text string) bool {
	if strings.Contains(pattern, `\*`) {
		const star = "\x00"
		pattern, text = strings.ReplaceAll(pattern, `\*`, star), strings.ReplaceAll(text, "*", star)
	}
	before, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == text
	}
	text, found := strings.CutPrefix(text, before)
	if !found {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(text, part)
		}
		i := strings.Index(text, part)
		if i < 0 {
			return false
		}
		text, rest = text[i+len(part):], more
	}
}
