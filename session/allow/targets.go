package allow

import (
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/naming"
	"github.com/agent-base/agent-base/internal/toolrule"
)

// parsePath reads the pattern of a file, in Claude Code's form: "//" begins an absolute path, "~/" one in the home
// folder, any other is relative to the roots. A pattern that ends in "/" means everything below the folder. The result
// has no "./" and keeps the beginning.
func parsePath(text string) (string, *fault) {
	cure := "write a path such as references/**, ~/notes/** or //srv/data/**"
	if strings.HasSuffix(text, "/") {
		text += "**"
	}
	start := ""
	switch {
	case strings.HasPrefix(text, "//"):
		start, text = "/", strings.TrimLeft(text, "/")
	case strings.HasPrefix(text, "~/"):
		start, text = "~/", text[2:]
	default:
		text = strings.TrimPrefix(strings.TrimLeft(text, "/"), "./")
	}
	switch {
	case text == "":
		return "", unclear("names no path", cure)
	case slices.Contains(strings.Split(text, "/"), ".."):
		return "", unclear("leads out of its folder", cure)
	case text != path.Clean(text) || strings.ContainsAny(text, "\\\x00") || strings.HasPrefix(text, "~"):
		return "", unclear("is not a plain path", cure)
	}
	if err := glob.Check(text); err != nil {
		return "", unclear("has a pattern that cannot be used", cure)
	}
	return start + text, nil
}

// Outside returns the rule that was meant, if the rule begins with the path of a folder that machines have, such as /tmp, which in a
// rule is a folder of the workspace: "Read(//tmp/x)" for Read(/tmp/x). Otherwise it returns "".
func (r Rule) Outside() string {
	name, text, _, _ := toolrule.Cut(r.Text)
	if r.pattern == nil || r.pattern.path == "" || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") {
		return ""
	}
	switch first, _, _ := strings.Cut(text[1:], "/"); first {
	case "tmp", "private", "var", "etc", "home", "Users", "usr", "opt", "root", "mnt", "srv", "proc", "dev", "Volumes":
		return name + "(/" + text + ")"
	}
	return ""
}

// matchPath reports whether a pattern covers an absolute path. below asks whether it covers everything below it.
func (o *Options) matchPath(pattern, abs string, below bool) bool {
	roots := o.Roots
	switch {
	case strings.HasPrefix(pattern, "/"):
		roots, pattern = []string{rootOf(abs)}, pattern[1:]
	case strings.HasPrefix(pattern, "~/"):
		roots, pattern = []string{o.Home}, pattern[2:]
	}
	for _, root := range roots {
		rel, ok := inside(root, abs)
		if !ok {
			continue
		}
		if below {
			ok = glob.Match(pattern, path.Join(rel, "x")) && glob.Match(pattern, path.Join(rel, "x/.x"))
		} else {
			ok = glob.Match(pattern, rel)
		}
		if ok {
			return true
		}
	}
	return false
}

// rootOf returns the root folder of an absolute path, "/" or that of its volume.
func rootOf(abs string) string { return filepath.VolumeName(abs) + string(filepath.Separator) }

// inside returns the slash path of abs in root.
func inside(root, abs string) (string, bool) {
	if root == "" || !filepath.IsAbs(root) {
		return "", false
	}
	rel, err := filepath.Rel(root, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// absolute returns the absolute path of a path in a call.
func (o *Options) absolute(name string) (string, bool) {
	if strings.ContainsRune(name, 0) {
		return "", false
	}
	if o.Resolve != nil {
		abs, err := o.Resolve(name)
		return abs, err == nil && filepath.IsAbs(abs) && abs == filepath.Clean(abs)
	}
	if !filepath.IsAbs(name) {
		if len(o.Roots) == 0 {
			return "", false
		}
		name = filepath.Join(o.Roots[0], name)
	}
	return filepath.Clean(name), true
}

// parseHost reads domain:example.com, or domain:*.example.com for all hosts below it.
func parseHost(text string) (string, *fault) {
	host, ok := strings.CutPrefix(text, "domain:")
	host = strings.ToLower(host)
	bare := strings.TrimPrefix(host, "*.")
	if !ok || bare == "" || strings.Trim(bare, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" || !strings.ContainsAny(bare, ".:") && bare != "localhost" {
		return "", unclear("names no host", "write WebFetch(domain:example.com), or domain:*.example.com for the hosts below it")
	}
	return host, nil
}

// matchHost reports whether a URL leads to a host. Only plain http and https URLs lead anywhere.
func matchHost(pattern, text string) bool {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || strings.ContainsAny(text, "\\ \t\r\n") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if above, ok := strings.CutPrefix(pattern, "*"); ok {
		return strings.HasSuffix(host, above) && len(host) > len(above)
	}
	return host == strings.Trim(pattern, "[]")
}

// parseName reads the name of a skill or an agent. "name *" with arguments is the same.
func parseName(text string) (string, *fault) {
	name := naming.Canonical(strings.TrimSuffix(strings.TrimSuffix(text, " *"), ":*"))
	stem := strings.TrimSuffix(name, "*")
	if stem == "" || strings.ContainsAny(stem, " \t*,(){}[]") {
		return "", unclear("names nothing", "write one name: Skill(pdf), Task(reviewer)")
	}
	return name, nil
}

func matchName(pattern, name string) bool {
	name = naming.Canonical(name)
	if stem, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, stem)
	}
	return name == pattern
}
