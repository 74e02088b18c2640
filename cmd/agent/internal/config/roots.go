package config

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/yamlnode"
)

// roots reads folders of skills. An item is a path, or a map with path and mount.
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
			r.wrong(item, "root without a path: ignored", "write the folder's path, or {path: …, mount: …}")
		case r.project != "" && !within(r.project, root.Dir):
			r.wrong(item, fmt.Sprintf("root %q is outside the project: ignored", text),
				"name it in your own config.yaml or with --skills-dir")
		default:
			root.Mount = r.mount(item, root.Mount)
			out = append(out, root)
		}
	}
	return out, nil
}

// mount returns the path under which a root is mounted, or "" if the path leads out of the workspace.
func (r *reader) mount(item *yamlnode.Node, path string) string {
	if path == "" || fs.ValidPath(path) && !strings.ContainsAny(path, `\:`) {
		return path
	}
	r.wrong(item, fmt.Sprintf("mount %q is not a path inside the workspace: using the default", path), "write a path such as skills/org")
	return ""
}

// fields reads a map of texts. It reports unknown keys and values that are not texts.
func (r *reader) fields(n *yamlnode.Node, known ...string) map[string]string {
	out := map[string]string{}
	for _, pair := range n.Pairs {
		name := camel(pair.Key.Value)
		switch {
		case !slices.Contains(known, name):
			r.wrong(pair.Key, fmt.Sprintf("unknown key %q", pair.Key.Value), didYouMean(name, known))
		case pair.Value.Kind == yamlnode.Scalar:
			out[name] = strings.TrimSpace(pair.Value.Value)
		case pair.Value.Kind != yamlnode.Null:
			r.wrong(pair.Value, fmt.Sprintf("%s must be one value, not a %s", name, pair.Value.Kind), "write one value after the colon")
		}
	}
	return out
}
