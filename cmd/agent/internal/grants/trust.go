// Package grants has what the user approved and what they gave to skills: which content may run, and what its scripts get.
package grants

import (
	"context"
	"fmt"
	"path/filepath"
	"sync/atomic"

	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/observe"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
)

// Trust reads and changes what the user has approved.
type Trust struct {
	sys      *setup.System
	settings *setup.Settings
	observe  *observe.Observers
	known    atomic.Pointer[trust.Set]     // approvals read when the catalogue was opened or last reloaded; nil before that
	read     atomic.Pointer[lockfile.Mark] // of the file that was read last; nil before that
	own      atomic.Pointer[string]        // the folder of the skill that is trusted while the program runs; nil for none
}

// While trusts the content of the skill in a folder, and every later content of it, until the program ends. It stores nothing.
func (t *Trust) While(dir string) error {
	real, err := filepath.EvalSymlinks(dir)
	if err == nil {
		t.own.Store(&real)
	}
	return err
}

// isOwn reports whether a folder is that of While.
func (t *Trust) isOwn(dir string) bool {
	own := t.own.Load()
	if own == nil || dir == "" {
		return false
	}
	real, err := filepath.EvalSymlinks(dir)
	return err == nil && real == *own
}

// Load reads what the user has approved. On error it returns the empty set.
func (t *Trust) Load(ctx context.Context) (*trust.Set, error) {
	if t.settings.Config().Paths.State() == "" {
		return &trust.Set{}, nil
	}
	set, err := t.store().Load(ctx)
	if cure := config.CureUnsafe(err); cure != "" {
		err = fmt.Errorf("%w: %s", err, cure)
	}
	return set, err
}

// Edit returns the store of approvals, for changing it.
func (t *Trust) Edit() (*trust.Store, error) {
	if err := t.settings.NeedRoom(""); err != nil {
		return nil, err
	}
	return t.store(), nil
}

func (t *Trust) store() *trust.Store {
	if f := t.settings.Fleet(); f != nil {
		return f.Trust()
	}
	return t.file()
}

// Where returns the file of the approvals, or where a fleet keeps them.
func (t *Trust) Where() string {
	if t.settings.Fleet() != nil {
		return t.settings.Where()
	}
	return t.settings.Config().Paths.Trust()
}

// OfMachine reads the approvals in the file of this machine, also with the setting state: fleet.
func (t *Trust) OfMachine(ctx context.Context) (*trust.Set, error) { return t.file().Load(ctx) }

func (t *Trust) file() *trust.Store {
	cfg := t.settings.Config()
	return &trust.Store{Path: cfg.Paths.Trust(), Now: t.sys.Now, Home: t.sys.Home, Installed: store.Folder(cfg.PluginsDir), Served: cfg.Paths.Served(), Record: t.observe.Record}
}

// Known returns the approvals read when the catalogue was opened or last reloaded. It is empty before that.
func (t *Trust) Known() *trust.Set {
	if set := t.known.Load(); set != nil {
		return set
	}
	return &trust.Set{}
}

// Reload reads the approvals again; Known and of use them from then on. On error they use the empty set.
func (t *Trust) Reload(ctx context.Context) error {
	t.read.Store(t.mark()) // before it is read: a change in between is found later
	set, err := t.Load(ctx)
	t.known.Store(set)
	return err
}

// Follow reads the approvals again if another program has changed them since they were read.
func (t *Trust) Follow(ctx context.Context) error {
	if t.settings.Fleet() == nil && t.mark().Same(t.read.Load()) {
		return nil
	}
	return t.Reload(ctx)
}

func (t *Trust) mark() *lockfile.Mark { return lockfile.MarkOf(t.settings.Config().Paths.Trust()) }

// Everything reports whether AGENT_SKILLS trusts every skill without an approval.
func (t *Trust) Everything() bool { return t.settings.Config().Want.Mode == skill.SelectAllUntrusted }

// Of returns the trust of a skill. It is a skill.TrustFunc for the catalogue.
func (t *Trust) Of(ctx context.Context, s skill.Subject) (skill.Trust, error) {
	if s.Server != "" { // each content is approved for itself
		return t.Known().Trust(ctx, s)
	}
	if t.Everything() { // scripts run too; the catalogue warns
		return skill.TrustRoot, nil
	}
	if t.isOwn(s.Dir) {
		return skill.TrustRoot, nil
	}
	return t.Known().Trust(ctx, s)
}

// Approve stores approvals; of uses them from then on.
func (t *Trust) Approve(ctx context.Context, list ...trust.Approval) error {
	store, err := t.Edit()
	if err != nil {
		return err
	}
	if err := store.Approve(ctx, list...); err != nil {
		return err
	}
	return t.Reload(ctx)
}

// NewTrust returns what the user has approved.
func NewTrust(sys *setup.System, settings *setup.Settings, observe *observe.Observers) *Trust {
	return &Trust{sys: sys, settings: settings, observe: observe}
}

// As returns the same for other settings: what is trusted while the program runs stays so.
func (t *Trust) As(sys *setup.System, settings *setup.Settings) *Trust {
	other := NewTrust(sys, settings, t.observe)
	other.own.Store(t.own.Load())
	return other
}
