//go:build linux

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// measureTurns measures a conversation of n turns, each with a tool call: the time of a turn without the server's, and
// the peak memory of the whole command. For comparison it measures a loop that only posts the same requests.
func (t *talk) measureTurns(ctx context.Context, s *server) error {
	prompts := filepath.Join(t.work, "prompts")
	line, env := t.agent(s)
	for _, n := range []int{1, t.n} {
		if err := os.WriteFile(prompts, []byte(strings.Repeat("Please call hello for Ada.\n", n)), 0o600); err != nil {
			return err
		}
		s.taken()
		if err := t.spawn(ctx, fmt.Sprintf("turns-%d", n), prompts, line, env); err != nil {
			return err
		}
	}
	report("turn", t.n, perTurn(s.taken()))
	requests := s.Requests()
	requests = requests[len(requests)-2*t.n:]
	for _, r := range requests {
		if err := post(ctx, s, r); err != nil {
			return err
		}
	}
	report("turn-post", t.n, perTurn(s.taken()))
	return nil
}

// perTurn returns how long the server waited in each turn after the first. A turn has two requests; a wait lasts from the
// end of one answer to the next request.
func perTurn(all []exchange) []time.Duration {
	var out []time.Duration
	for i := 2; i+1 < len(all); i += 2 {
		out = append(out, all[i].came.Sub(all[i-1].left)+all[i+1].came.Sub(all[i].left))
	}
	return out
}

// post sends a request again and reads the whole answer.
func post(ctx context.Context, s *server, r *fakemodel.Request) error {
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, s.URL+r.Path, bytes.NewReader(r.Body))
	if err != nil {
		return err
	}
	q.Header = r.Header
	resp, err := http.DefaultClient.Do(q)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// spawn starts a program with bench/limit/spawn.c, which measures its peak memory, and prints the figures under a name.
func (t *talk) spawn(ctx context.Context, name, stdin string, line, env []string) error {
	rounds := 1
	if stdin == os.DevNull {
		rounds = t.rounds
	}
	args := append([]string{"-i", stdin, strconv.Itoa(rounds)}, line...)
	cmd := exec.CommandContext(ctx, filepath.Join(t.bin, "spawn"), args...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return err
	}
	fmt.Print(strings.Replace(string(out), "spawn ", name+" ", 1))
	return nil
}
