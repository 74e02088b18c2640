package script

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// input is a standard input that notes whether it was closed.
type input struct {
	io.Reader
	closed bool
}

func (i *input) Close() error {
	i.closed = true
	return nil
}

// C46, C65, C67: a program that a skill names talks over its streams, starts in its folder, and has the home and the variables
// of a script, and a secret that it prints is taken out.
func TestServeCommand(t *testing.T) {
	h := host(t)
	h.Env = append(h.Env, "PROBE_TOKEN=hush-hush-1")
	h.Granted = func(context.Context, *skill.Skill) (Grant, error) {
		return Grant{Given: want.New(want.VariableOf("PROBE_TOKEN"))}, nil
	}
	s := open(t, "", tree{
		"bin/server*":  "#!/bin/sh\nread line\necho \"$line $1 $EXTRA ${PWD##*/} ${HOME##*/}\"\necho \"key $PROBE_TOKEN\" >&2\nexit 4\n",
		"data/here.md": "",
	})
	home, err := h.host().HomeOf(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	var out closing
	var log bytes.Buffer
	in := &input{Reader: strings.NewReader("hello\n")}
	var seen *Serving
	served, err := h.host().Serve(t.Context(), s, &ServeOptions{
		Name: "server probe", Command: "./bin/server", Dir: "data", In: in, Out: &out, Err: &log,
		Fill: func(dir string, value func(string) (string, bool)) ([]string, map[string]string, error) {
			token, _ := value("PROBE_TOKEN")
			_, stranger := value("NOT_GRANTED")
			if dir != dirOf(t, s) || token != "hush-hush-1" || stranger {
				t.Errorf("got %q %q %v", dir, token, stranger)
			}
			return []string{"first"}, map[string]string{"EXTRA": "more"}, nil
		},
		Started: func(now *Serving) { seen = now },
	})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := out.String(), "hello first more data "+filepath.Base(home.Dir)+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if served.ExitCode != 4 || served.Stdout != int64(out.Len()) || string(served.Stderr) != "key [redacted PROBE_TOKEN]\n" || served.Sandbox.Tier != runner.NoSandbox || served.Cause != nil {
		t.Errorf("got %+v, stderr %q", served, served.Stderr)
	}
	if !in.closed || seen == nil || seen.Dir != dirOf(t, s) || seen.Redact.String(log.String()) != string(served.Stderr) {
		t.Errorf("closed: %v, started: %+v", in.closed, seen)
	}
	if left, err := os.ReadDir(filepath.Join(h.host().o.Cache, "work")); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}

// C46: the engine's own program for the files of a skill is run by their interpreter, which has the packages that all of them need.
func TestServeFiles(t *testing.T) {
	h := uvHost(t, index(t))
	own := filepath.Join(t.TempDir(), "own.py")
	tree{"own.py": "import dep, sys\nprint(dep.VALUE, sys.flags.isolated, sys.argv[1:])\n"}.Write(t, filepath.Dir(own))
	s := open(t, "", tree{"toolsets/a.py": "x = 1\n", "toolsets/b.py": needs("", "dep")})
	o := &ServeOptions{Name: "toolset probe", Files: []string{"toolsets/a.py", "toolsets/b.py"}, Program: own,
		Fill: func(string, func(string) (string, bool)) ([]string, map[string]string, error) {
			return []string{"x"}, nil, nil
		}}
	p := &Program{Name: o.Name, Files: o.Files, Own: []string{"dep"}}
	if d, needed := p.Dependencies(s, nil); !needed || d.Err != nil || !slices.Equal(d.Packages, []string{"dep"}) || len(d.Scripts) != 1 || d.Scripts[0].Name != o.Name {
		t.Errorf("got %+v %v", d, needed)
	}
	for _, made := range []bool{true, false} {
		got, err := h.host().PrepareProgram(t.Context(), s, p, nil)
		if err != nil || got.Made != made || !got.Needed || !slices.Equal(got.Packages, []string{"dep==1.0"}) || len(got.Scripts) != 1 {
			t.Errorf("made %v: got %+v, %v", made, got, err)
		}
	}
	var out closing
	o.Out = &out
	served, err := withoutUV(h).host().Serve(t.Context(), s, o) // what was prepared is what it uses
	if err != nil || served.ExitCode != 0 || out.String() != "one 1 ['x']\n" || !out.closed {
		t.Errorf("got %+v, %v, %q", served, err, out.String())
	}
}

// closing is a buffer that knows that it was closed.
type closing struct {
	bytes.Buffer
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// C68: the same for JavaScript, with npm packages.
func TestServeNode(t *testing.T) {
	h, registry, files := nodeRig(t)
	own := filepath.Join(t.TempDir(), "own.mjs")
	tree{"own.mjs": "console.log((await import(process.argv[2])).default)\n"}.Write(t, filepath.Dir(own))
	files["toolsets/a.js"] = "import cjs from 'cjs'; import esm from 'esm'\nexport default cjs + ' ' + esm\n"
	s := open(t, "", files)
	o := &ServeOptions{Name: "toolset probe", Files: []string{"toolsets/a.js"}, Program: own}
	p := &Program{Name: o.Name, Files: o.Files, Own: []string{NPM + "@agent/tools"}}
	if d, needed := p.Dependencies(s, nil); !needed || d.Err != nil || !slices.Equal(d.Packages, []string{NPM + "cjs@1", NPM + "esm@1"}) {
		t.Errorf("got %+v %v", d, needed)
	}
	if got, err := h.host().PrepareProgram(t.Context(), s, p, nil); err != nil || !got.Made || !slices.Equal(got.Packages, []string{"cjs@1.0.0", "esm@1.0.0"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	registry.Close()
	var out closing
	o.Out = &out
	o.Fill = func(dir string, _ func(string) (string, bool)) ([]string, map[string]string, error) {
		return []string{filepath.Join(dir, "toolsets", "a.js")}, nil, nil
	}
	if served, err := h.host().Serve(t.Context(), s, o); err != nil || served.ExitCode != 0 || out.String() != "cjs@1.0.0 esm\n" {
		t.Errorf("got %+v, %v, %q", served, err, out.String())
	}
}

// C46: a program that ends because a module or a host is missing says which: the caller's message has the cure.
func TestServeLacks(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.py")
	s := open(t, "", tree{"toolsets/a.py": "import absent\n"})
	o := &ServeOptions{Name: "toolset probe", Files: []string{"toolsets/a.py"}, Program: own}
	lost := runner.Output{ExitCode: 1, Stderr: []byte("Traceback (most recent call last):\nModuleNotFoundError: No module named 'absent'\n")}
	for _, tt := range []struct {
		name string
		out  runner.Output
		want string
	}{
		{"a module", lost, ReasonModule},
		{"a host", runner.Output{ExitCode: 1, Sandbox: &runner.Sandbox{Tier: "A"}, Refused: []runner.Refusal{{Host: "api.example.com"}}}, ReasonNetwork},
		{"nothing", runner.Output{}, ""},
		{"something else", runner.Output{ExitCode: 1}, ""},
	} {
		h := host(t)
		h.Runner = served(tt.out)
		got, err := h.host().Serve(t.Context(), s, o)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if tt.want == "" && got.Cause != nil || tt.want != "" && (got.Cause == nil || got.Cause.Reason != tt.want) {
			t.Errorf("%s: got %v", tt.name, got.Cause)
		}
	}
	p := &Program{Name: o.Name, Files: o.Files}
	if d, needed := p.Dependencies(s, nil); !needed || !slices.Equal(d.Undeclared, []string{"absent"}) {
		t.Errorf("got %+v", d)
	}
	p.Own = []string{"absent"}
	if d, needed := p.Dependencies(s, nil); needed || len(d.Undeclared) > 0 {
		t.Errorf("what the program brings itself is needed: %+v", d)
	}
}

// served is a runner that answers programs that serve with one output, and starts all others.
func served(out runner.Output) runner.Runner {
	return runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
		if c.Timeout < time.Hour {
			return runner.Exec{}.Run(ctx, c)
		}
		answer := out
		return &answer, nil
	})
}

// What a limit or a time ended says so, and a program has an hour of processor time and a day in all unless its options say less.
func TestServeLimits(t *testing.T) {
	s := open(t, "", tree{"server*": "#!/bin/sh\n"})
	for _, tt := range []struct {
		out  runner.Output
		life time.Duration
		want string
	}{
		{runner.Output{TimedOut: true, ExitCode: 143}, 0, "(it ran for 86400s)"},
		{runner.Output{TimedOut: true, ExitCode: 143}, 2 * time.Hour, "(it ran for 7200s)"},
		{runner.Output{ExitCode: 152, Signal: runner.OutOfCPU}, 0, "(it used more than 3600s of processor time)"},
		{runner.Output{ExitCode: 143, Signal: "terminated"}, 0, "(signal: terminated)"},
	} {
		h := host(t)
		h.Runner = served(tt.out)
		got, err := h.host().Serve(t.Context(), s, &ServeOptions{Name: "server probe", Command: "./server", Life: tt.life})
		if err != nil || got.Limit != tt.want || got.Signal != tt.out.Signal {
			t.Errorf("got %+v, %v, want %q", got, err, tt.want)
		}
	}
}

// C46, security 2.3: what a skill says of its server cannot leave the skill, set what decides how programs load code, or be guessed;
// each refusal says what to do, in the name of the server.
func TestServeRefuses(t *testing.T) {
	files := tree{"server*": "#!/bin/sh\n", "a.py": "# /// script\n# dependencies = 3\n# ///\n"}
	s := open(t, "", files)
	fill := func(env map[string]string, err error) func(string, func(string) (string, bool)) ([]string, map[string]string, error) {
		return func(string, func(string) (string, bool)) ([]string, map[string]string, error) { return nil, env, err }
	}
	missing := &Error{Wants: given(t, "env:API_KEY"), Message: "API_KEY is not granted"}
	for _, tt := range []struct {
		name   string
		o      ServeOptions
		code   fail.Code
		reason string
		want   string
	}{
		{"a path above the skill", ServeOptions{Command: "./../../bin/sh"}, ExecutionFailed, ReasonInterpreter, `server probe names the command "./../../bin/sh", which is not in the skill`},
		{"a relative path", ServeOptions{Command: "bin/sh"}, ExecutionFailed, ReasonInterpreter, "which is not in the skill"},
		{"a folder above the skill", ServeOptions{Command: "./server", Dir: "../.."}, ExecutionFailed, fail.ReasonFolder, `starts in "../..", which is not in the skill`},
		{"npx", ServeOptions{Command: "npx"}, ExecutionFailed, ReasonInterpreter, "server probe needs npx, which is not installed: install Node"},
		{"uvx", ServeOptions{Command: "uvx"}, ExecutionFailed, ReasonInterpreter, "pip install uv"},
		{"bunx", ServeOptions{Command: "bunx"}, ExecutionFailed, ReasonInterpreter, "https://bun.sh"},
		{"deno", ServeOptions{Command: "deno"}, ExecutionFailed, ReasonInterpreter, "https://deno.com"},
		{"another program", ServeOptions{Command: "frobnicate"}, ExecutionFailed, ReasonInterpreter, "install it, or correct the command"},
		{"a variable of the loader", ServeOptions{Command: "./server", Fill: fill(map[string]string{"LD_PRELOAD": "x"}, nil)}, PermissionDenied, "", "sets a variable that cannot be set"},
		{"what cannot be filled in", ServeOptions{Command: "./server", Fill: fill(nil, missing)}, ExecutionFailed, "", "server probe is not started: API_KEY is not granted"},
		{"a broken block", ServeOptions{Files: []string{"a.py"}, Program: "/own.py"}, ExecutionFailed, fail.ReasonMetadata, "server probe"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := host(t)
			h.LookPath = func(name string) (string, error) {
				if name == "python3" {
					return exec.LookPath(name)
				}
				return "", exec.ErrNotFound
			}
			in := &input{Reader: strings.NewReader("")}
			tt.o.Name, tt.o.In = "server probe", in
			tt.o.Started = func(*Serving) { t.Error("it was started") }
			served, err := h.host().Serve(t.Context(), s, &tt.o)
			e := failure(t, err, tt.code, tt.reason, tt.want)
			if served != nil || !in.closed || strings.Contains(e.Message, "cript server probe") {
				t.Errorf("got %+v, closed %v, %s", served, in.closed, e.Message)
			}
			if errors.Is(err, missing) && e.Wants.String() != missing.Wants.String() {
				t.Errorf("lacks %s", e.Wants)
			}
		})
	}
	for _, o := range []ServeOptions{{}, {Files: []string{"a.py"}, Program: "own.py"}, {Program: "/own.py"}} {
		if _, err := host(t).host().Serve(t.Context(), s, &o); err == nil || !strings.Contains(err.Error(), "are needed") {
			t.Errorf("%+v: got %v", o, err)
		}
	}
}

// security 2.3: a program runs only what Admit lets, and from the copy that it returns. What nobody may change is put back, and reported.
func TestServeAdmits(t *testing.T) {
	h := host(t)
	s := open(t, "", tree{"server*": "#!/bin/sh\npwd\n"})
	no := errors.New("not trusted")
	o := &ServeOptions{Name: "server probe", Command: "./server", Admit: func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, no }}
	if served, err := h.host().Serve(t.Context(), s, o); served != nil || !errors.Is(err, no) {
		t.Errorf("got %+v, %v", served, err)
	}
	var out closing
	o.Out = &out
	own := h.host()
	o.Admit = own.Seal
	var reached []string
	own.o.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) { reached = append(reached, string(e.Kind)) })
	if _, err := own.Serve(t.Context(), s, o); err != nil || !strings.HasPrefix(out.String(), own.o.Cache) {
		t.Errorf("it ran in %q: %v", out.String(), err)
	}
	h.Runner = served(runner.Output{Reached: []string{"a.example"}, Refused: []runner.Refusal{{Host: "b.example"}}, Undone: []runner.Undone{{Path: "/w/.git/config"}}})
	h.Trace = own.o.Trace
	got, err := h.host().Serve(t.Context(), s, &ServeOptions{Name: "server probe", Command: "./server"})
	e := failure(t, err, ExecutionFailed, ReasonBlocked, "/w/.git/config")
	if got == nil || !strings.HasPrefix(e.Message, "server probe changed ") {
		t.Errorf("got %+v, %q", got, e.Message)
	}
	if want := []string{string(trace.NetworkAllowed), string(trace.NetworkRefused)}; !slices.Equal(reached, want) {
		t.Errorf("got events %q, want %q", reached, want)
	}
}
