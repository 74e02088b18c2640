package app

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/lock"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/oci"
	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Installed are the facts about the installed skills. The zero value has none.
type Installed struct{ set registry.Set }

// Installed reads which skills are installed. A list that cannot be read has none: the catalogue says what is wrong with it.
func (p *Packages) Installed(ctx context.Context) *Installed {
	if p.settings.Home() == "" {
		return &Installed{}
	}
	set, _ := registryOf(p.sys, p.settings).Load(ctx)
	return &Installed{*set}
}

// All returns all entries, by name.
func (i *Installed) All() []registry.Entry { return i.set.All() }

// Of returns the facts about a skill of the catalogue, nil if it is not an installed one.
func (i *Installed) Of(ctx context.Context, e skill.Entry) *registry.Entry {
	if i.set.Len() == 0 || e.Layer() != config.PluginDir {
		return nil
	}
	found, ok := i.set.Get(e.Canonical())
	if !ok {
		return nil
	}
	if file, err := e.Location(ctx); err == nil && filepath.Dir(file) != found.InstalledPath {
		return nil // another folder of the same name
	}
	return &found
}

// Record reports a change of the installed skills that is about to take effect, or one that failed. With the setting audit:
// required, an error says that it must not take effect.
func (p *Packages) Record(ctx context.Context, kind trace.Kind, e registry.Entry, failed error) error {
	verb := map[trace.Kind]string{trace.SkillInstalled: "Installed", trace.SkillUpdated: "Updated", trace.SkillRolledBack: "Rolled back", trace.SkillRemoved: "Removed"}[kind]
	return p.observe.record(ctx, trace.Event{Time: p.sys.Now(), Kind: kind, Skill: e.Name, Err: failed, Message: fmt.Sprintf("%s skill '%s'", verb, e.Name), Attrs: []slog.Attr{
		slog.String(trace.AttrDigest, e.Digest), slog.String(trace.AttrCommit, e.CommitSHA), slog.String(trace.AttrSource, e.Source)}})
}

// Backup returns a new folder for the changed files of an installed skill.
func (p *Packages) Backup(name string) string {
	return filepath.Join(p.settings.Config().PluginsDir, ".backup", name+"-"+p.sys.Now().UTC().Format("20060102T150405.000"))
}

// warnSpace warns if the disk of the installed skills is nearly full.
func (p *Packages) warnSpace() {
	if space, err := p.store().Space(0); err == nil && space.Low {
		p.out.Warn(fmt.Sprintf("only %d MB are free on the disk of %s", space.Free>>20, p.settings.Config().PluginsDir))
	}
}

// MakeRoom says what to do about a full disk.
const MakeRoom = "agent doctor --gc deletes what can be made again; agent skill remove NAME works, too"

// IsFull reports whether an error says that a disk is full, or what the user may have of it.
func IsFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

// explainInstall explains the errors about installed skills, nil for others.
func explainInstall(err error) *Failure {
	var changed *install.IntegrityError
	var choice *install.ChoiceError
	var breaking *install.BreakingError
	var full *install.SpaceError
	switch {
	case errors.Is(err, registry.ErrNotInstalled):
		return &Failure{Exit: ExitNotFound, Code: "not_installed", Hint: "agent skill manage list shows what is installed", Err: err}
	case errors.Is(err, registry.ErrCorrupt):
		return &Failure{Exit: ExitIntegrity, Code: "registry_damaged", Hint: "agent skill repair makes a new list from the skills on the disk", Err: err}
	case errors.Is(err, lock.ErrMerge):
		return &Failure{Exit: ExitConflict, Code: "conflict", Hint: "agent skill lock --fix puts both sides together", Err: err}
	case errors.Is(err, registry.ErrLocked), errors.Is(err, store.ErrLocked):
		return &Failure{Exit: ExitConflict, Code: "locked", Hint: "another agent is installing or removing; try again", Err: err}
	case errors.Is(err, install.ErrChanged):
		return &Failure{Exit: ExitConflict, Code: "conflict", Hint: "try again", Err: err}
	case errors.Is(err, install.ErrNoPrevious):
		return &Failure{Exit: ExitNotFound, Code: "no_previous", Err: err}
	case errors.Is(err, install.ErrNoPlace):
		return &Failure{Exit: ExitNotFound, Code: "not_found", Err: err}
	case errors.Is(err, install.ErrTooMany):
		return &Failure{Exit: ExitFailure, Code: "failed", Hint: "--path FOLDER takes the skills of one folder", Err: err}
	case errors.Is(err, oci.ErrNotFound):
		return &Failure{Exit: ExitNotFound, Code: "not_found", Hint: "check the repository and the tag", Err: err}
	case errors.Is(err, oci.ErrDigest):
		return &Failure{Exit: ExitIntegrity, Code: "integrity", Hint: "the registry is damaged or hostile: nothing was installed", Err: err}
	case errors.Is(err, install.ErrElsewhere):
		return &Failure{Exit: ExitNotFound, Code: "elsewhere", Err: err}
	case errors.As(err, &changed):
		return &Failure{Exit: ExitIntegrity, Code: "integrity", Hint: cure.Repair(filepath.Base(changed.Path)) + " puts it right", Err: err}
	case errors.As(err, &choice):
		return &Failure{Exit: ExitNotFound, Code: "not_found", Err: err}
	case errors.As(err, &breaking):
		return &Failure{Exit: ExitInvalid, Code: "invalid_skill", Hint: breaking.Problem.Cure, Err: err}
	case errors.As(err, &full), IsFull(err):
		return &Failure{Exit: ExitFailure, Code: "disk_full", Hint: MakeRoom, Err: err}
	case errors.Is(err, fetch.ErrAmbiguous):
		return &Failure{Exit: ExitUsage, Code: "usage", Hint: "--branch NAME or --tag NAME says which; a whole commit id is never ambiguous", Err: err}
	case errors.Is(err, fetch.ErrNetwork), errors.Is(err, oci.ErrNetwork):
		return &Failure{Exit: ExitFailure, Code: string(llm.Network), Err: err}
	case errors.As(err, new(*tls.CertificateVerificationError)):
		return &Failure{Exit: ExitFailure, Code: "failed", Hint: "if the server is your own, name the certificate of its authority: SSL_CERT_FILE=FILE", Err: err}
	case errors.Is(err, store.ErrReadOnly), errors.Is(err, syscall.EROFS):
		return &Failure{Exit: ExitFailure, Code: "failed", Hint: OtherHome, Err: err}
	}
	return nil
}

// Digests returns the contents of a skill that are or were installed.
func (i *Installed) Digests(name string) []string {
	e, ok := i.set.Get(name)
	if !ok {
		return nil
	}
	out := []string{e.Digest}
	for _, p := range e.Previous {
		out = append(out, p.Digest)
	}
	return out
}

// Former reports whether a content is a former one of an installed skill that is kept.
func (i *Installed) Former(name, digest string) bool {
	e, ok := i.set.Get(name)
	return ok && e.Digest != digest && slices.ContainsFunc(e.Previous, func(p registry.Previous) bool { return p.Digest == digest })
}
