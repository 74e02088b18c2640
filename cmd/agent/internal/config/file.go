package config

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

const (
	maxFile  = 64 << 10 // bytes of a config.yaml: a project's comes with a clone, and reading costs more than its length
	maxDepth = 8        // of lists and maps in it
)

// file reads a config.yaml. A missing one says nothing; a damaged one is reported and says nothing either.
func (l *loader) file(path string, rank Rank) given {
	out := given{}
	if path == "" {
		return out
	}
	at := Origin{Rank: rank, Name: path, Line: 1, Col: 1}
	src, err := lockfile.Read(path, maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return out
	}
	if err != nil {
		l.broken(at, "config-unreadable", err.Error(), "make it a readable file")
		return out
	}
	root, err := parse(src)
	if err != nil {
		var place *yamlnode.Error
		message := err.Error()
		if errors.As(err, &place) {
			at.Line, at.Col, message = max(place.Line, 1), max(place.Col, 1), place.Message
		}
		l.broken(at, "config-syntax", message, "mend this line; until then nothing in the file holds")
		return out
	}
	for _, pair := range pairs(root) {
		at := Origin{rank, path, pair.Key.Line, pair.Key.Col}
		switch {
		case isSection(pair.Key.Value) && (pair.Value.Kind == yamlnode.Mapping || pair.Value.Kind == yamlnode.Null):
			l.section(out, pair, at)
		case isSection(pair.Key.Value):
			l.broken(at, "config-form", fmt.Sprintf("%s must be a map of settings, not a %s", pair.Key.Value, pair.Value.Kind), "write the settings below it, indented")
		case findKey(pair.Key.Value) != nil || isTrust(pair.Key.Value):
			l.misplaced(at, pair.Key.Value, "at the top")
		case len(l.problems) <= maxProblems:
			l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("unknown key %q", pair.Key.Value), didYouMean(pair.Key.Value, []string{skillsSection, agentSection}))
		}
	}
	return out
}

// parse returns the map of a file, an empty one for a file without content.
func parse(src []byte) (*yamlnode.Node, error) {
	root, err := yamlnode.Parse(src, &yamlnode.Options{MaxDepth: maxDepth})
	if errors.Is(err, yamlnode.ErrEmpty) || err == nil && root.Kind == yamlnode.Null {
		return &yamlnode.Node{Kind: yamlnode.Mapping}, nil
	}
	if err == nil && root.Kind != yamlnode.Mapping {
		return nil, &yamlnode.Error{Line: root.Line, Col: root.Col, Message: fmt.Sprintf("the file must be a map with the key skills, not a %s", root.Kind)}
	}
	return root, err
}

// pairs returns the pairs of a map of which the last one of each key counts.
func pairs(n *yamlnode.Node) []yamlnode.Pair {
	last := map[string]int{}
	for i, p := range n.Pairs {
		last[p.Key.Value] = i
	}
	var out []yamlnode.Pair
	for i, p := range n.Pairs {
		if last[p.Key.Value] == i {
			out = append(out, p)
		}
	}
	return out
}

func (l *loader) broken(at Origin, code, message, cure string) {
	if at.Rank == User {
		l.userBroken = at
	}
	l.report(at, manifest.SeverityError, code, message, cure)
}

func isSection(name string) bool { return name == skillsSection || name == agentSection }

// misplaced reports a setting that stands where it counts for nothing.
func (l *loader) misplaced(at Origin, name, where string) {
	section := skillsSection
	if k := findKey(name); k != nil {
		section = k.in()
	}
	l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("%q %s counts for nothing", name, where),
		fmt.Sprintf("write it below \"%s:\", indented", section))
}

// section reads the settings below `skills:` or `agent:`.
func (l *loader) section(out given, section yamlnode.Pair, file Origin) {
	seen := map[string]bool{}
	for _, pair := range section.Value.Pairs {
		at := Origin{file.Rank, file.Name, pair.Key.Line, pair.Key.Col}
		k := findKey(pair.Key.Value)
		if k == nil {
			l.unknown(at, pair.Key.Value)
			continue
		}
		if k.in() != section.Key.Value {
			l.misplaced(at, pair.Key.Value, fmt.Sprintf("below %q", section.Key.Value))
			continue
		}
		twice := seen[k.name]
		seen[k.name] = true
		if twice {
			l.report(at, manifest.SeverityError, "config-duplicate-key", fmt.Sprintf("%s is there twice", k.name), "keep one of them")
		}
		switch {
		case at.Rank == Project && k.project == never:
			l.report(at, manifest.SeverityWarning, "config-project", fmt.Sprintf("a project cannot set %s: it is ignored", k.name),
				fmt.Sprintf("set it in your own config.yaml, or as %s", k.variable()))
		case pair.Value.Kind == yamlnode.Null && !k.isList():
			l.report(at, manifest.SeverityWarning, "config-value", fmt.Sprintf("%s has no value: it is ignored", k.name), "write a value after the colon, or remove the line")
		case twice && k.project == tighten && k.kind == choice:
			out[k.name] = entry{k.values[len(k.values)-1], []Origin{at}}
		default:
			unit := time.Millisecond
			if pair.Key.Value == "script_timeout" { // the name that is one of seconds (R187)
				unit = time.Second
			}
			l.take(out, k, written{pair.Value, at, unit})
		}
	}
}

func isTrust(name string) bool { return slices.Contains(trustWords, camel(name)) }

func (l *loader) unknown(at Origin, name string) {
	if len(l.problems) > maxProblems {
		return
	}
	if isTrust(name) {
		l.report(at, manifest.SeverityWarning, "config-trust", fmt.Sprintf("%q counts for nothing: no settings file gives trust", name),
			"run \"agent skill trust NAME\", or \"agent skill trust --root DIR\"")
		return
	}
	var known []string
	for _, k := range keys {
		known = append(known, k.name)
	}
	cure := "remove it; \"agent doctor\" lists the keys there are"
	if meant := near.Name(name, known); meant != "" {
		cure = fmt.Sprintf("did you mean %q?", meant)
	}
	l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("unknown key %q", name), cure)
}
