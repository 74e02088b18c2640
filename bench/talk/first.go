//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// measureFirst measures agent -p from the start of its process to the first request, and for comparison a program that
// only posts the same bytes.
func (t *talk) measureFirst(ctx context.Context, s *server) error {
	line, env := t.agent(s, "-p", "hi")
	ours, err := t.starts(ctx, s, line, env)
	if err != nil {
		return err
	}
	report("first", t.n, ours)
	body := filepath.Join(t.work, "body")
	if err := os.WriteFile(body, s.Requests()[0].Body, 0o600); err != nil {
		return err
	}
	post := []string{filepath.Join(t.bin, "post"), s.URL + postPath, body}
	least, err := t.starts(ctx, s, post, env)
	if err != nil {
		return err
	}
	report("first-post", t.n, least)
	if err := t.spawn(ctx, "first-process", os.DevNull, line, env); err != nil {
		return err
	}
	return t.spawn(ctx, "first-post-process", os.DevNull, post, env)
}

func (t *talk) starts(ctx context.Context, s *server, line, env []string) ([]time.Duration, error) {
	var all []time.Duration
	for range t.rounds {
		took, err := s.start(ctx, line, env)
		if err != nil {
			return nil, err
		}
		all = append(all, took)
	}
	return all, nil
}
