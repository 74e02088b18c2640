package skill

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Entry is one skill of a catalogue: a small, comparable handle that is valid as long as its catalogue.
type Entry struct {
	c  *Catalog
	it *item
}

func (e Entry) part() *part { return e.c.parts[e.it.part] }

// kept returns the data that only few manifests have, or nil.
func (e Entry) kept() *kept { return e.it.r.kept() }

// Name returns the skill's name as written.
func (e Entry) Name() string { return e.it.r.name() }

// Canonical returns the name's canonical form.
func (e Entry) Canonical() string { return e.it.r.canonical() }

// Description returns the skill's description, as written.
func (e Entry) Description() string { return e.it.r.description() }

// Brief returns brief_description, else the first sentence of the description, in at most 80 characters.
func (e Entry) Brief() string {
	if k := e.kept(); k != nil && k.brief != "" {
		return k.brief
	}
	return manifest.Brief(e.it.r.description())
}

// WhenToUse returns the manifest's when_to_use, or "".
func (e Entry) WhenToUse() string {
	if k := e.kept(); k != nil {
		return k.when
	}
	return ""
}

// Version returns the skill's version, or "" if it declares none.
func (e Entry) Version() string { return e.it.r.version() }

// Tags returns the skill's tags. Do not change them.
func (e Entry) Tags() []string {
	if k := e.kept(); k != nil {
		return k.tags
	}
	return nil
}

// Triggers returns the words and patterns that offer the skill automatically. Do not change them.
func (e Entry) Triggers() manifest.Triggers {
	if k := e.kept(); k != nil {
		return k.triggers
	}
	return manifest.Triggers{}
}

// Scope returns the agents, tenants and environments that the skill declares, see Options.Audience. Do not change them.
func (e Entry) Scope() manifest.Scope {
	if k := e.kept(); k != nil {
		return k.scope
	}
	return manifest.Scope{}
}

// Requires returns the commands that the skill needs. Do not change them.
func (e Entry) Requires() []string {
	if k := e.kept(); k != nil {
		return k.requires
	}
	return nil
}

// RequiresSkills returns the skills that the skill needs, as manifest.ParseNeed reads them. Do not change them.
func (e Entry) RequiresSkills() []string {
	if k := e.kept(); k != nil {
		return k.skills
	}
	return nil
}

// RequiresEnv returns the environment variables that the skill needs. Do not change them.
func (e Entry) RequiresEnv() []string {
	if k := e.kept(); k != nil {
		return k.variables
	}
	return nil
}

// UserInvocable reports whether a person may invoke the skill by name.
func (e Entry) UserInvocable() bool { return e.it.r.flags&isManual == 0 }

// DeclaresToolsets reports whether the skill's manifest names toolsets. A skill may bring others, with an mcp.json.
func (e Entry) DeclaresToolsets() bool { return e.it.r.flags&hasToolsets != 0 }

// DefaultEnabled reports whether the skill is enabled unless the user disables it.
func (e Entry) DefaultEnabled() bool { return e.it.r.flags&isOff == 0 }

// Priority returns the manifest's priority. Higher values come first.
func (e Entry) Priority() int { return e.it.r.priority() }

// Layer returns the name of the skill's layer.
func (e Entry) Layer() string { return e.part().layer.Name }

// Precedence returns the place of the skill's source in the order of the layers; 0 is the highest.
func (e Entry) Precedence() int { return int(e.it.part) }

// Mount returns the path under which the layer's skills are mounted; "skills" by default.
func (e Entry) Mount() string {
	if e.part().layer.Mount == "" {
		return "skills"
	}
	return e.part().layer.Mount
}

// Path returns the slash path of the skill's directory below its source's root. It is "." if the root itself is the
// skill.
func (e Entry) Path() string { return e.it.r.path() }

// File returns the name of the skill's manifest in its directory: SKILL.md, or skill.md if there is only that file.
func (e Entry) File() string { return e.it.r.file() }

// Where returns the place of the skill's manifest for people and logs: its absolute path, or the path that problems have for a
// source without folders. It writes nothing.
func (e Entry) Where() string { return e.c.file(e.it) }

// Installed returns the digest of the content that was installed, or "" for a skill of a source that does not know it. What is on
// the disk can be another content now.
func (e Entry) Installed() string { return e.it.r.digest() }

// Server returns the label of the MCP server that serves the skill, "" for a skill of this machine.
func (e Entry) Server() string { return e.part().layer.Server }

// Origin returns what people and models are told of a skill that a server serves, "MCP server docs"; "" for a skill of this machine.
func (e Entry) Origin() string {
	if e.Server() == "" {
		return ""
	}
	return "MCP server " + e.Server()
}

// Place returns the name of the place of the skill, for records of its content, such as an approval. A folder has one place, in all layers and
// by all its names. The versions of an installed skill, the skills of servers, and those that are in no folder, have the same places on every
// machine. The place is "" for a skill of a server whose source names none: nothing can be recorded of it.
func (e Entry) Place(ctx context.Context) (string, error) { return e.place(ctx, e.dir) }

func (e Entry) place(ctx context.Context, dir lazily) (string, error) {
	layer, named := e.part().layer, ""
	if more := e.it.r.more; more != nil {
		named = more.place
	}
	rooted, ok := e.part().source.(Rooted)
	switch named = cmp.Or(named, layer.Place); {
	case named != "" && layer.Server != "":
		return place.Server(named), nil
	case named != "" || layer.Server != "":
		return named, nil
	case layer.Trust == TrustBundled, ok && len(rooted.Roots()) == 0:
		return layer.Name, nil
	}
	at, err := dir(ctx)
	if errors.Is(err, ErrNoFolder) {
		if at, err = e.Where(), nil; !filepath.IsAbs(at) {
			return layer.Name, nil
		}
	}
	if err != nil {
		return "", err
	}
	return place.Folder(at), nil
}

// Alike is Catalog.Alike for the name of the skill.
func (e Entry) Alike() string { return e.c.Alike(e.Name()) }

// State returns the skill's state.
func (e Entry) State() State { return e.it.state }

// Reason returns a short text that says why the state is not StateEnabled.
func (e Entry) Reason() string { return e.it.why().text }

// Cause returns the rule that decided the state.
func (e Entry) Cause() Cause { return e.it.why().cause }

// Problems returns the problems in the front matter of the skill's manifest. The instructions are checked when the
// skill is loaded. Do not change the slice.
func (e Entry) Problems() []manifest.Problem { return e.it.r.problems(e.c.file(e.it)) }

// Shadows returns the skills of the same name that this one hides, highest precedence first.
func (e Entry) Shadows() []Entry {
	shadows := e.it.shadows()
	if shadows == nil {
		return nil
	}
	out := make([]Entry, len(shadows))
	for i := range out {
		out[i] = Entry{e.c, &shadows[i]}
	}
	return out
}

// Same reports whether both entries are the same skill with an unchanged manifest, in catalogues where one was made
// from the other by Refresh. Their states may differ.
func (e Entry) Same(other Entry) bool { return e.it.r == other.it.r && e.it.part == other.it.part }

// Location returns the absolute path of the skill's SKILL.md. It writes a skill of an FS source with a cache to the
// cache first. The error wraps ErrNoFolder if the skill has no folder on disk.
func (e Entry) Location(ctx context.Context) (string, error) {
	dir, err := e.dir(ctx)
	if err != nil {
		return "", err
	}
	return dir + string(filepath.Separator) + e.File(), nil
}

func (e Entry) dir(ctx context.Context) (string, error) {
	if h, ok := e.part().source.(home); ok {
		return h.location(ctx, e.Path())
	}
	t, err := e.open(ctx)
	if err != nil {
		return "", err
	}
	defer t.Close()
	if l, ok := t.(Locator); ok {
		return l.Location(ctx)
	}
	return "", noFolder(e.Name())
}

func (e Entry) open(ctx context.Context) (Tree, error) {
	if h, ok := e.part().source.(home); ok {
		return h.tree(ctx, e.part(), e.Path())
	}
	if e.it.r.more == nil || e.it.r.more.open == nil {
		return nil, &BrokenError{Name: e.Name(), Problems: e.Problems()}
	}
	t, err := e.it.r.more.open(ctx)
	if err == nil && t == nil {
		err = errors.New("the source returned no files")
	}
	return t, err
}

// Trust returns whether scripts of the skill may run, and why. It may read every file of the skill. On error it returns
// TrustNone.
func (e Entry) Trust(ctx context.Context) (Trust, error) {
	if err := ctx.Err(); err != nil {
		return TrustNone, err
	}
	return e.trust(ctx, e.dir, e.Digest)
}

// lazily returns a fact about a skill that may have to be read.
type lazily func(context.Context) (string, error)

func (e Entry) trust(ctx context.Context, dir, digest lazily) (Trust, error) {
	if e.part().layer.Trust != TrustNone || e.c.o.Trust == nil {
		return e.part().layer.Trust, nil
	}
	s, err := e.subject(ctx, dir, digest)
	if err != nil {
		return TrustNone, err
	}
	t, err := e.c.o.Trust(ctx, s)
	if err != nil {
		t = TrustNone
	}
	return t, err
}

// subject returns the skill as functions that decide about it see it.
func (e Entry) subject(ctx context.Context, dir, digest lazily) (Subject, error) {
	s := Subject{Name: e.Canonical(), File: e.Where(), Layer: e.Layer(), Server: e.Server(), Digest: digest,
		Place: func(ctx context.Context) (string, error) { return e.place(ctx, dir) }}
	if r, ok := e.part().source.(Rooted); ok && len(r.Roots()) > 0 {
		at, err := dir(ctx)
		if err != nil && !errors.Is(err, ErrNoFolder) {
			return Subject{}, err
		}
		s.Dir = at
	} else {
		s.Bundled = e.part().layer.Trust == TrustBundled
	}
	return s, nil
}

// admitted returns what Options.Admit says of the skill: of loaded, or of one that is only listed, which is nil.
func (e Entry) admitted(ctx context.Context, loaded *Skill) error {
	if e.c.o.Admit == nil {
		return nil
	}
	digest := e.Digest
	if loaded != nil {
		digest = loaded.Digest
	}
	s, err := e.subject(ctx, e.dir, digest)
	if err != nil {
		return err
	}
	s.Loaded = loaded != nil
	s.Files = func(ctx context.Context) (fs.FS, func() error, error) {
		if loaded != nil {
			return loaded.FS(), func() error { return nil }, nil
		}
		tree, err := e.open(ctx)
		if err != nil {
			return nil, nil, err
		}
		listed := &Skill{entry: e, tree: tree}
		return listed.FS(), listed.Close, nil
	}
	return e.c.o.Admit(ctx, s)
}

// Digest returns the digest of the skill's files as they are now, as Skill.Digest does, without loading the skill. Of a skill of a server it
// reads none.
func (e Entry) Digest(ctx context.Context) (string, error) {
	t, err := e.open(ctx)
	if err != nil {
		return "", err
	}
	defer t.Close()
	sum, err := sumOf(ctx, t)
	return sum.Digest, err
}

// Load opens the skill and reads its manifest again. The caller must close the skill. The error is a *BrokenError if
// the manifest cannot be used, or if the manifest or its folder cannot be read; it then wraps the cause, such as
// fs.ErrNotExist. It is a *NotAdmittedError if Options.Admit does not admit it. When ctx is done the error is that of ctx, whatever else is wrong.
func (e Entry) Load(ctx context.Context) (*Skill, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if e.it.r.flags&isFatal != 0 {
		return nil, &BrokenError{Name: e.Name(), Problems: e.Problems()}
	}
	tree, err := e.open(ctx)
	if err != nil {
		return nil, cmp.Or(ctx.Err(), e.unreadable(err))
	}
	s := &Skill{entry: e, tree: tree}
	err = s.read()
	if err == nil {
		if why := e.admitted(ctx, s); why != nil {
			err = &NotAdmittedError{Name: e.Name(), Err: why}
		}
	}
	if err := cmp.Or(ctx.Err(), err); err != nil {
		tree.Close()
		return nil, err
	}
	return s, nil
}

// unreadable returns the error for a skill whose manifest or folder cannot be opened.
func (e Entry) unreadable(err error) error {
	var broken *BrokenError
	if errors.As(err, &broken) {
		return err
	}
	p := fileProblem(e.c.file(e.it), err)
	if errors.Is(err, fs.ErrNotExist) {
		p.Code, p.Message, p.Cure = "file-missing", "it is not there any more", "put it back, or look again at what skills there are"
	}
	return &BrokenError{e.Name(), []manifest.Problem{*p}, err}
}
