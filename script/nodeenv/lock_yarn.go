package nodeenv

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"
)

// yarnLock is a yarn.lock of Yarn 1. Its keys are the patterns that packages are asked for by, such as "a@^1.0.0"; several may
// have one entry. It says nothing of platforms: an optional package for another one is left out after it was unpacked.
type yarnLock struct {
	file    string
	entries map[string]*yarnEntry
	graph   graph
}

type yarnEntry struct {
	name                         string // that the first pattern asks for
	version, resolved, integrity string
	dependencies, optional       []yarnPattern
}

// yarnPattern is a dependency as it is written: a name and a range, or "npm:NAME@RANGE" for a package that has another name in
// the registry.
type yarnPattern struct{ name, spec string }

func (p yarnPattern) key() string { return p.name + "@" + p.spec }

// registryName returns the name of the package in the registry.
func (p yarnPattern) registryName() string {
	alias, ok := strings.CutPrefix(p.spec, "npm:")
	if !ok {
		return p.name
	}
	if at := strings.LastIndexByte(alias, '@'); at > 0 {
		return alias[:at]
	}
	return alias
}

// readYarn returns the plan of a yarn.lock.
func readYarn(pkg *packageJSON, file string, b []byte, _ platform) (plan, error) {
	l := &yarnLock{file: file, entries: map[string]*yarnEntry{}, graph: graph{}}
	if err := l.parse(b); err != nil {
		return nil, err
	}
	var root []edge
	for _, g := range []struct {
		ours     map[string]string
		optional bool
	}{{pkg.Dependencies, false}, {pkg.OptionalDependencies, true}} {
		for _, name := range sortedKeys(g.ours) {
			p := yarnPattern{name, g.ours[name]}
			if l.entries[p.key()] == nil {
				return nil, disagrees(file, pkg, fmt.Sprintf("it has no %q", clip(p.key())))
			}
			e, err := l.edge(p, g.optional)
			if err != nil {
				return nil, err
			}
			root = append(root, e)
		}
	}
	return l.graph.hoist(file, root)
}

// edge returns the dependency that a pattern means, and reads what it depends on. What is needed at all is not optional.
func (l *yarnLock) edge(p yarnPattern, optional bool) (edge, error) {
	entry := l.entries[p.key()]
	if entry == nil {
		return edge{}, refuse("%s has no %q: write the lock again", l.file, clip(p.key()))
	}
	key := entry.name + "@" + entry.version
	v := l.graph[key]
	if v != nil && (optional || !v.Optional) {
		return edge{p.name, key}, nil
	}
	if v == nil {
		address, _, _ := strings.Cut(entry.resolved, "#")
		v = &vertex{item: item{Name: entry.name, Version: entry.version, Resolved: address, Integrity: entry.integrity}}
		l.graph[key] = v
	}
	if len(l.graph) > maxItems {
		return edge{}, refuse("%s has more than %d packages: use fewer, or bundle the script into one file", l.file, maxItems)
	}
	v.Optional, v.deps = optional, nil
	for i, list := range [][]yarnPattern{entry.dependencies, entry.optional} {
		for _, d := range list {
			e, err := l.edge(d, optional || i == 1)
			if err != nil {
				return edge{}, err
			}
			v.deps = append(v.deps, e)
		}
	}
	return edge{p.name, key}, nil
}

// parse reads the entries. The format is like YAML, but is not: keys and values are words or JSON strings.
func (l *yarnLock) parse(b []byte) error {
	var entry *yarnEntry
	var list *[]yarnPattern
	lines := bufio.NewScanner(bytes.NewReader(b))
	lines.Buffer(nil, maxLock)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimRight(lines.Text(), " \r")
		text := strings.TrimLeft(line, " ")
		words := yarnWords(text)
		switch indent := len(line) - len(text); {
		case text == "" || text[0] == '#':
		case text == "__metadata:":
			return refuse("%s is of Yarn 2 or later, whose checksums are not those of the registry: add a package-lock.json with `npm install --package-lock-only` in its folder", l.file)
		case indent == 0 && strings.HasSuffix(text, ":"):
			entry, list = &yarnEntry{}, nil
			for _, key := range words {
				p := splitYarn(key)
				entry.name = p.registryName()
				l.entries[p.key()] = entry
			}
		case entry == nil:
			return refuse("%s cannot be read: line %d belongs to no package: write the lock again", l.file, n)
		case indent == 2 && text == "dependencies:":
			list = &entry.dependencies
		case indent == 2 && text == "optionalDependencies:":
			list = &entry.optional
		case indent == 2 && len(words) == 2:
			list = nil
			entry.set(words[0], words[1])
		case indent == 4 && list != nil && len(words) == 2:
			*list = append(*list, yarnPattern{words[0], words[1]})
		case indent >= 2: // what later versions of Yarn 1 may add
		default:
			return refuse("%s cannot be read: line %d is not of the form of Yarn 1: write the lock again, or add a package-lock.json", l.file, n)
		}
	}
	return lines.Err()
}

func (e *yarnEntry) set(key, value string) {
	switch key {
	case "version":
		e.version = value
	case "resolved":
		e.resolved = value
	case "integrity":
		e.integrity = value
	}
}

// splitYarn splits "name@range".
func splitYarn(key string) yarnPattern {
	at := strings.IndexByte(key[min(1, len(key)):], '@') + 1 // not that of a scope
	if at <= 0 {
		return yarnPattern{name: key}
	}
	return yarnPattern{key[:at], key[at+1:]}
}

// yarnWords returns the words of a line without their quotes. Words are separated by spaces and commas; a colon may follow the
// last one.
func yarnWords(text string) []string {
	var out []string
	for text = strings.TrimSuffix(text, ":"); text != ""; text = strings.TrimLeft(text, ", ") {
		if text[0] == '"' {
			word, rest, _ := strings.Cut(text[1:], `"`)
			out, text = append(out, word), rest
			continue
		}
		n := strings.IndexAny(text, ", ")
		if n < 0 {
			n = len(text)
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}
