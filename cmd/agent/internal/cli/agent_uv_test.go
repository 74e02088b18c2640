package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/test/kalshi"
	"github.com/agent-base/agent-base/internal/test/pythontest"
)

// exchange lets the bundled scripts run for real: it puts uv before the script's PATH, sets AGENT_HOME to a place that
// the tests of this machine share, so that an environment is made once, and points kalshi-markets to the stand-in of the exchange.
func exchange(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: exchange")
	}
	at, err := shared()
	if err != nil {
		ts.Fatalf("the bundled scripts cannot run: %v", err)
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
	dir, err := pythontest.Dir()
	if err != nil {
		return nil, err
	}
	uv, err := pythontest.UV()
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
