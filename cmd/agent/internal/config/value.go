package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// reader turns written values into Go ones. What was wrong with one part of a value is told to wrong; the error is for
// a value of which nothing is left.
type reader struct {
	base, home string        // of paths
	unit       time.Duration // of a bare number that is a duration
	project    string        // the project's root, when its file is read: roots stay below it
	wrong      func(n *yamlnode.Node, message, cure string)
}

// valueError is a value that cannot be used, with its cure.
type valueError struct{ message, cure string }

func (e *valueError) Error() string { return e.message }

func bad(cure, format string, args ...any) error {
	return &valueError{fmt.Sprintf(format, args...), cure}
}

// read returns the value of a key: a string, int64, bool, time.Duration, []string, []Root, []Plugin, order or
// skill.Selection.
func (r *reader) read(k *key, n *yamlnode.Node) (any, error) {
	switch k.kind {
	case names, globs, places, words:
		return r.list(k, n)
	case roots:
		return r.roots(n)
	case plugins:
		return r.plugins(n)
	case layers:
		return readOrder(n)
	case selection:
		return r.selection(n)
	}
	if n.Kind != yamlnode.Scalar {
		return nil, bad("write one value after the colon", "%s must be one value, not a %s", k.name, n.Kind)
	}
	return r.scalar(k, strings.TrimSpace(n.Value))
}

func (r *reader) scalar(k *key, text string) (any, error) {
	switch k.kind {
	case choice:
		for _, v := range k.choices() {
			if strings.EqualFold(v, strings.ReplaceAll(text, "_", "-")) {
				return v, nil
			}
		}
		return nil, bad(didYouMean(text, k.choices()), "%s cannot be %q", k.name, text)
	case number:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || n < k.min || n > k.max {
			return nil, bad(fmt.Sprintf("write a whole number from %d to %d", k.min, k.max), "%s cannot be %q", k.name, text)
		}
		return n, nil
	case boolean:
		return truth(k, text)
	case duration:
		return r.duration(k, text)
	case word:
		if text == "" || strings.ContainsFunc(text, unicode.IsSpace) {
			return nil, bad("write one word, without blanks", "%s cannot be %q", k.name, text)
		}
		return text, nil
	}
	path := absolute(text, r.base, r.home)
	if text == "" || path == "" {
		return nil, bad("write an absolute path, or one that begins with ~/", "%s cannot be %q", k.name, text)
	}
	return path, nil
}

func truth(k *key, text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return nil, bad("write true or false", "%s cannot be %q", k.name, text)
}

// duration reads 30s, or a number of the source's unit (R187: SCRIPT_TIMEOUT is seconds, scriptTimeout milliseconds).
// Seconds may have decimals; milliseconds have none: who writes 1.5 does not mean them.
func (r *reader) duration(k *key, text string) (any, error) {
	number, unit := "+0123456789", "ms"
	if r.unit == time.Second {
		number, unit = number+".", "s"
	}
	whole := text
	if strings.Trim(text, number) == "" {
		whole += unit
	}
	d, err := time.ParseDuration(whole)
	least, most := time.Duration(k.min)*time.Millisecond, time.Duration(k.max)*time.Millisecond
	if err != nil || d < least || d > most {
		return nil, bad(fmt.Sprintf("write a time from %s to %s, like 90s", least, most), "%s cannot be %q", k.name, text)
	}
	return d, nil
}

// scalars yields the single values of a list, of one value, or of one text with commas.
func (r *reader) scalars(k *key, n *yamlnode.Node) ([]*yamlnode.Node, error) {
	var out []*yamlnode.Node
	switch n.Kind {
	case yamlnode.Scalar:
		for part := range strings.SplitSeq(n.Value, ",") {
			if part = strings.TrimSpace(part); part != "" {
				out = append(out, &yamlnode.Node{Kind: yamlnode.Scalar, Value: part, Line: n.Line, Col: n.Col})
			}
		}
	case yamlnode.Sequence:
		for _, item := range n.Items {
			if item.Kind != yamlnode.Scalar || strings.TrimSpace(item.Value) == "" {
				r.wrong(item, fmt.Sprintf("an item of %s is a %s: it is left out", k.name, item.Kind), "write one text for each item")
				continue
			}
			out = append(out, item)
		}
	case yamlnode.Mapping:
		return nil, bad("write a list: [a, b]", "%s must be a list, not a map", k.name)
	}
	return out, nil
}

func (r *reader) list(k *key, n *yamlnode.Node) (any, error) {
	items, err := r.scalars(k, n)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, item := range items {
		text := strings.TrimSpace(item.Value)
		switch k.kind {
		case places:
			path := absolute(text, r.base, r.home)
			if path == "" {
				r.wrong(item, fmt.Sprintf("%q has no place here: it is left out", text), "write an absolute path")
				continue
			}
			text = path
		case names:
			if err := manifest.CheckName(text); err != nil {
				r.wrong(item, fmt.Sprintf("%q is no skill's name: it is left out", text), "use letters, digits, - and _")
				continue
			}
			text = manifest.Canonical(text)
		case globs:
			// It stays: package skill denies everything for it, since nobody knows what it was to deny.
			if err := glob.Check(text); err != nil {
				r.wrong(item, fmt.Sprintf("a glob of %s cannot be used: %v", k.name, err), `write it like "pdf-*"; until then it allows nothing, or denies everything`)
			}
		case words:
			if text = strings.ToLower(text); text == "none" {
				continue
			}
			if !slices.Contains(k.values, text) {
				r.wrong(item, fmt.Sprintf("%s cannot hold %q: it is left out", k.name, text), didYouMean(text, k.values))
				continue
			}
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// selection reads what AGENT_SKILLS holds.
func (r *reader) selection(n *yamlnode.Node) (any, error) {
	text := n.Value
	if n.Kind == yamlnode.Sequence {
		var parts []string
		for _, item := range n.Items {
			parts = append(parts, item.Value)
		}
		text = strings.Join(parts, ",")
	}
	if n.Kind == yamlnode.Mapping {
		return nil, bad("write a list of names, or all, all-untrusted or none", "enabledSkills must be a list, not a map")
	}
	s, problems := ParseSelection(text)
	for _, p := range problems {
		r.wrong(n, p.Message, p.Cure)
	}
	return s, nil
}

// preset is the value of the key precedence.
type preset struct {
	name  string // "" for a list
	order []string
}

func readOrder(n *yamlnode.Node) (any, error) {
	var known []string
	for _, p := range presets {
		if n.Kind == yamlnode.Scalar && strings.EqualFold(n.Value, p.name) {
			return preset{p.name, p.order}, nil
		}
		known = append(known, p.name)
	}
	var parts []string
	switch n.Kind {
	case yamlnode.Scalar:
		parts = strings.Split(n.Value, ",")
		if len(parts) == 1 {
			return nil, bad(didYouMean(n.Value, known)+", or a list of layers", "precedence cannot be %q", n.Value)
		}
	case yamlnode.Sequence:
		for _, item := range n.Items {
			parts = append(parts, item.Value)
		}
	default:
		return nil, bad("write default, omniforge or a list of layers", "precedence cannot be a %s", n.Kind)
	}
	for i := range parts {
		parts[i] = strings.ToLower(strings.TrimSpace(parts[i]))
		if !slices.Contains(presets[0].order, parts[i]) {
			return nil, bad(didYouMean(parts[i], presets[0].order), "precedence names no layer %q", parts[i])
		}
	}
	return preset{"", order(parts)}, nil
}
