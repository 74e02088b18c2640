package script

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// Where the cache is below /tmp, the folders that a sandbox makes in the kept folder to mount those of a run go with the run. What a script left in
// their place stays.
func TestTempUnmade(t *testing.T) {
	h := host(t)
	var err error
	if h.Cache, err = os.MkdirTemp(runner.SystemTemp, "cache"); err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(h.Cache)
	h.KeepTemp = time.Hour
	s := keeper(t)
	var made string
	fill := false
	h.Runner = runner.RunnerFunc(func(_ context.Context, c *runner.Command) (*runner.Output, error) {
		i := slices.IndexFunc(c.Own, func(dir string) bool { return filepath.Base(dir) == "work" })
		below, err := filepath.Rel(runner.SystemTemp, c.Own[i])
		if err != nil {
			t.Fatal(err)
		}
		made = filepath.Join(c.Temp, below)
		if err = os.MkdirAll(made, 0o700); err == nil && fill {
			err = os.WriteFile(filepath.Join(made, "file"), nil, 0o600)
		}
		return &runner.Output{}, err
	})
	for _, fill = range []bool{false, true} {
		mustText(t, h, s, "a")
		if _, err := os.Stat(filepath.Dir(made)); (err == nil) != fill {
			t.Errorf("with a file %v: %v", fill, err)
		}
		if _, err := os.Stat(filepath.Dir(filepath.Dir(made))); err != nil {
			t.Error("what other runs need is gone")
		}
	}
}
