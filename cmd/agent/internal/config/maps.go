package config

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// roots reads folders of skills: paths, or maps with path and mount.
func (r *reader) roots(n *yamlnode.Node) (any, error) {
	if n.Kind == yamlnode.Mapping {
		return nil, bad("write a list of paths", "roots must be a list, not a map")
	}
	items := n.Items
	if n.Kind == yamlnode.Scalar {
		items = []*yamlnode.Node{n}
	}
	out := []Root{}
	for _, item := range items {
		root := Root{Project: r.project != ""}
		text := item.Value
		if item.Kind == yamlnode.Mapping {
			f := r.fields(item, "path", "mount")
			text, root.Mount = f["path"], strings.Trim(f["mount"], "/")
		}
		root.Dir = absolute(strings.TrimSpace(text), r.base, r.home)
		switch {
		case strings.TrimSpace(text) == "" || root.Dir == "":
			r.wrong(item, "a root without a path is left out", "write the folder's path, or {path: …, mount: …}")
		case r.project != "" && !within(r.project, root.Dir):
			r.wrong(item, fmt.Sprintf("the root %q leads out of the project: it is left out", text),
				"name it in your own config.yaml, or with --skills-dir")
		default:
			root.Mount = r.mount(item, root.Mount)
			out = append(out, root)
		}
	}
	return out, nil
}

// mount returns the path under which a root is mounted, "" for one that leads out of the workspace (R47).
func (r *reader) mount(item *yamlnode.Node, path string) string {
	if path == "" || fs.ValidPath(path) && !strings.ContainsAny(path, `\:`) {
		return path
	}
	r.wrong(item, fmt.Sprintf("the mount %q is no path inside the workspace: the default one is used", path), "write it like skills/org")
	return ""
}

// plugins reads R74's list. It is kept for those who install.
func (r *reader) plugins(n *yamlnode.Node) (any, error) {
	if n.Kind != yamlnode.Sequence && n.Kind != yamlnode.Null {
		return nil, bad("write a list of maps with url", "plugins must be a list, not a %s", n.Kind)
	}
	out := []Plugin{}
	for _, item := range n.Items {
		f := map[string]string{}
		if item.Kind == yamlnode.Mapping {
			f = r.fields(item, "url", "ref", "name", "enabled", "installedAt")
		}
		if f["url"] == "" {
			r.wrong(item, "a plugin without url is left out", "write - url: https://…")
			continue
		}
		p := Plugin{URL: f["url"], Ref: f["ref"], Name: f["name"], Enabled: true, InstalledAt: f["installedAt"]}
		if text, ok := f["enabled"]; ok {
			on, err := truth(&key{name: "enabled"}, text)
			if err != nil {
				r.wrong(item, "a plugin's enabled cannot be "+fmt.Sprintf("%q", text)+": it is off", "write true or false")
			}
			p.Enabled = on == true
		}
		out = append(out, p)
	}
	return out, nil
}

// fields reads a map of texts and reports keys that it should not have.
func (r *reader) fields(n *yamlnode.Node, known ...string) map[string]string {
	out := map[string]string{}
	for _, pair := range n.Pairs {
		name := camel(pair.Key.Value)
		ok := false
		for _, k := range known {
			ok = ok || k == name
		}
		switch {
		case !ok:
			r.wrong(pair.Key, fmt.Sprintf("unknown key %q", pair.Key.Value), didYouMean(name, known))
		case pair.Value.Kind == yamlnode.Scalar:
			out[name] = strings.TrimSpace(pair.Value.Value)
		case pair.Value.Kind != yamlnode.Null:
			r.wrong(pair.Value, fmt.Sprintf("%s must be one value, not a %s", name, pair.Value.Kind), "write one value after the colon")
		}
	}
	return out
}
