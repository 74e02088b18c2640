package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/variable"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

// reader reads the values of settings. It reports a problem with a part of a value by calling wrong, and returns an error
// if the whole value is unusable.
type reader struct {
	base, home string        // for paths
	unit       time.Duration // of a duration that is a bare number
	project    string        // the project's root if its file is being read; roots must lie below it
	wrong      func(n *yamlnode.Node, message, cure string)
	at         Origin
	lost       bool // an item of the value could not be read
}

// valueError describes an unusable value and its cure.
type valueError struct{ message, cure string }

func (e *valueError) Error() string { return e.message }

func bad(cure, format string, args ...any) error {
	return &valueError{fmt.Sprintf(format, args...), cure}
}

// read returns the value of a key: a string, int64, bool, time.Duration, []string, []Root, preset or skill.Selection.
func (r *reader) read(k *key, n *yamlnode.Node) (any, error) {
	switch k.kind {
	case names, globs, places, words, hosts, variables, texts:
		return r.list(k, n)
	case rules:
		return r.rules(k, n)
	case table:
		return r.table(k, n)
	case hooks:
		return r.hooks(n), nil
	case roots:
		return r.roots(n)
	case plugins:
		return r.plugins(n)
	case layers:
		return readOrder(n, r.project != "")
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
		return nil, bad(didYouMean(text, k.choices()), "invalid %s %q", k.name, text)
	case number:
		n, err := strconv.ParseInt(text, 10, 64)
		if err != nil || (n < k.min || n > k.max) && !(k.zero && n == 0) {
			return nil, bad(fmt.Sprintf("write a whole number from %d to %d%s", k.min, k.max, k.orZero()), "invalid %s %q", k.name, text)
		}
		return n, nil
	case boolean:
		return truth(k, text)
	case duration:
		return r.duration(k, text)
	case tenant:
		if !tenantName(text) {
			return nil, bad("write up to 64 lower-case letters, digits, -, _ and ., with a letter or digit at both ends", "invalid %s %q", k.name, text)
		}
		return text, nil
	case word:
		if text == "" || strings.ContainsFunc(text, unicode.IsSpace) {
			return nil, bad("write one word without spaces", "invalid %s %q", k.name, text)
		}
		return text, nil
	}
	path := absolute(text, r.base, r.home)
	if text == "" || path == "" {
		return nil, bad("write an absolute path, or one that begins with ~/", "invalid %s %q", k.name, text)
	}
	return path, nil
}

// orZero ends a sentence about a number that may also be 0.
func (k *key) orZero() string {
	if k.zero {
		return ", or 0"
	}
	return ""
}

// maxTenant is the length of the longest name of a tenant.
const maxTenant = 64

// tenantName reports whether a text names a tenant. Two names never mean one folder, on any file system: there are no capital
// letters and no characters beyond ASCII.
func tenantName(text string) bool {
	alphanumeric := func(c byte) bool { return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' }
	if text == "" || len(text) > maxTenant || !alphanumeric(text[0]) || !alphanumeric(text[len(text)-1]) {
		return false
	}
	for i := range len(text) {
		if c := text[i]; !alphanumeric(c) && c != '-' && c != '_' && c != '.' {
			return false
		}
	}
	return true
}

func truth(k *key, text string) (any, error) {
	switch strings.ToLower(text) {
	case "true", "yes", "on", "1":
		return true, nil
	case "false", "no", "off", "0":
		return false, nil
	}
	return nil, bad("write true or false", "invalid %s %q", k.name, text)
}

// duration reads a duration such as 30s, or a number in the unit of its source: seconds in SCRIPT_TIMEOUT, milliseconds in
// scriptTimeout. Seconds may have decimals. Milliseconds may not: a user who writes 1.5 means seconds.
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
		return nil, bad(fmt.Sprintf("write a time from %s to %s, such as 90s", least, most), "invalid %s %q", k.name, text)
	}
	return d, nil
}

// scalars returns the items of a list, or the parts of a text that are separated by commas.
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
				r.wrong(item, fmt.Sprintf("item of %s is a %s: ignored", k.name, item.Kind), "write one text for each item")
				r.lost = true
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
				r.wrong(item, fmt.Sprintf("path %q of %s is not absolute: ignored", text, k.name), "write an absolute path")
				continue
			}
			text = path
		case names:
			if err := manifest.CheckName(text); err != nil {
				r.wrong(item, fmt.Sprintf("%q is not the name of a skill: ignored", text), "use letters, digits, - and _")
				continue
			}
			text = manifest.Canonical(text)
		case globs:
			// The glob stays in the list: package skill then denies everything, since it is unknown what to deny.
			if err := glob.Check(text); err != nil {
				r.wrong(item, fmt.Sprintf("unusable glob in %s: %v", k.name, err), `write a glob such as "pdf-*"; until then it allows nothing, or denies everything`)
			}
		case hosts:
			if host, err := hostname.Parse(text); err == nil {
				text = host.String()
			} else if text != allHosts {
				r.wrong(item, fmt.Sprintf("invalid host %q in %s: %v: ignored", text, k.name, err), "write a host such as api.example.com, or all")
				continue
			}
		case variables:
			if variable.NeverPasses(text) {
				r.wrong(item, fmt.Sprintf("variable %q of %s never passes: ignored", text, k.name), "write the variable into the command: "+variable.Reason)
				continue
			}
			if !variable.IsName(text) {
				r.wrong(item, fmt.Sprintf("%q in %s is not the name of a variable: ignored", text, k.name), "write each name by itself")
				continue
			}
		case words:
			if text = strings.ToLower(text); text == "none" {
				continue
			}
			if !slices.Contains(k.values, text) {
				r.wrong(item, fmt.Sprintf("invalid item %q of %s: ignored", text, k.name), didYouMean(text, k.values))
				continue
			}
		}
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out, nil
}

// selection reads the value of AGENT_SKILLS or enabledSkills.
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
	name  string // "" for a list of layers
	order []string
}

// readOrder reads an order of layers. In the order of a project the folders that the user named stay above the project.
func readOrder(n *yamlnode.Node, project bool) (any, error) {
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
			return nil, bad(didYouMean(n.Value, known)+", or a list of layers", "invalid precedence %q", n.Value)
		}
	case yamlnode.Sequence:
		for _, item := range n.Items {
			parts = append(parts, item.Value)
		}
	default:
		return nil, bad("write default, omniforge or a list of layers", "precedence must be a name or a list, not a %s", n.Kind)
	}
	for i := range parts {
		parts[i] = strings.ToLower(strings.TrimSpace(parts[i]))
		if !slices.Contains(presets[0].order, parts[i]) {
			return nil, bad(didYouMean(parts[i], presets[0].order), "unknown layer %q in precedence", parts[i])
		}
	}
	if project {
		parts = append([]string{Extra}, parts...)
	}
	return preset{"", order(parts)}, nil
}

// didYouMean returns a cure that names the nearest candidate, or all of them if none is near.
func didYouMean(word string, candidates []string) string {
	if meant := near.Name(word, candidates); meant != "" {
		return fmt.Sprintf("did you mean %q?", meant)
	}
	return "use one of " + strings.Join(candidates, ", ")
}
