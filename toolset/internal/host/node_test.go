package host_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// javascripts returns node, bun and deno of this machine, and the programs that the variable AGENT_TEST_JAVASCRIPT lists, of which the
// name of the file says what each is: node22, bun, deno.
func javascripts(t *testing.T) []runtime {
	t.Helper()
	var found []runtime
	for _, kind := range []string{"node", "bun", "deno"} {
		if program, err := exec.LookPath(kind); err == nil {
			found = append(found, runtime{kind, program})
		}
	}
	for _, program := range filepath.SplitList(os.Getenv("AGENT_TEST_JAVASCRIPT")) {
		for _, kind := range []string{"node", "bun", "deno"} {
			if strings.HasPrefix(filepath.Base(program), kind) {
				found = append(found, runtime{kind, program})
			}
		}
	}
	if len(found) == 0 {
		t.Skip("no node, bun or deno on PATH")
	}
	return found
}

// loadsTypeScript reports whether a runtime loads .ts files.
func loadsTypeScript(t *testing.T, r runtime) bool {
	t.Helper()
	if r.kind != "node" {
		return true
	}
	out, err := exec.Command(r.program, "-p", "Boolean(process.features.typescript)").Output()
	return err == nil && strings.TrimSpace(string(out)) == "true"
}

func eachJavaScript(t *testing.T, test func(t *testing.T, r runtime)) {
	for _, r := range javascripts(t) {
		t.Run(strings.ReplaceAll(r.program, "/", "."), func(t *testing.T) { test(t, r) })
	}
}

var habits = []string{
	"toolsets/habits:WithTools", "toolsets/habits:Methods", "toolsets/habits:Plain", "toolsets/habits:Fields", "toolsets/habits:Sdk",
	"toolsets/habits:Raw", "toolsets/habits:factory", "toolsets/habits:later", "toolsets/habits:One", "toolsets/habits:default",
	"toolsets/common:Common", "toolsets/index:Shouting",
}

func TestJavaScriptSchemasAndShapes(t *testing.T) { // R118, R184
	eachJavaScript(t, func(t *testing.T, r runtime) {
		s := start(t, r, withZod(t, "testdata/node"), append(habits, "toolsets/schemas:Schemas", "toolsets/schemas:Old")...)
		if l := s.list(); len(l.Meta.Failures) > 0 {
			t.Fatalf("failures: %s", l.failures())
		}
		s.play(t, "testdata/node/schemas.txt")
		s.play(t, "testdata/node/habits.txt")
		if errors := s.stop(); !strings.Contains(errors, "closed") {
			t.Errorf("close was not called: %s", errors)
		}
	})
}

func TestJavaScriptResults(t *testing.T) { // R118
	eachJavaScript(t, func(t *testing.T, r runtime) {
		s := start(t, r, "testdata/node", "toolsets/results:Results")
		s.play(t, "testdata/node/results.txt")
		s.call("Results.exitLater", `{}`)
		if got := s.call("Results.fail", `{}`).text(); !strings.Contains(got, "toolsets/results.js, line ") {
			t.Errorf("no trace: %s", got)
		}
		if got := s.call("Results.missing", `{}`).text(); !strings.Contains(got, "nonexistent-package") {
			t.Errorf("got %s", got)
		}
		errors := s.stop()
		for _, stray := range []string{
			`{"jsonrpc":"2.0"}`, "stray info", "stray write", "stray descriptor", "stray child", "stray error", "the last line of much",
			"[Results.config] logged", "warned", "nobody catches it", "nobody awaits it",
		} {
			if !strings.Contains(errors, stray) {
				t.Errorf("standard error lacks %q: %s", stray, errors)
			}
		}
	})
}

func TestJavaScriptCallsAndCancellation(t *testing.T) {
	eachJavaScript(t, func(t *testing.T, r runtime) {
		s := start(t, r, "testdata/node", "toolsets/results:Results")
		_, one := s.begin("Results.meet", `{}`)
		_, two := s.begin("Results.meet", `{}`)
		for _, arrives := range []chan answer{one, two} {
			if got := s.result(s.wait(arrives)).text(); got != "met" {
				t.Errorf("got %s", got)
			}
		}
		id, arrives := s.begin("Results.cancelled", `{}`)
		s.request("ping", nil)
		s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
		if got := s.call("Results.were", `{}`).text(); got != `["AbortError"]` {
			t.Errorf("got %s", got)
		}
		if len(arrives) > 0 {
			t.Error("a cancelled call was answered")
		}
		s.begin("Results.cancelled", `{}`)
		s.begin("Results.forever", `{}`)
		s.stop()
	})
}

func TestJavaScriptFailures(t *testing.T) { // C58
	eachJavaScript(t, func(t *testing.T, r runtime) {
		s := start(t, r, withZod(t, "testdata/node"),
			"toolsets/habits:Missing", "toolsets/nothing:X", "toolsets/missing:X", "toolsets/missing_scoped:X", "toolsets/failing:X",
			"toolsets/leaving:X", "toolsets/habits:Number", "toolsets/habits:Empty", "toolsets/habits:Throws", "nonsense", "../x:Y",
			"toolsets/habits:Wrong", "toolsets/own_missing:X", "toolsets/syntax:X", "toolsets.habits:One")
		l := s.list()
		var names []string
		for _, tool := range l.Tools {
			names = append(names, tool.Name)
		}
		if want := []string{"Wrong.twice", "One.one"}; !slices.Equal(names, want) {
			t.Errorf("tools: got %q, want %q", names, want)
		}
		for i, f := range l.Meta.Failures { // what a runtime says about a file that it cannot load is its own
			if f.Toolset == "toolsets/own_missing:X" || f.Toolset == "toolsets/syntax:X" {
				if !strings.Contains(f.Message, "cannot be imported: ") {
					t.Errorf("got %s", f.Message)
				}
				l.Meta.Failures[i].Message = ""
			}
			l.Meta.Failures[i].Trace = ""
		}
		compare(t, "testdata/node/failures.txt", l.failures())
	})
}

func TestJavaScriptProtocol(t *testing.T) {
	eachJavaScript(t, func(t *testing.T, r runtime) {
		checkProtocol(t, start(t, r, withZod(t, "testdata/node"), "toolsets/index:Shouting"), "Shouting.shout-it")
	})
}

func TestTypeScript(t *testing.T) { // R118, R184
	eachJavaScript(t, func(t *testing.T, r runtime) {
		s := start(t, r, withZod(t, "testdata/node"), "toolsets/typed:Typed", "toolsets/enums:X")
		l := s.list()
		if !loadsTypeScript(t, r) {
			want := "toolsets/typed.ts is TypeScript, which node "
			if len(l.Meta.Failures) != 2 || !strings.HasPrefix(l.Meta.Failures[0].Message, want) ||
				!strings.HasSuffix(l.Meta.Failures[0].Message, " cannot load: install node 22.18 or newer, bun or deno") {
				t.Errorf("failures: %s", l.failures())
			}
			return
		}
		if got := s.call("Typed.greet", `{"name":"Ada"}`).text(); got != "typed helper Ada false" {
			t.Errorf("got %s, failures %s", got, l.failures())
		}
		if r.kind == "node" {
			if !strings.Contains(l.failures(), "bun and deno run all of TypeScript") {
				t.Errorf("failures: %s", l.failures())
			}
		} else if got := s.call("X.color", `{}`).text(); got != "0" {
			t.Errorf("got %s", got)
		}
	})
}
