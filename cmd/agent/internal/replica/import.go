package replica

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trust"
)

// What an Item is.
const (
	approval = "approval"
	grant    = "grant"
	entry    = "skill"
	root     = "folder"
)

// Item is one approval, grant, installed skill or trusted folder of a machine.
type Item struct {
	Kind   string `json:"kind"` // approval, grant, skill or folder
	Name   string `json:"name"` // of a skill, or the path of a trusted folder
	Digest string `json:"digest,omitempty"`
	Why    string `json:"why,omitempty"` // why it was left
}

// Report lists the items of a machine by what Import did with them.
type Report struct {
	Brought []Item `json:"brought"`
	There   []Item `json:"there"` // the fleet has the same
	Left    []Item `json:"left"`
}

// Files are the contents of the files of a machine, or of what a fleet has in their place.
type Files struct {
	Trust  *trust.Set
	Skills *registry.Set
}

// importer is one Import.
type importer struct {
	Report
	fleet   Files
	from    *Replica           // nil for an empty fleet
	seen    map[string]uint64  // of its logs
	revoked map[Item]time.Time // by kind, name and digest, "" for all contents of the name
	write   bool
}

// Import adds the items of the files of a machine to the fleet. It changes nothing that the fleet has, and leaves out items that were taken
// back in the fleet after the machine got them, and those that have a meaning on one machine only. Without write, it only reports what it
// would do. A nil Replica is an empty fleet, to which nothing is written.
func (r *Replica) Import(ctx context.Context, from Files, write bool) (*Report, error) {
	i := &importer{fleet: Files{&trust.Set{}, &registry.Set{}}, from: r, seen: map[string]uint64{}, revoked: map[Item]time.Time{}, write: write && r != nil}
	i.Brought, i.There, i.Left = []Item{}, []Item{}, []Item{}
	if r != nil {
		var errs [3]error
		i.fleet.Trust, errs[0] = r.Trust().Load(ctx)
		i.fleet.Skills, errs[1] = r.Skills().Load(ctx)
		errs[2] = i.takenBack(ctx)
		if err := errors.Join(errs[:]...); err != nil {
			return nil, err
		}
	}
	for _, path := range from.Trust.Roots() {
		i.leave(Item{Kind: root, Name: path}, "a trusted folder is one of this machine: install its skills and trust them")
	}
	for _, a := range from.Trust.Approvals() {
		i.approval(ctx, a)
	}
	for _, g := range from.Trust.Grants() {
		i.grant(ctx, g)
	}
	for _, e := range from.Skills.All() {
		i.entry(ctx, e)
	}
	return &i.Report, ctx.Err()
}

// takenBack reads from the log of the fleet when items were last taken back. It reads each record once.
func (i *importer) takenBack(ctx context.Context) error {
	kinds := map[trace.Kind][]string{trace.TrustRevoked: {approval, grant}, trace.GrantRevoked: {grant}, trace.SkillRemoved: {entry}}
	log, err := i.from.log(ctx, i.seen)
	for _, said := range log {
		for _, kind := range kinds[said.Event] {
			i.revoked[Item{Kind: kind, Name: said.Skill, Digest: said.Digest}] = said.At
		}
	}
	return err
}

func (i *importer) leave(it Item, why string) {
	it.Why = why
	i.Left = append(i.Left, it)
}

// settle decides about an item, which the machine got at the time had. there says that the fleet has the same, and other that it has another
// one. local is why the item has no meaning on other machines, or "". write writes it, unless its guard returns an error.
func (i *importer) settle(it Item, had time.Time, there, other bool, local string, write func(guard) error) {
	gone := func() error {
		at := i.revoked[Item{Kind: it.Kind, Name: it.Name}]
		if one := i.revoked[it]; one.After(at) {
			at = one
		}
		if at.IsZero() || at.Before(had) {
			return nil
		}
		return fmt.Errorf("it was taken back in the fleet on %s, after it was given here", at.UTC().Format("2006-01-02 15:04"))
	}
	switch {
	case local != "":
		i.leave(it, local)
	case there:
		i.There = append(i.There, it)
	case other:
		i.leave(it, "the fleet has another one, which stays")
	case gone() != nil:
		i.leave(it, gone().Error())
	default:
		if i.write {
			if err := write(func(ctx context.Context) error { return cmp.Or(i.takenBack(ctx), gone()) }); err != nil {
				i.leave(it, err.Error())
				return
			}
		}
		i.Brought = append(i.Brought, it)
	}
}

// local returns why a record of a place has no meaning on other machines, or "" if it has one.
func local(layer string) string {
	switch {
	case place.IsFolder(layer):
		return "its skill is in a folder of this machine: install it"
	case place.IsServer(layer):
		return "its skill is from a server of tools that is in the settings of this machine"
	}
	return ""
}

func (i *importer) approval(ctx context.Context, a trust.Approval) {
	var there, other bool
	for _, b := range i.fleet.Trust.Approvals() {
		if b.Name == a.Name && b.Layer == a.Layer {
			there, other = b.Is(a.Digest), !b.Is(a.Digest)
		}
	}
	i.settle(Item{Kind: approval, Name: a.Name, Digest: a.Digest}, a.ApprovedAt, there, other, local(a.Layer), func(g guard) error { return i.from.guardedTrust(g).Approve(ctx, a) })
}

func (i *importer) grant(ctx context.Context, g trust.Grant) {
	why := local(g.Layer)
	if err := g.Local(); err != nil {
		why = err.Error()
	}
	var there, other bool
	for _, b := range i.fleet.Trust.Grants() {
		if b.Name == g.Name && b.Layer == g.Layer { // a grant of another content there would be replaced
			there = b.Digest == g.Digest && slices.Equal(b.Given, g.Given) && slices.Equal(b.Withheld, g.Withheld)
			other = !there
		}
	}
	i.settle(Item{Kind: grant, Name: g.Name, Digest: g.Digest}, g.GrantedAt, there, other, why, func(before guard) error {
		return i.from.guardedTrust(before).EditGrant(ctx, g, func(to *trust.Grant) error {
			to.Given, to.Withheld = g.Given, g.Withheld
			return nil
		})
	})
}

func (i *importer) entry(ctx context.Context, e registry.Entry) {
	from := source.Of(source.KindNamed(e.Kind), cmp.Or(e.GitURL, e.Source))
	var why string
	switch {
	case e.Linked:
		why = "it is linked to a folder of this machine"
	case from.Local():
		why = fmt.Sprintf("it was installed from %s, which others do not reach", from)
	case e.Digest == "":
		why = "its entry has no digest: agent skill update " + e.Name
	}
	b, ok := i.fleet.Skills.Get(e.Name)
	had := e.InstalledAt
	if e.UpdatedAt.After(had) {
		had = e.UpdatedAt
	}
	i.settle(Item{Kind: entry, Name: e.Name, Digest: e.Digest}, had, ok && b.Digest == e.Digest, ok && b.Digest != e.Digest, why, func(before guard) (err error) {
		to := i.from.guardedSkills(before)
		e.Previous = nil // others cannot go back to them
		if e.InstalledPath, err = to.Folder(e.Name, e.Digest); err != nil {
			return err
		}
		return to.Register(ctx, e)
	})
}
