package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/yamlnode"
	"github.com/agent-base/agent-base/skill/manifest"
)

const (
	maxFile  = 64 << 10 // bytes of a project's config.yaml: it comes with a clone, and reading costs more than its length
	maxUser  = 1 << 20  // bytes of the user's own, which has an entry for each installed skill
	maxDepth = 8        // of lists and maps in it
)

// userFile reads the user's file. It must belong to the user, so nobody else can change what the user set. Without the
// file nothing is set. If there is one that cannot be read, only the bundled skills are loaded.
func (l *loader) userFile() given {
	path := l.paths.UserConfig()
	if path == "" {
		return given{}
	}
	l.misnamed(path)
	at := Origin{Rank: User, Name: path, Line: 1, Col: 1}
	src, err := lockfile.ReadPrivate(path, maxUser)
	if errors.Is(err, fs.ErrNotExist) {
		if link := danglingLink(path); link != "" {
			err = fmt.Errorf("%q is a symbolic link that leads nowhere", link)
		} else {
			return given{}
		}
	}
	out := l.read(at, src, err)
	if l.unsure.Name != "" {
		l.report(l.unsure, manifest.SeverityError, "config-bundled-only",
			"only the bundled skills are loaded: which others this file allows cannot be read", "fix the file")
	}
	return out
}

// misnamed reports files in the folder of the user's settings that have a similar name, or one that other programs use: they are not read.
func (l *loader) misnamed(path string) {
	for _, name := range []string{"settings.yaml", "settings.yml", "settings.json", "config.yml", "config.json"} {
		other := filepath.Join(filepath.Dir(path), name)
		if _, err := os.Lstat(other); err == nil {
			l.report(Origin{Rank: User, Name: other, Line: 1, Col: 1}, manifest.SeverityWarning, "config-misnamed",
				"nothing reads this file: your settings are in "+filepath.Base(path), "move what it sets to "+path)
		}
	}
}

// danglingLink returns which of path and its folder is a symbolic link that leads nowhere, or "".
func danglingLink(path string) string {
	for _, p := range []string{path, filepath.Dir(path)} {
		if _, err := os.Stat(p); err == nil {
			continue
		}
		if info, err := os.Lstat(p); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return p
		}
	}
	return ""
}

// projectFile reads the file of a project, or of a folder in it. No link leads out of the folder.
func (l *loader) projectFile(dir string) given {
	path := under(dir, projectConfig)
	if path == "" || sameFolder(under(dir, ".agent"), l.paths.Agent) {
		return given{}
	}
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return given{}
	}
	var src []byte
	if err == nil {
		defer root.Close()
		src, err = lockfile.ReadIn(root, projectConfig, maxFile)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if danglingLink(path) == "" {
			return given{}
		}
		err = errors.New("symbolic link that leads nowhere")
	}
	return l.read(Origin{Rank: Project, Name: path, Line: 1, Col: 1}, src, err)
}

// read reads the content of a config.yaml. It reports an error of reading the file.
func (l *loader) read(at Origin, src []byte, err error) given {
	if err != nil {
		cure := CureUnsafe(err)
		if cure == "" {
			cure = "make it a readable file"
			if at.Rank == Project {
				cure += " inside the project"
			}
		}
		l.breaks(at, "")
		l.report(at, manifest.SeverityError, "config-unreadable", reason(err), cure)
		return given{}
	}
	root, err := parse(src)
	if err != nil {
		var place *yamlnode.Error
		message := err.Error()
		if errors.As(err, &place) {
			at.Line, at.Col, message = max(place.Line, 1), max(place.Col, 1), place.Message
		}
		l.breaks(at, "")
		l.report(at, manifest.SeverityError, "config-syntax", message, "fix this line; until then the whole file is ignored")
		return given{}
	}
	return l.sections(at, root)
}

// reason returns the text of an error without the operation and the path.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}

// sections reads the top of a file. If a section is there twice, the last one counts.
func (l *loader) sections(file Origin, root *yamlnode.Node) given {
	out, last := given{}, map[string]int{}
	for i, p := range root.Pairs {
		if _, twice := last[p.Key.Value]; twice && isSection(p.Key.Value) {
			l.breaks(file.in(p.Key), p.Key.Value)
			l.report(file.in(p.Key), manifest.SeverityError, "config-duplicate-key", fmt.Sprintf("duplicate key %q", p.Key.Value), "join the two")
		}
		last[p.Key.Value] = i
	}
	for i, pair := range root.Pairs {
		at, name := file.in(pair.Key), pair.Key.Value
		switch {
		case last[name] != i:
		case name == serversSection && pair.Value.Kind == yamlnode.Mapping:
			out[name] = entry{l.readServers(at, pair.Value), []Origin{at}}
		case isSection(name) && (pair.Value.Kind == yamlnode.Mapping || pair.Value.Kind == yamlnode.Null):
			l.section(out, pair, at)
		case isSection(name):
			l.breaks(at, name)
			l.report(at, manifest.SeverityError, "config-form", fmt.Sprintf("%q must be a map of settings, not a %s", name, pair.Value.Kind), "write the settings below it, indented")
		case findKey("", name) != nil || isTrust(name):
			l.misplaced(at, name, "at the top level")
		case len(l.problems) <= maxProblems:
			l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("unknown key %q", name), didYouMean(name, sectionNames))
		}
	}
	return out
}

// breaks records that a section of the user's file, or the whole file ("") cannot be read.
func (l *loader) breaks(at Origin, section string) {
	if at.Rank != User {
		return
	}
	l.broken = at
	if section == "" || section == skillsSection {
		l.unsure = at
	}
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

func isSection(name string) bool { return slices.Contains(sectionNames, name) }

// misplaced reports a setting in a place where it has no effect.
func (l *loader) misplaced(at Origin, name, where string) {
	section := skillsSection
	if k := findKey("", name); k != nil {
		section = k.in()
	}
	l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("%q %s has no effect", name, where),
		fmt.Sprintf("write it below \"%s:\", indented", section))
}

// section reads the settings of one map.
func (l *loader) section(out given, section yamlnode.Pair, file Origin) {
	seen := map[string]bool{}
	for _, pair := range section.Value.Pairs {
		at := file.in(pair.Key)
		k := findKey(section.Key.Value, pair.Key.Value)
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
			l.report(at, manifest.SeverityError, "config-duplicate-key", fmt.Sprintf("duplicate key %q", k.name), "keep one of them")
			if k.guards && at.Rank == User {
				l.unsure = at
			}
		}
		switch {
		case at.Rank == Project && k.project == never:
			l.report(at, manifest.SeverityWarning, "config-project", fmt.Sprintf("a project cannot set %s: ignored", k.name),
				fmt.Sprintf("set it in your own config.yaml or as %s", k.variable()))
		case pair.Value.Kind == yamlnode.Null && !k.isList():
			l.report(at, manifest.SeverityWarning, "config-value", fmt.Sprintf("%s has no value: ignored", k.name), "write a value after the colon or remove the line")
		case twice && k.project == tighten && k.kind == choice:
			out[k.name] = entry{k.values[len(k.values)-1], []Origin{at}}
		default:
			unit := time.Millisecond
			if pair.Key.Value == "script_timeout" { // under this name the number is in seconds
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
		l.report(at, manifest.SeverityWarning, "config-trust", fmt.Sprintf("%q has no effect: a settings file cannot grant trust", name), "") // package app says what to type
		return
	}
	var known []string
	for _, k := range keys {
		known = append(known, k.name)
	}
	cure := "remove it; \"agent doctor\" lists all keys"
	if meant := near.Name(name, known); meant != "" {
		cure = fmt.Sprintf("did you mean %q?", meant)
	}
	l.report(at, manifest.SeverityWarning, "config-unknown-key", fmt.Sprintf("unknown key %q", name), cure)
}

// CureUnsafe returns what to type about an error that a file can be changed by other users, of Load or of the package
// trust. For other errors it returns "".
func CureUnsafe(err error) string {
	var unsafe *lockfile.UnsafeError
	switch {
	case !errors.As(err, &unsafe):
		return ""
	case unsafe.Foreign:
		return "check what is in it, then run: sudo chown \"$USER\" " + quote(unsafe.Path)
	}
	return "check what is in it, then run: chmod go-w " + quote(unsafe.Path)
}

// quote returns a path as a word of a shell.
func quote(path string) string {
	if !strings.ContainsFunc(path, func(r rune) bool {
		return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-", r)
	}) {
		return path
	}
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
