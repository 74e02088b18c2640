package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/skilltest/kalshi"
)

// exchange lets the bundled scripts run for real: it puts uv before the script's PATH, sets AGENT_HOME to a place that
// the tests of this machine share, so that an environment is made once, and points kalshi-markets to the stand-in of the exchange.
func exchange(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: exchange")
	}
	at, err := shared()
	if err != nil {
		ts.Fatalf("the bundled scripts cannot run: %v\nset AGENT_TEST_UV to uv's path, put uv on PATH, or install Python with venv and pip", err)
	}
	ts.Setenv("AGENT_HOME", at.home)
	ts.Setenv("PATH", at.bin+string(filepath.ListSeparator)+ts.Getenv("PATH"))
	for _, kv := range os.Environ() { // where packages come from
		if name, value, _ := strings.Cut(kv, "="); strings.HasPrefix(name, "UV_") || strings.HasSuffix(strings.ToUpper(name), "_PROXY") {
			ts.Setenv(name, value)
		}
	}
	base, stop := kalshi.NewServer(nil).Start()
	ts.Defer(stop)
	ts.Setenv("KALSHI_API_BASE", base)
}

// toolbox is where the tests of this machine keep what is dear to make.
type toolbox struct {
	bin  string // holds uv and nothing else
	home string // AGENT_HOME: nothing is in it but the cache, whose environments know their own path
}

var shared = sync.OnceValues(func() (*toolbox, error) {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	dir = filepath.Join(dir, "agent-base-test")
	uv, err := findUV(filepath.Join(dir, "uv"))
	if err != nil {
		return nil, err
	}
	box := &toolbox{bin: filepath.Join(dir, "bin"), home: filepath.Join(dir, "agent")}
	for _, d := range []string{box.bin, box.home} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return nil, err
		}
	}
	link := filepath.Join(box.bin, "uv")
	if now, err := os.Readlink(link); err == nil && now == uv {
		return box, nil
	}
	_ = os.Remove(link)
	return box, os.Symlink(uv, link)
})

// findUV returns uv: AGENT_TEST_UV, the one on PATH, that of this checkout, else one made once for the tests in home.
func findUV(home string) (string, error) {
	if path := os.Getenv("AGENT_TEST_UV"); path != "" {
		return path, works(path)
	}
	if path, err := exec.LookPath("uv"); err == nil {
		return path, works(path)
	}
	ours, err := filepath.Abs("../../.tools/bin/uv")
	if err == nil && works(ours) == nil {
		return ours, nil
	}
	uv := filepath.Join(home, "bin", "uv")
	if works(uv) == nil {
		return uv, nil
	}
	return uv, installUV(home, uv)
}

func works(uv string) error { return command(uv, "--version") }

func command(argv ...string) error {
	out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(argv, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// installUV builds beside the final place and renames: of two test runs at once, the first wins.
func installUV(home, uv string) error {
	python, err := exec.LookPath("python3")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(home), 0o700); err != nil {
		return err
	}
	draft, err := os.MkdirTemp(filepath.Dir(home), "draft-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(draft)
	if err := command(python, "-m", "venv", draft); err != nil {
		return err
	}
	if err := command(filepath.Join(draft, "bin", "python"), "-m", "pip", "install", "--quiet", "uv>=0.11,<0.14"); err != nil {
		return err
	}
	if err := os.Rename(draft, home); err != nil && works(uv) != nil {
		return err
	}
	return works(uv)
}
