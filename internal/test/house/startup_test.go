package house_test

import (
	"bytes"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"testing"
)

// maxInit is the most bytes of memory that the initialisation of one package may ask for. What takes time there, such as compiling regular
// expressions or filling tables, asks for memory, and unlike the time its amount does not depend on other work on the machine: on a
// quiet one 128 KiB take about 0.3 ms.
const maxInit = 160 << 10

// largeInit lists packages that may ask for more, with the reasons.
var largeInit = map[string]string{
	"github.com/nats-io/nats-server/v2/server": "its table of errors: 0.3 ms, and all that it brings 1.5 ms at most",
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
	for name, size := range initialised(t, bin, "version") {
		if size > maxInit && largeInit[name] == "" {
			t.Errorf("initialising %s takes %d bytes of memory, more than %d: do it on first use", name, size, maxInit)
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

// initialised starts a program and returns how many bytes each of its packages asked for while it was initialised.
func initialised(t *testing.T, bin string, args ...string) map[string]int {
	t.Helper()
	run := exec.CommandContext(t.Context(), bin, args...)
	run.Env = append(run.Environ(), "GODEBUG=inittrace=1", "AGENT_HOME="+t.TempDir())
	var stderr bytes.Buffer
	run.Stderr = &stderr
	if err := run.Run(); err != nil {
		t.Fatalf("%s %q: %v\n%s", bin, args, err, &stderr)
	}
	sizes := parseInitTrace(stderr.String())
	if len(sizes) == 0 {
		t.Error("the runtime printed nothing about initialisation")
	}
	return sizes
}

var initLine = regexp.MustCompile(`(?m)^init (\S+) @\S+ ms, \S+ ms clock, (\d+) bytes`)

func parseInitTrace(text string) map[string]int {
	sizes := map[string]int{}
	for _, match := range initLine.FindAllStringSubmatch(text, -1) {
		sizes[match[1]], _ = strconv.Atoi(match[2])
	}
	return sizes
}

func TestParseInitTrace(t *testing.T) {
	got := parseInitTrace("init internal/bytealg @0.008 ms, 0 ms clock, 0 bytes, 0 allocs\n" +
		"agent: hello\ninit example.org/large @1.2 ms, 0.75 ms clock, 4096 bytes, 3 allocs\n")
	if got["example.org/large"] != 4096 || len(got) != 2 {
		t.Errorf("parsed %v, want two packages, example.org/large with 4096 bytes", got)
	}
}
