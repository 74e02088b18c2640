package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/trace"
)

func TestRunJSON(t *testing.T) {
	s := open(t, "", tree{"scripts/echo.py": "import sys, json\nprint(json.dumps({'args': sys.argv[1:]}, indent=2))\nprint('a log line', file=sys.stderr)\n"})
	h := host(t)
	tests := []struct {
		name       string
		args, want []string
	}{
		{"none", nil, []string{"--json"}}, // R101, R103: null is no arguments
		{"given already", []string{"--json", "x"}, []string{"--json", "x"}},
		{"literal", []string{"; rm -rf /", "$(id)", "`id`", "a b", "it's", `"`, "\n", "*", "-", "--help=x", "é"}, // security 2.5 #52, #54
			[]string{"; rm -rf /", "$(id)", "`id`", "a b", "it's", `"`, "\n", "*", "-", "--help=x", "é", "--json"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			res, err := runAs(t, h, s, "echo", &RunOptions{Args: tt.args})
			if err != nil {
				t.Fatal(err)
			}
			var got struct{ Args []string }
			if err := json.Unmarshal(res.JSON, &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Args); diff != "" {
				t.Errorf("arguments differ (-want +got):\n%s", diff)
			}
			if strings.Contains(string(res.JSON), "  ") || res.Duration <= 0 || res.Text != "" || res.Warning != "" {
				t.Errorf("got %+v", res)
			}
		})
	}
	if _, err := runAs(t, h, s, "echo", nil); err != nil {
		t.Errorf("without options: %v", err)
	}
}

// R101: json=false returns text and adds no --json. Security 2.5 #62: bad UTF-8 becomes U+FFFD.
func TestRunText(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": "import sys\nsys.stdout.buffer.write(b'a\\xff\\xfeb\\0' + str(sys.argv[1:]).encode())\n"})
	if got, want := mustText(t, host(t), s, "a", "x"), "a\ufffdb\x00['x']"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What a run's output means, told by a runner that gives it.
func TestRunAnswers(t *testing.T) {
	long := strings.Repeat("é", 300)
	tests := []struct {
		name   string
		out    runner.Output
		text   bool
		want   string // JSON or text
		code   fail.Code
		msg    string // exact
		said   any
		reason string
	}{
		{name: "false success is a result", out: runner.Output{Stdout: []byte(`{"success": false}`)}, want: `{"success":false}`}, // security 2.5 #84
		{name: "scalar", out: runner.Output{Stdout: []byte(" 7\n")}, want: `7`},
		{name: "byte order mark", out: runner.Output{Stdout: []byte("\ufeff[]")}, want: `[]`}, // security 2.5 #62
		{name: "bad UTF-8 in a string", out: runner.Output{Stdout: []byte("[\"a\xffb\"]")}, want: `["a` + "\ufffd" + `b"]`},
		{name: "half characters", out: runner.Output{Stdout: []byte(`["\ud83d\ude00","\ud83d","\uDE00x","\\ud83d","\ud83d\ud83d\ude00"]`)},
			want: `["\ud83d\ude00","\ufffd","\ufffdx","\\ud83d","\ufffd\ud83d\ude00"]`},
		{name: "no JSON", out: runner.Output{Stdout: []byte("hello\n"), Stderr: []byte("why\n")}, code: ParseError, msg: "Expected JSON output, got: hello\n\nstderr: why", said: "hello\n"}, // R104
		{name: "200 characters", out: runner.Output{Stdout: []byte(long)}, code: ParseError, msg: "Expected JSON output, got: " + long[:400], said: long},
		{name: "nothing", code: ParseError, msg: "Expected JSON output, got: "},
		{name: "NaN", out: runner.Output{Stdout: []byte("NaN")}, code: ParseError, msg: "Expected JSON output, got: NaN", said: "NaN"},
		{name: "two documents", out: runner.Output{Stdout: []byte("{} {}")}, code: ParseError, msg: "Expected JSON output, got: {} {}", said: "{} {}"},
		{name: "log line before", out: runner.Output{Stdout: []byte("log\n{}")}, code: ParseError, msg: "Expected JSON output, got: log\n{}", said: "log\n{}"},
		{name: "truncated JSON", out: runner.Output{Stdout: []byte("[1,1"), Total: 2 << 20, Truncated: true, Stopped: true, ExitCode: 143, Stderr: []byte("w")}, // C31
			code: ParseError, msg: "Expected JSON output, but it was truncated at 1048576 bytes\nstderr: w", said: "[1,1"},
		{name: "truncated text", text: true, out: runner.Output{Stdout: []byte("abc"), Total: 10, Truncated: true}, want: "abc"},
		{name: "exit code", out: runner.Output{ExitCode: 3, Stderr: []byte("boom\n")}, code: ExecutionFailed, msg: "Script failed with exit code 3\nstderr: boom"},
		{name: "exit code beats JSON", out: runner.Output{ExitCode: 1, Stdout: []byte(`{"success": true}`), Stderr: []byte("x")}, // security 2.5 #84
			code: ExecutionFailed, msg: "Script failed with exit code 1\nstderr: x", said: json.RawMessage(`{"success":true}`)},
		{name: "error on stdout", out: runner.Output{ExitCode: 1, Stdout: []byte(`{"error": "no market"}` + "\n")}, // lessons 2.1 #3
			code: ExecutionFailed, msg: "Script failed with exit code 1\nstdout: {\"error\": \"no market\"}", said: json.RawMessage(`{"error":"no market"}`)},
		{name: "tail of stderr", out: runner.Output{ExitCode: 1, Stderr: []byte(strings.Repeat("é", 300))}, // R103: 500 bytes, whole characters
			code: ExecutionFailed, msg: "Script failed with exit code 1\nstderr: " + strings.Repeat("é", 250)},
		{name: "tail of stderr cut inside a character", out: runner.Output{ExitCode: 1, Stderr: []byte(strings.Repeat("é", 300) + "x")},
			code: ExecutionFailed, msg: "Script failed with exit code 1\nstderr: " + strings.Repeat("é", 249) + "x"},
		{name: "signal", out: runner.Output{ExitCode: 139, Signal: "segmentation fault"}, code: ExecutionFailed, msg: "Script failed with exit code 139 (signal: segmentation fault)"},
		{name: "processor time", out: runner.Output{ExitCode: 152, Signal: runner.OutOfCPU}, code: ExecutionFailed, msg: "Script failed with exit code 152 (it used more than 61s of processor time)"},
		{name: "memory", out: runner.Output{ExitCode: 137, Signal: "killed", Outgrown: true}, code: ExecutionFailed, msg: "Script failed with exit code 137 (it was ended: it and its processes took more than 0 bytes of memory)"},
		{name: "file size", out: runner.Output{ExitCode: 153, Signal: runner.FileTooLarge}, code: ExecutionFailed, msg: "Script failed with exit code 153 (it wrote a file of more than 268435456 bytes)"},
		{name: "timeout", out: runner.Output{TimedOut: true, ExitCode: 143, Stderr: []byte("slow"), Stdout: []byte("part")}, // C34, R104
			code: Timeout, msg: "Script timed out after 60s\nstderr: slow", said: "part"},
	}
	s := open(t, "", tree{"scripts/a.sh": ""})
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := host(t)
			h.Runner = &canned{out: tt.out}
			mode := JSONYes
			if tt.text {
				mode = JSONNo
			}
			res, err := runAs(t, h, s, "a", &RunOptions{JSON: mode})
			if tt.code == "" {
				if err != nil {
					t.Fatal(err)
				}
				if got := string(res.JSON) + res.Text; got != tt.want {
					t.Errorf("got %s, want %s", got, tt.want)
				}
				if (res.Warning != "") != tt.out.Truncated || tt.out.Truncated && res.Warning != "output truncated at 1048576 bytes, 7 were dropped" {
					t.Errorf("got warning %q", res.Warning)
				}
				return
			}
			e := failure(t, err, tt.code, tt.reason)
			if e.Message != tt.msg || e.Error() != tt.msg {
				t.Errorf("got %q, want %q", e.Message, tt.msg)
			}
			if diff := cmp.Diff(tt.said, e.Said()); diff != "" {
				t.Errorf("what it said differs (-want +got):\n%s", diff)
			}
		})
	}
}

// R100, C35, 1.3: help is a run of --help; usage is its own paragraph.
func TestHelp(t *testing.T) {
	s := open(t, "", tree{
		"scripts/arg.py":    "import argparse\np = argparse.ArgumentParser(prog='arg', description='What it does.')\np.add_argument('--limit', help='how many')\np.parse_args()\n",
		"scripts/click.sh":  "[ \"$*\" = --help ] || exit 1\nprintf 'Usage: click [OPTIONS]\\n             [NAME]\\n\\n  Text.\\n'\n",
		"scripts/stderr.sh": "echo 'usage: x' >&2\n",
		"scripts/none.sh":   "echo just text\n",
		"scripts/fails.sh":  "echo no such option >&2\nexit 2\n",
	})
	h := host(t)
	help := func(name string) (*HelpText, error) {
		sc, err := Find(t.Context(), s, name, nil)
		if err != nil {
			t.Fatal(err)
		}
		return h.Help(t.Context(), s, sc)
	}
	for name, want := range map[string]HelpText{
		"click":  {"Usage: click [OPTIONS]\n             [NAME]\n\n  Text.\n", "Usage: click [OPTIONS]\n             [NAME]", false},
		"stderr": {"usage: x\n", "usage: x", false},
		"none":   {"just text\n", "", false},
	} {
		got, err := help(name)
		if err != nil || *got != want {
			t.Errorf("%s: got %+v, %v, want %+v", name, got, err, want)
		}
	}
	got, err := help("arg")
	if err != nil || got.Usage != "usage: arg [-h] [--limit LIMIT]" || !strings.Contains(got.Text, "What it does.") {
		t.Errorf("got %+v, %v", got, err)
	}
	_, err = help("fails")
	failure(t, err, ExecutionFailed, "", "Script failed with exit code 2\nstderr: no such option")
	c := &canned{}
	h.Runner, h.Timeout = c, time.Hour
	if _, err := help("none"); err != nil || c.commands[0].Timeout != DefaultTimeout {
		t.Errorf("got %v, timeout %s", err, c.commands[0].Timeout) // R100: 60 s
	}
}

// C27, C28, R105, R187: what a command is made of.
func TestCommand(t *testing.T) {
	s := open(t, "", tree{"scripts/a.sh": ""})
	dir, err := s.Dir(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h := host(t)
	h.Workspace = t.TempDir()
	sh, err := h.LookPath("bash")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		cwd, dir       string
		timeout, own   time.Duration
		wantTime       time.Duration
		max, wantBytes int64
	}{
		{"", filepath.Join(dir, "scripts"), 0, 0, time.Minute, 0, 1 << 20},
		{"script", filepath.Join(dir, "scripts"), time.Second, 0, time.Second, 10, 10},
		{"skill", dir, time.Second, time.Hour, time.Hour, 0, 1 << 20},
		{"workspace", h.Workspace, 0, 2 * time.Second, 2 * time.Second, 0, 1 << 20},
	} {
		c := &canned{out: runner.Output{Stdout: []byte("1")}}
		h.Runner, h.Cwd, h.Timeout, h.MaxOutput = c, tt.cwd, tt.timeout, tt.max
		if _, err := runAs(t, h, s, "a", &RunOptions{Args: []string{"x"}, Timeout: tt.own}); err != nil {
			t.Fatal(err)
		}
		got := c.commands[0]
		if got.Dir != tt.dir || got.Timeout != tt.wantTime || got.MaxStdout != tt.wantBytes || !got.StopAtMax || got.Grace != 2*time.Second {
			t.Errorf("%q: got %+v", tt.cwd, got)
		}
		if want := []string{sh, filepath.Join(dir, "scripts", "a.sh"), "x", "--json"}; got.Path != sh || !slices.Equal(got.Args, want) {
			t.Errorf("got %q %q, want %q", got.Path, got.Args, want)
		}
		if want := (runner.Limits{FileSize: 256 << 20, OpenFiles: 1024, CPU: tt.wantTime + time.Second}); got.Limits != want || got.Phase != runner.Execute {
			t.Errorf("got %+v %s", got.Limits, got.Phase)
		}
		if !slices.Equal(got.Read, []string{dir, h.Workspace}) || len(got.Write) != 4 || got.Confine != runner.ConfineAuto || got.Network.All || len(got.Network.Hosts) > 0 {
			t.Errorf("got read %q, write %q", got.Read, got.Write)
		}
	}
}

// C28, C67, security 2.5 #86: each run has its own work directory and TMPDIR, which go; the home and the cache stay.
func TestWorkplaces(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": `
import json, os, sys
e = os.environ
for d in (e["TMPDIR"], e["AGENT_SKILL_WORK_DIR"]):
    assert os.listdir(d) == [] and os.stat(d).st_mode & 0o77 == 0, d
    open(d + "/mine", "w").write("x")
assert os.stat(e["HOME"]).st_mode & 0o77 == 0, e["HOME"]
for d in (e["HOME"], e["AGENT_SKILL_CACHE_DIR"]):
    with open(d + "/count", "a") as f: f.write("x")
os.makedirs(e["TMPDIR"] + "/locked/below"); os.chmod(e["TMPDIR"] + "/locked", 0)
print(json.dumps([e["AGENT_SKILL_WORK_DIR"], e["AGENT_SKILL_CACHE_DIR"], e["AGENT_SKILL_NAME"], e["AGENT_SKILL_DIR"], os.getcwd()]))
`})
	h := host(t)
	dir, _ := s.Dir(t.Context())
	var mu sync.Mutex
	seen := map[string]bool{}
	var wait sync.WaitGroup
	for range 6 {
		wait.Go(func() {
			res, err := runAs(t, h, s, "a", nil)
			if err != nil {
				t.Error(err)
				return
			}
			var got []string
			if err := json.Unmarshal(res.JSON, &got); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(filepath.Dir(got[0])); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("%s is left: %v", got[0], err)
			}
			if got[2] != "probe" || got[3] != dir || got[4] != filepath.Join(dir, "scripts") {
				t.Errorf("got %q", got)
			}
			mu.Lock()
			defer mu.Unlock()
			seen[got[0]] = true
			seen[got[1]] = true
		})
	}
	wait.Wait()
	if len(seen) != 7 {
		t.Errorf("got %d folders, want 6 work directories and one cache: %v", len(seen), seen)
	}
	for _, kept := range []string{"skill-cache", "homes"} {
		found, _ := filepath.Glob(filepath.Join(h.Cache, kept, "probe-*", "count"))
		if len(found) != 1 {
			t.Fatalf("got %q in %s", found, kept)
		}
		if b, err := os.ReadFile(found[0]); err != nil || len(b) != 6 {
			t.Errorf("got %q, %v", b, err)
		}
	}
}

// Two skills of one name in different places do not share a cache.
func TestCacheIsOfOneSkill(t *testing.T) {
	h := host(t)
	a, b := open(t, "", tree{"scripts/a.sh": "echo $AGENT_SKILL_CACHE_DIR\n"}), open(t, "", tree{"scripts/a.sh": "echo $AGENT_SKILL_CACHE_DIR\n"})
	if x, y := mustText(t, h, a, "a"), mustText(t, h, b, "a"); x == y || mustText(t, h, a, "a") != x {
		t.Errorf("got %s and %s", x, y)
	}
}

// What a killed engine left is removed by the next one, what is young is not.
func TestSweepRuns(t *testing.T) {
	h := host(t)
	work := filepath.Join(h.Cache, "work")
	for name, age := range map[string]time.Duration{"run-old": 48 * time.Hour, "run-new": time.Minute, "other": 48 * time.Hour} {
		dir := filepath.Join(work, name)
		if err := os.MkdirAll(filepath.Join(dir, "x"), 0o700); err != nil {
			t.Fatal(err)
		}
		then := time.Now().Add(-age)
		if err := os.Chtimes(dir, then, then); err != nil {
			t.Fatal(err)
		}
	}
	mustText(t, h, open(t, "", tree{"scripts/a.sh": ""}), "a")
	entries, err := os.ReadDir(work)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, d := range entries {
		left = append(left, d.Name())
	}
	if !slices.Equal(left, []string{"other", "run-new"}) {
		t.Errorf("got %q", left)
	}
}

func TestRunCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	h := host(t)
	h.Runner = runner.RunnerFunc(func(ctx context.Context, _ *runner.Command) (*runner.Output, error) {
		cancel()
		return nil, ctx.Err()
	})
	s := open(t, "", tree{"scripts/a.sh": ""})
	if _, err := h.Run(ctx, s, Script{Name: "a", File: "scripts/a.sh"}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// R164, R166: an event when a run starts and one when it ends, with its failure.
func TestRunIsTraced(t *testing.T) {
	var got []string
	h := host(t)
	h.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) {
		got = append(got, fmt.Sprintln(e.Kind, e.Level, e.Skill, e.Script, e.Message, e.Duration > 0, e.Err != nil, e.Attrs))
	})
	s := open(t, "", tree{"scripts/ok.sh": "echo 1\n", "scripts/bad.sh": "exit 4\n", "scripts/slow.sh": ""})
	started := func(name, attrs string) string {
		return fmt.Sprintln(trace.ScriptStarted, "DEBUG", "probe", name, "", false, false, attrs)
	}
	facts := func(exit, bytes int, more ...string) string {
		return fmt.Sprint(append([]string{fmt.Sprintf("program=bash exit_code=%d stdout_bytes=%d stderr_bytes=0 sandbox=off", exit, bytes)}, more...))
	}
	_, _ = runAs(t, h, s, "ok", nil)
	_, _ = runAs(t, h, s, "bad", nil)
	_, _ = h.Help(t.Context(), s, Script{Name: "ok", File: "scripts/ok.sh"})
	_, _ = runAs(t, h, s, "ok", &RunOptions{Args: []string{"\x00"}})
	h.Runner = &canned{out: runner.Output{TimedOut: true}}
	_, _ = runAs(t, h, s, "slow", nil)
	want := []string{
		started("ok", "[]"),
		fmt.Sprintln(trace.ScriptRun, "INFO", "probe", "ok", "Executed ok script", true, false, facts(0, 2)),
		started("bad", "[]"),
		fmt.Sprintln(trace.ScriptRun, "ERROR", "probe", "bad", "Script bad failed", true, true, facts(4, 0, "code=execution_failed")),
		started("ok", "[help=true]"),
		fmt.Sprintln(trace.ScriptRun, "INFO", "probe", "ok", "Retrieved help for ok", true, false, "[help=true]"),
		started("ok", "[]"),
		fmt.Sprintln(trace.ScriptRun, "ERROR", "probe", "ok", "Script ok failed", true, true, "[code=execution_failed reason=invalid_arguments]"),
		started("slow", "[]"),
		fmt.Sprintln(trace.ScriptRun, "ERROR", "probe", "slow", "Script slow failed", true, true, facts(0, 0, "code=timeout")),
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}
