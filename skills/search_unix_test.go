//go:build unix

package skills_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

func TestSearchKeepsWhatItHasWhenItIsEnded(t *testing.T) {
	t.Parallel()
	reached, release := make(chan struct{}), make(chan struct{})
	s := openSearch(t, &kalshi.Options{PageSize: 1, Fail: func(n int, _ kalshi.Request) *kalshi.Failure {
		if n == 2 {
			close(reached)
			<-release
		}
		return nil
	}})
	t.Cleanup(func() { close(release) }) // before the server is closed
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, python(t), absolute(t, "kalshi-markets/scripts/search.py"), "bitcoin", "--json")
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir}, s.env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	select {
	case <-reached:
	case <-ctx.Done():
		t.Error("the second page was not requested")
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 {
		t.Errorf("ended with %v, stderr %q", err, stderr.String())
	}
	if rows := s.index(t)["rows"].([]any); len(rows) != 2 {
		t.Errorf("%d markets were kept, want 2", len(rows))
	}
}
