// Package hosts puts skills where other agents look for them, and says what these agents make of a skill: which fields of its
// manifest they ignore, and what that means.
//
// Plan decides and opens nothing. Export.Do carries it out: it makes a link to the folder of the skill, or a copy. What was not
// made by an export is never changed: a link is known by where it leads, a copy by the digest of its content.
package hosts

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Method is how a skill gets into the folder of another agent.
type Method uint8

// The methods.
const (
	Link Method = iota + 1 // a symbolic link: the agent always has the content that it leads to
	Copy                   // a folder of its own, with the present content
)

// String returns "link" or "copy".
func (m Method) String() string { return [...]string{"unknown", "link", "copy"}[m] }

// Request is what Plan is asked.
type Request struct {
	Host   Host
	Scope  Scope
	Base   string // absolute: the home folder of the user, or the root of the project
	Source string // absolute: the folder of the skill
	Copy   bool   // make a copy, not a link

	Manifest *manifest.Manifest // of the skill
	Name     string             // of the folder; "" means the manifest's name

	// Own lists absolute folders, such as the store of installed skills. A link that leads into one of them, or to Source, was
	// made by an export, and may be replaced.
	Own []string

	// Digests lists contents ("sha256:..."), such as the versions of the skill that were installed. A folder with such a
	// content is a copy that nobody has changed, and may be replaced.
	Digests []string
}

// Export is what will be done, and what to expect of it. Texts from the skill are in it: a terminal must not get them unchecked.
type Export struct {
	Host     Host
	Scope    Scope
	Base     string // as in the Request
	Path     string // slash path below Base of the link or folder
	Method   Method
	Source   string   // as in the Request
	Ignored  []string // keys of the manifest that mean something elsewhere and nothing to this agent, as they are written
	Warnings []string // what that means, and what else to know; one sentence each, without a full stop

	own     []string
	digests []string
}

// Location returns the absolute path of the link or folder.
func (e *Export) Location() string { return filepath.Join(e.Base, filepath.FromSlash(e.Path)) }

// ErrThere is the error of Plan for a skill that lies where the agent looks for skills: there is nothing to export.
var ErrThere = errors.New("is already where")

// Plan says what an export of a skill does. It returns an error if the skill has a name that cannot be that of a folder, if a
// path is not absolute, or if the skill is there already (ErrThere).
func Plan(r *Request) (*Export, error) {
	name := r.Name
	if name == "" && r.Manifest != nil {
		name = r.Manifest.Name
	}
	folder := r.Host.Folder(r.Scope)
	switch {
	case r.Host.ID == "" || r.Scope != User && r.Scope != Project:
		return nil, errors.New("hosts: no host or no scope")
	case r.Manifest == nil:
		return nil, errors.New("hosts: no manifest")
	case !filepath.IsAbs(r.Base) || !filepath.IsAbs(r.Source):
		return nil, fmt.Errorf("hosts: %q or %q is not an absolute path", r.Base, r.Source)
	case filename.Odd(name) != "" || filename.IsGit(name):
		return nil, fmt.Errorf("the name %.100q cannot be that of a folder", name)
	}
	e := &Export{Host: r.Host, Scope: r.Scope, Base: filepath.Clean(r.Base), Path: folder + "/" + name, Method: Link, Source: filepath.Clean(r.Source),
		own: r.Own, digests: slices.Clone(r.Digests)}
	if r.Copy {
		e.Method = Copy
	}
	if e.Location() == e.Source {
		return nil, fmt.Errorf("%s %w %s looks for skills", e.Source, ErrThere, r.Host.Title)
	}
	e.fields(r.Manifest)
	e.body(r.Manifest)
	e.place(r, name)
	return e, nil
}

// fields notes the keys that the agent ignores.
func (e *Export) fields(m *manifest.Manifest) {
	acts := strings.Fields(e.Host.acts)
	warned := map[string]bool{}
	for _, f := range m.Fields {
		key := canonical(f.Key)
		known, _ := manifest.FindKey(key)
		below := strings.Contains(f.Key, ".")
		matters := f.Standing == manifest.StandingEnforced || actedOn(key) || known.Lost != ""
		if below || known.People || slices.Contains(acts, key) || !matters {
			continue
		}
		if !slices.Contains(e.Ignored, f.Key) {
			e.Ignored = append(e.Ignored, f.Key)
		}
		if text := known.Lost; text != "" && !warned[text] {
			warned[text] = true
			e.Warnings = append(e.Warnings, fmt.Sprintf(text, e.Host.Title))
		}
	}
	if slices.Contains(acts, "allowed-tools") && m.AllowedTools.Declared {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%s does not ask before it uses the tools of allowed-tools, and does not restrict the skill to them", e.Host.Title))
	}
}

// canonical returns a key as the tables have it.
func canonical(key string) string { return strings.ReplaceAll(strings.ToLower(key), "_", "-") }

var (
	argument  = lazyregexp.New(`\$ARGUMENTS|\$\{CLAUDE_|\$[0-9]`)
	injection = lazyregexp.New("(?m)(?:^|\\s)!`|^\\s*```!")
)

// body warns of what only some agents do with the instructions.
func (e *Export) body(m *manifest.Manifest) {
	if !e.Host.args && argument().MatchString(m.Body) {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%s does not fill in the $ARGUMENTS and variables of the instructions", e.Host.Title))
	}
	if injection().MatchString(m.Body) {
		if e.Host.inject {
			e.Warnings = append(e.Warnings, fmt.Sprintf("%s runs the commands that the instructions have in the form !`command`, when the skill is started", e.Host.Title))
		} else {
			e.Warnings = append(e.Warnings, fmt.Sprintf("%s does not run the commands that the instructions have in the form !`command`", e.Host.Title))
		}
	}
}

var asciiName = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// place warns about the name and the folder.
func (e *Export) place(r *Request, name string) {
	warn := func(format string, args ...any) { e.Warnings = append(e.Warnings, fmt.Sprintf(format, args...)) }
	if e.Host.ascii && (!asciiName().MatchString(name) || len(name) > 64) {
		warn("%s does not load a skill with the name %.100q: it takes a-z, 0-9 and single hyphens only", e.Host.Title, name)
	}
	const most = 1024
	if n := utf8.RuneCountInString(r.Manifest.Description); n > most {
		warn("the description has %d characters; agents may cut or refuse more than %d", n, most)
	}
	if e.Host.shared && e.Host.ID != "agents" {
		warn("other agents read %s, too", e.Host.Folder(e.Scope))
	}
	if e.Scope == Project && e.Method == Link {
		warn("the link leads to a folder of this machine, so others who have the project need a copy")
	}
}
