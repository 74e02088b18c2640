package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	_ "github.com/agent-base/agent-base/cmd/agent/internal/protect"
	"github.com/agent-base/agent-base/cmd/agent/internal/streamtest"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/test/untidy"
)

var update = flag.Bool("update", false, "rewrite what the scripts expect")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"acpcall": acpCall,
		"agent": func() {
			sys := cli.Host()
			sys.PodAccount = os.Getenv("TEST_POD_ACCOUNT")
			os.Exit(int(cli.Main(context.Background(), sys)))
		},
		"mcpcall":     mcpCall,
		"mcpreplicas": mcpReplicas,
		"mcpdemo":     mcpDemo,
		"mcptools":    toolServer,
		"xdg-open":    openBrowser,
		"poor":        poor,
		"governed":    governed,
	})
}

// condition knows the conditions mounts, a user can mount a file system of its own, and governed, also over /etc.
func condition(name string) (bool, error) {
	if name == "governed" {
		return canGovern(), nil
	}
	if name != "mounts" {
		return false, fmt.Errorf("unknown condition %q", name)
	}
	return exec.Command("unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt").Run() == nil, nil
}

// TestScripts runs the command as a user does, in a fresh home: one script for each command. With AGENT_TEST_UNTIDY=1 the machine is untidy.
func TestScripts(t *testing.T) {
	setup := freshHome
	if os.Getenv("AGENT_TEST_UNTIDY") == "1" {
		setup = untidyMachine
	}
	testscript.Run(t, scripts(t, setup, "testdata/script"))
}

// inShort are the scripts that each run of the tests has in an untidy machine, too: those of what a sandbox shows.
var inShort = []string{"agent_bash", "linked", "script", "grant", "toolset", "hooks", "path", "list", "trust"}

// Every command works where the home is a link, the project a linked work tree below a link, and programs lie below a profile: reports 01,
// 03, 05. This is the short form.
func TestScriptsUntidy(t *testing.T) {
	p := scripts(t, untidyMachine, "")
	for _, name := range inShort {
		p.Files = append(p.Files, filepath.Join("testdata", "script", name+".txtar"))
	}
	testscript.Run(t, p)
}

// scripts returns what scripts run with.
func scripts(t *testing.T, setup func(*testscript.Env) error, dir string) testscript.Params {
	return testscript.Params{
		Dir:                 dir,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Setup:               setup,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits,
			"cured": cured,
			"json":  jsonIs,
			"lines": linesAre,
			"esc":   esc,
			"ontty": ontty,
			"ctrlc": ctrlc,
			"ahead": ahead,

			"fakemodel": fakeModel,
			"modelsaw":  modelSaw,
			"exchange":  exchange,

			"packageindex": packageIndex,
			"internet":     useInternet,

			"npmregistry": npmRegistry,
			"webserver":   webServer,
			"mcpsite":     mcpSite,
			"site":        site,
			"gitsite":     gitSite,
			"ociregistry": ociRegistry,

			"escapes": escapes,

			"signskill": signSkill(t),

			"natsserver":   natsServer,
			"clusterfiles": clusterFiles,
			"kubernetes":   kubernetes,

			"collector": startCollector,
			"got":       collectorGot,
		},
	}
}

// untidyMachine is freshHome on an untidy machine.
func untidyMachine(env *testscript.Env) error {
	if err := freshHome(env); err != nil {
		return err
	}
	m, err := untidy.Make(env.WorkDir)
	if err != nil {
		return err
	}
	env.Cd = m.Work + strings.TrimPrefix(env.Cd, env.WorkDir)
	env.Setenv("WORK", m.Work)
	env.Setenv("HOME", m.Home)
	env.Setenv("PATH", strings.ReplaceAll(env.Getenv("PATH"), env.WorkDir, m.Work)+string(filepath.ListSeparator)+m.Bin)
	return nil
}

// freshHome gives each script an empty home and nothing else of this machine but PATH.
func freshHome(env *testscript.Env) error {
	env.Values[serverKey{}] = &serverHolder{}
	env.Values[collectorKey{}] = &collected{}
	env.Values[kubernetesKey{}] = &pods{}
	home, bin := filepath.Join(env.WorkDir, "home"), filepath.Join(env.WorkDir, ".bin")
	env.Setenv("HOME", home)
	env.Setenv("PATH", bin+string(filepath.ListSeparator)+env.Getenv("PATH"))
	env.Setenv("NO_COLOR", "")
	examples, err := filepath.Abs("../../../../examples")
	if err != nil {
		return err
	}
	env.Setenv("EXAMPLES", examples)
	env.Setenv("GORACE", "atexit_sleep_ms=0") // else every process of a -race run waits a second at its end
	for _, name := range []string{"AGENT_HOME", "AGENT_SKILLS", "AGENT_PROFILE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "AGENT_MODEL",
		"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "OPENAI_API_KEY", "OPENAI_BASE_URL", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL"} {
		env.Vars = append(env.Vars, name+"=")
	}
	env.Vars = dropEmpty(env.Vars)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	// The bundled skill gh needs the command, which not every machine has.
	if err := os.WriteFile(filepath.Join(bin, "gh"), []byte("#!/bin/sh\n"), 0o755); err != nil {
		return err
	}
	return os.MkdirAll(home, 0o755)
}

func dropEmpty(vars []string) []string {
	var kept []string
	for _, v := range vars {
		if !strings.HasSuffix(v, "=") || strings.HasPrefix(v, "NO_COLOR") {
			kept = append(kept, v)
		}
	}
	return kept
}

// exits runs a command and checks its exit code: exits CODE COMMAND ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

// jsonIs checks that a stream or file is one JSON document, and what is in it: json FILE [PATH WANT]...
// PATH is keys and indexes with dots between; WANT is the value as JSON, or its text, or "len=N", or "absent".
func jsonIs(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args)%2 != 1 {
		ts.Fatalf("usage: json FILE [PATH WANT]...")
	}
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		ts.Fatalf("%s is not JSON: %v", args[0], err)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("%s has more than one JSON document", args[0])
	}
	if _, ok := doc.(map[string]any); !ok {
		ts.Fatalf("%s is not one JSON object", args[0])
	}
	for i := 1; i < len(args); i += 2 {
		if got := at(doc, args[i]); !same(got, args[i+1]) {
			ts.Fatalf("%s is %v, want %s", args[i], got, args[i+1])
		}
	}
}

// linesAre checks that each line of a file is one that agent --stream --json writes, as docs/stream.md says: lines FILE.
func linesAre(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: lines FILE")
	}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		ts.Check(streamtest.Line([]byte(line)))
	}
}

type absent struct{}

func (absent) String() string { return "absent" }

func at(doc any, path string) any {
	for _, key := range strings.Split(path, ".") {
		switch v := doc.(type) {
		case map[string]any:
			next, ok := v[key]
			if !ok {
				return absent{}
			}
			doc = next
		case []any:
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(v) {
				return absent{}
			}
			doc = v[i]
		default:
			return absent{}
		}
	}
	return doc
}

func same(got any, want string) bool {
	if n, ok := strings.CutPrefix(want, "len="); ok {
		switch v := got.(type) {
		case []any:
			return fmt.Sprint(len(v)) == n
		case map[string]any:
			return fmt.Sprint(len(v)) == n
		}
		return false
	}
	if text := fmt.Sprint(got); text == want || filepath.IsAbs(want) && paths.Real(text) == paths.Real(want) { // as an untidy machine has it
		return true
	}
	b, err := json.Marshal(got)
	return err == nil && string(b) == want
}

// esc writes a file, with \x1b and the like in its text made real: esc FILE TEXT...
// The module proxy refuses no such file, but editors and terminals do.
func esc(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: esc FILE LINE...")
	}
	text, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.Join(args[1:], `\n`), `"`, `\"`) + `\n"`)
	ts.Check(err)
	name := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(filepath.Dir(name), 0o755))
	ts.Check(os.WriteFile(name, []byte(text), 0o644))
}

// escapes finds in a file what a terminal would obey: [!] escapes FILE. Our own colours count as well: set NO_COLOR.
func escapes(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] escapes FILE")
	}
	text := ts.ReadFile(args[0])
	at := strings.IndexFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069
	})
	if at >= 0 != neg {
		return
	}
	if neg {
		ts.Fatalf("%s has %q", args[0], text[at:min(len(text), at+20)])
	}
	ts.Fatalf("%s has no escapes", args[0])
}
