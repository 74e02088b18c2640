// Package envs says which packages the scripts of a skill need, and makes the environments that have them. It runs nothing of the skill.
package envs

import (
	"context"
	"slices"
	"strings"
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
		MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, FetchPython: o.FetchPython, Hosts: o.Hosts, Progress: o.Progress, Chosen: o.chosen(keyPython)})
	if err != nil {
		return nil, err
	}
	st.nodes, err = nodeenv.New(&nodeenv.Options{Run: st.command, LookPath: o.LookPath, Env: o.Env, NPMRC: o.NPMRC,
		Cache: o.Cache, MaxBytes: o.MaxBytes, MaxTime: o.MaxTime, Hosts: o.Hosts, Progress: o.Progress, Chosen: o.chosen(keyNode)})
	return st, err
}

// What the keys of choices begin with.
const (
	keyPython = "python "
	keyNode   = "node "
)

// chosen returns what asks for choices of one kind.
func (o *Options) chosen(kind string) envstore.Chosen {
	if o.Chosen == nil {
		return nil
	}
	return func(ctx context.Context, key string) ([]byte, error) { return o.Chosen(ctx, kind+key) }
}

// Chosen returns the versions of packages that this Store has chosen for a key, nil if it has none. The key is one that another Store has
// asked its Options.Chosen for.
func (st *Store) Chosen(key string) []byte {
	if k, ok := strings.CutPrefix(key, keyPython); ok {
		return st.pythons.Chosen(k)
	}
	if k, ok := strings.CutPrefix(key, keyNode); ok {
		return st.nodes.Chosen(k)
	}
	return nil
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
