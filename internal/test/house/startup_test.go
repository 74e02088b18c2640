package house_test

import (
	"bytes"
	"errors"
	"maps"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"
)

// maxInit is the maximum time to initialise one package. The shortest of several starts counts, because it depends least on other
// work on the machine. startupRuns is the most there are: one is enough when nothing takes longer.
const (
	maxInit     = 500 * time.Microsecond
	startupRuns = 50
)

// slowInit lists packages that may take longer, with the reasons.
var slowInit = map[string]string{
	"oras.land/oras-go/v2/registry": "it compiles its patterns, which takes 0.3 ms and more on a busy machine; nothing of ours can delay it",
}

// The command starts fast because no linked package does real work before main.
func TestStartup(t *testing.T) {
	m := module(t)
	if m.Package("cmd/agent") == nil {
		return
	}
	bin := filepath.Join(t.TempDir(), "agent")
	if runtime.GOOS == "windows" {
		bin += ".exe"
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-o", bin, "./cmd/agent") // as other steps build it
	build.Dir = m.Root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building cmd/agent: %v\n%s", err, out)
	}
	protectsFirst(t, bin)
	stageFirst(t, bin)
	for name, took := range leastInit(t, bin, "version") {
		if took > maxInit && slowInit[name] == "" {
			t.Errorf("initialising %s takes %v, more than %v: do it on first use", name, took, maxInit)
		}
	}
}

// protectsFirst checks that the process hides its keys before it does anything that takes time: before the package os is
// initialised, and so nearly every other one.
func protectsFirst(t *testing.T, bin string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	run := exec.CommandContext(t.Context(), bin, "version")
	run.Env = append(run.Environ(), "GODEBUG=inittrace=1", "AGENT_HOME="+t.TempDir())
	trace, err := run.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, trace)
	}
	protects, rest := bytes.Index(trace, []byte("/cmd/agent/internal/protect @")), bytes.Index(trace, []byte("init os @"))
	if protects < 0 || rest < 0 || protects > rest {
		t.Errorf("the keys are hidden too late:\n%s", trace)
	}
}

// stageFirst checks that a stage of a sandbox does its work before the package time is initialised, and so nearly every other one.
// This one has no engine, so it ends at once.
func stageFirst(t *testing.T, bin string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return
	}
	run := exec.CommandContext(t.Context(), bin)
	run.Env = []string{"GODEBUG=inittrace=1", "AGENT_BASE_SANDBOX_STAGE=1"}
	trace, err := run.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || !bytes.Contains(trace, []byte("init syscall @")) || bytes.Contains(trace, []byte("init time @")) {
		t.Errorf("a stage begins too late: %v\n%s", err, trace)
	}
}

// leastInit starts a program until no package takes longer than maxInit, and at most startupRuns times. It returns the shortest
// initialisation of each of its packages.
func leastInit(t *testing.T, bin string, args ...string) map[string]time.Duration {
	t.Helper()
	least := map[string]time.Duration{}
	for range startupRuns {
		run := exec.CommandContext(t.Context(), bin, args...)
		run.Env = append(run.Environ(), "GODEBUG=inittrace=1", "AGENT_HOME="+t.TempDir())
		var stderr bytes.Buffer
		run.Stderr = &stderr
		if err := run.Run(); err != nil {
			t.Fatalf("%s %q: %v\n%s", bin, args, err, &stderr)
		}
		for name, took := range parseInitTrace(stderr.String()) {
			if before, ok := least[name]; !ok || took < before {
				least[name] = took
			}
		}
		if len(least) > 0 && slices.Max(slices.Collect(maps.Values(least))) <= maxInit {
			break
		}
	}
	if len(least) == 0 {
		t.Error("the runtime printed no initialisation times")
	}
	return least
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, (\S+) ms clock`)

func parseInitTrace(text string) map[string]time.Duration {
	times := map[string]time.Duration{}
	for _, match := range initLine.FindAllStringSubmatch(text, -1) {
		if ms, err := strconv.ParseFloat(match[2], 64); err == nil {
			times[match[1]] = time.Duration(ms * float64(time.Millisecond))
		}
	}
	return times
}

func TestParseInitTrace(t *testing.T) {
	got := parseInitTrace("init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs\n" +
		"agent: hello\ninit example.org/slow @1.2 ms, 0.75 ms clock, 4096 bytes, 3 allocs\n")
	if got["example.org/slow"] != 750*time.Microsecond || len(got) != 2 {
		t.Errorf("parsed %v, want two packages, example.org/slow with 750µs", got)
	}
}
