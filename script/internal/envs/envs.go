// Package envs says which packages the scripts of a skill need, and makes the environments that have them. It runs nothing of the skill.
package envs

import (
	"context"
	"slices"
	"time"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/pyenv"
)

// New returns a Store. It copies o.
func New(o *Options) (*Store, error) {
	st := &Store{o: *o}
	var err error
	st.pythons, err = pyenv.New(&pyenv.Options{Run: st.command, LookPath: o.LookPath, Env: o.Env, Cache: o.Cache,
		MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, FetchPython: o.FetchPython, Hosts: o.Hosts, Progress: o.Progress})
	if err != nil {
		return nil, err
	}
	st.nodes, err = nodeenv.New(&nodeenv.Options{Run: st.command, LookPath: o.LookPath, Env: o.Env, NPMRC: o.NPMRC,
		Cache: o.Cache, MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, Hosts: o.Hosts, Progress: o.Progress})
	return st, err
}

// Lacks returns what a script imports and its environment has not: modules of Python, or else npm packages.
func (st *Store) Lacks(ctx context.Context, of *Of, python bool) []string {
	if python {
		if needs, err := of.pythonNeeds(); err == nil {
			if p, err := st.pythons.Prepare(ctx, st.prepared(ctx, of, needs), nil); err == nil {
				return p.Lacks(Imports(of.Skill, of.Script))
			}
		}
	} else if sc, ok := nodeScript(of.Skill, of.Script); ok {
		if p, err := st.nodes.Prepare(ctx, st.project(ctx, of, sc), nil); err == nil {
			return p.Lacks
		}
	}
	return nil
}

// Unused returns the environments that nobody used since a time, the folders that no record names, and downloads.
func (st *Store) Unused(since time.Time) []envstore.Leftover {
	return slices.Concat(st.pythons.Unused(since), st.nodes.Unused(since))
}
