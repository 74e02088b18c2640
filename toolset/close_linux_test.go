package toolset

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/skill"
)

// Close ends every process, also those that a server started, and a start that is under way.
func TestClose(t *testing.T) {
	h := newHost(t, nil)
	tools := must(t, h, open(t, "demo", fakes(t, "good")))
	r := call(t.Context(), tools["demo.good.fork"], `{}`)
	var pids []int
	if err := json.Unmarshal(r.Result.(json.RawMessage), &pids); err != nil || len(pids) == 0 {
		t.Fatalf("got %+v", r)
	}
	var alive []int // descriptors
	for _, pid := range pids {
		fd, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		alive = append(alive, fd)
	}
	starting := make(chan error, 1)
	hangs := open(t, "hangs", fakes(t, "hang"))
	begun := make(chan struct{})
	go func() {
		_, err := h.Tools(t.Context(), hangs, func(_ context.Context, s *skill.Skill) (*skill.Skill, error) { close(begun); return s, nil })
		starting <- err
	}()
	<-begun
	if err := h.Close(); err != nil {
		t.Error(err)
	}
	if err := <-starting; err == nil || len(Errors(err)) != 1 || Errors(err)[0].Kind != KindClosed {
		t.Errorf("got %v", err)
	}
	for _, pid := range alive {
		if _, err := unix.Poll([]unix.PollFd{{Fd: int32(pid), Events: unix.POLLIN}}, -1); err != nil && !errors.Is(err, unix.EINTR) {
			t.Error(err)
		}
	}
	if r := call(t.Context(), tools["demo.good.text"], `{}`); r.Reason != "toolset_closed" {
		t.Errorf("got %+v", r)
	}
	if err := h.Close(); err != nil {
		t.Error(err)
	}
}
