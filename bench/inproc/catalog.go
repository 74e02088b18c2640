package main

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// open reads the skills of a tree.
func open(ctx context.Context, tree string) (*skill.Catalog, error) {
	source := skill.Dir(filepath.Join(tree, "skills"), nil)
	return skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "bench", Source: source}}})
}

func entries(c *skill.Catalog) []skill.Entry {
	var all []skill.Entry
	for e := range c.Visible() {
		all = append(all, e)
	}
	return all
}

// measureOpen measures a whole discovery, and the memory that the catalogue keeps for each skill.
func measureOpen(ctx context.Context, tree string, rounds int) error {
	var c *skill.Catalog
	sorted, err := times(rounds, func(int) (err error) {
		c, err = open(ctx, tree)
		return err
	})
	if err != nil {
		return err
	}
	n := len(entries(c))
	with := heap()
	runtime.KeepAlive(c)
	c = nil
	report("open", n, sorted, fmt.Sprintf("heap=%dB", (with-heap())/max(n, 1)))
	return nil
}

// measureRefresh measures a discovery that finds no change.
func measureRefresh(ctx context.Context, tree string, rounds int) error {
	c, err := open(ctx, tree)
	if err != nil {
		return err
	}
	sorted, err := times(rounds, func(int) (err error) {
		c, err = c.Refresh(ctx)
		return err
	})
	if err != nil {
		return err
	}
	report("refresh", len(entries(c)), sorted, "")
	return nil
}

// measureLoad measures the activation of one skill, a different one each time, and for comparison the minimum: opening,
// reading and hashing the same file.
func measureLoad(ctx context.Context, tree string, rounds int) error {
	c, err := open(ctx, tree)
	if err != nil {
		return err
	}
	all := entries(c)
	if len(all) == 0 {
		return fmt.Errorf("no skills in %q", tree)
	}
	pick := func(seed uint64) func() skill.Entry {
		r := rand.New(rand.NewPCG(seed, seed))
		return func() skill.Entry { return all[r.IntN(len(all))] }
	}
	next := pick(1)
	loads, err := times(rounds, func(int) error {
		s, err := next().Load(ctx)
		if err != nil {
			return err
		}
		return s.Close()
	})
	if err != nil {
		return err
	}
	next = pick(1)
	reads, err := times(rounds, func(int) error {
		return readAndHash(filepath.Join(tree, "skills", next().Path(), "SKILL.md"))
	})
	if err != nil {
		return err
	}
	report("load", len(all), loads, "")
	report("read+sha256", len(all), reads, "")
	return nil
}

func readAndHash(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	content := make([]byte, info.Size())
	if _, err := io.ReadFull(f, content); err != nil {
		return err
	}
	_ = sha256.Sum256(content)
	return nil
}

// measureRender measures the list of skills for a model: the first rendering and later ones.
func measureRender(ctx context.Context, tree string, rounds int) error {
	c, err := open(ctx, tree)
	if err != nil {
		return err
	}
	n := len(entries(c))
	for _, style := range []disclose.Style{disclose.Harness, disclose.Markdown} {
		sorted, err := times(rounds, func(int) error {
			_, err := disclose.Catalog(ctx, c, &disclose.Options{Style: style})
			return err
		})
		if err != nil {
			return err
		}
		text, err := disclose.Catalog(ctx, c, &disclose.Options{Style: style})
		if err != nil {
			return err
		}
		report("render-"+string(style), n, sorted, fmt.Sprintf("tokens=%.1f", float64(text.Tokens)/float64(max(n, 1))))
	}
	return nil
}
