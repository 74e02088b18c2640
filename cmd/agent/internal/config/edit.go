package config

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Enable enables a skill in the user's file at path: it removes the name from `disabled` and `disabledBundled` and adds it
// to `enabled`. Comments, order and everything else are unchanged. It reports whether the file changed. If the file cannot
// be changed safely, Enable leaves it unchanged and returns an error that names the line to edit by hand.
func Enable(ctx context.Context, path, name string) (bool, error) {
	return change(ctx, path, name, []step{{skillsSection, "disabled", false}, {skillsSection, "disabledBundled", false}, {skillsSection, "enabled", true}})
}

// Disable disables a skill in the user's file at path. The files of the skill stay. Disable works like Enable.
func Disable(ctx context.Context, path, name string) (bool, error) {
	return change(ctx, path, name, []step{{skillsSection, "enabled", false}, {skillsSection, "disabled", true}})
}

// Permit adds a rule to permissions.allow in the user's file at path. It works like Enable.
func Permit(ctx context.Context, path, rule string) (bool, error) {
	rule = strings.TrimSpace(rule)
	if rule == "" || len(rule) > maxRule || strings.ContainsFunc(rule, unicode.IsControl) {
		return false, fmt.Errorf("invalid rule %q", rule)
	}
	return edit(ctx, path, rule, []step{{permissionsSection, "allow", true}})
}

// Unpermit removes a rule from permissions.allow in the user's file at path. It works like Enable.
func Unpermit(ctx context.Context, path, rule string) (bool, error) {
	return edit(ctx, path, strings.TrimSpace(rule), []step{{permissionsSection, "allow", false}})
}

// step adds the name to a list of the file, or removes it.
type step struct {
	in   string // the section
	list string
	add  bool
}

// change changes lists of skills' names.
func change(ctx context.Context, path, name string, steps []step) (bool, error) {
	if err := manifest.CheckName(name); path != "" && err != nil {
		return false, err
	}
	return edit(ctx, path, manifest.Canonical(name), steps)
}

func edit(ctx context.Context, path, name string, steps []step) (bool, error) {
	if path == "" {
		return false, errors.New("no home directory for settings: set AGENT_HOME")
	}
	changed := false
	err := (&lockfile.File{Path: path, Max: maxUser, Private: true}).Edit(ctx, func(old []byte) ([]byte, error) {
		text := string(old)
		for _, s := range steps {
			var err error
			if text, err = s.apply(path, text, name); err != nil {
				return nil, err
			}
		}
		changed = text != string(old)
		if !changed {
			return nil, nil
		}
		return []byte(text), nil
	})
	return changed && err == nil, err
}

// apply returns the text after the step. It parses the result, which must equal the old content with this one difference.
// So a form of YAML that the edit does not know does no harm.
func (s step) apply(path, text, name string) (string, error) {
	root, err := parse([]byte(text))
	if err != nil {
		return "", fmt.Errorf("%s:%w: fix the file first", path, err)
	}
	d := &document{text: text, root: root, step: s, name: name}
	if err := d.find(); err != nil {
		return "", fmt.Errorf("%s:%w", path, err)
	}
	if d.has() == s.add {
		return text, nil
	}
	var edited string
	if s.add {
		edited = d.insert()
	} else {
		edited = d.remove()
	}
	after, err := parse([]byte(edited))
	if err != nil || !same(d.wanted(s.add), after) {
		verb := "remove " + name + " from"
		if s.add {
			verb = "add " + name + " to"
		}
		return "", fmt.Errorf("%s:%d: the file cannot be changed safely: %s %q below \"%s:\" by hand",
			path, d.line(), verb, s.list, s.in)
	}
	return edited, nil
}

// wanted returns the tree that the edit has to produce.
func (d *document) wanted(added bool) *yamlnode.Node {
	if added {
		return d.with(append(d.items(), &yamlnode.Node{Kind: yamlnode.Scalar, Value: d.name}))
	}
	return d.with(slices.DeleteFunc(d.items(), d.isName))
}

// items returns a copy of the list.
func (d *document) items() []*yamlnode.Node {
	if d.value == nil {
		return nil
	}
	return slices.Clone(d.value.Items)
}

// with returns the tree with other items in the list.
func (d *document) with(items []*yamlnode.Node) *yamlnode.Node {
	list := &yamlnode.Node{Kind: yamlnode.Sequence, Items: items}
	section := &yamlnode.Node{Kind: yamlnode.Mapping}
	if d.section != nil {
		section.Pairs = slices.Clone(d.section.Pairs)
	}
	if i := indexOf(section, d.key); i >= 0 {
		section.Pairs[i].Value = list
	} else {
		key := &yamlnode.Node{Kind: yamlnode.Scalar, Value: d.list}
		section.Pairs = slices.Insert(section.Pairs, 0, yamlnode.Pair{Key: key, Value: list})
	}
	root := &yamlnode.Node{Kind: yamlnode.Mapping, Pairs: slices.Clone(d.root.Pairs)}
	if i := indexOf(root, d.skills); i >= 0 {
		root.Pairs[i].Value = section
	} else {
		root.Pairs = append(root.Pairs, yamlnode.Pair{Key: &yamlnode.Node{Kind: yamlnode.Scalar, Value: d.in}, Value: section})
	}
	return root
}

func indexOf(n, key *yamlnode.Node) int {
	return slices.IndexFunc(n.Pairs, func(p yamlnode.Pair) bool { return key != nil && p.Key == key })
}

// same reports whether two trees are equal apart from positions.
func same(a, b *yamlnode.Node) bool {
	return a.Kind == b.Kind && a.Value == b.Value &&
		slices.EqualFunc(a.Items, b.Items, same) &&
		slices.EqualFunc(a.Pairs, b.Pairs, func(p, q yamlnode.Pair) bool { return same(p.Key, q.Key) && same(p.Value, q.Value) })
}
