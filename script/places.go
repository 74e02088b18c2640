package script

import (
	"context"

	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/skill"
)

// Home is the private folder that is HOME for the scripts of a skill: the Skill, its absolute Dir, and how many Bytes and Files are in it.
// It stays from run to run.
type Home = places.Home

// HomeOf returns the private home of a skill. A skill whose scripts never ran has an empty one that does not exist.
func (h *Host) HomeOf(ctx context.Context, s *skill.Skill) (Home, error) {
	return h.places.HomeOf(ctx, s)
}

// Homes returns all private homes, by the names of their folders.
func (h *Host) Homes() []Home { return h.places.Homes() }

// ClearHome removes a private home with everything in it, the files that scripts wrote in the skill's folder, and temporary ones. It returns
// an error for a folder that is no home, and if something is left.
func (h *Host) ClearHome(home Home) error { return h.places.ClearHome(home) }

// ClearCaches removes what scripts keep in the cache (AGENT_SKILL_CACHE_DIR), for all skills with this canonical name, with their temporary
// files. It returns how many files the caches had.
func (h *Host) ClearCaches(name string) (files int, err error) { return h.places.ClearCaches(name) }

// ErrInUse is returned by Sweep while a script runs or is prepared.
var ErrInUse = places.ErrInUse

// SweepOptions says what Sweep may remove: sealed copies whose digest is not Needed, environments that were Unused for some time before
// Now; how long it waits for runs to end (Wait); and whether it only reports (DryRun). The zero value removes only unused environments,
// downloads and unfinished work.
type SweepOptions = places.SweepOptions

// Swept is something that Sweep removed: its slash Path in the cache, Why, and how many Bytes. All of it is made again when it is needed.
type Swept = places.Swept

// Sweep removes sealed copies that are not needed, unused environments, downloads that environments have copies of, temporary files that
// are not kept any longer, and the remains of killed preparations and copies from the cache. It removes nothing that is in use: it waits
// for runs to end, and a run that starts meanwhile waits for it. A nil o means the zero value. Sweep returns ErrInUse if the runs do not
// end in time, the error of ctx with what was removed until then, or an error if the cache cannot be locked.
func (h *Host) Sweep(ctx context.Context, o *SweepOptions) ([]Swept, error) {
	return h.places.Sweep(ctx, o, h.envs.Unused)
}
