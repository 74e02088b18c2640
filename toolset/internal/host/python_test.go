package host_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pythons returns the Python of this machine and those that the variable AGENT_TEST_PYTHONS lists.
func pythons(t *testing.T) []runtime {
	t.Helper()
	var found []runtime
	if program, err := exec.LookPath("python3"); err == nil {
		found = append(found, runtime{"python", program})
	}
	for _, program := range filepath.SplitList(os.Getenv("AGENT_TEST_PYTHONS")) {
		found = append(found, runtime{"python", program})
	}
	if len(found) == 0 {
		t.Skip("no python3 on PATH")
	}
	return found
}

func eachPython(t *testing.T, test func(t *testing.T, r runtime)) {
	for _, r := range pythons(t) {
		t.Run(strings.ReplaceAll(r.program, "/", "."), func(t *testing.T) { test(t, r) })
	}
}

func TestPythonSchemasAndArguments(t *testing.T) { // R114
	eachPython(t, func(t *testing.T, r runtime) {
		s := start(t, r, "testdata/python", "toolsets.shapes:Shapes", "toolsets.docs:Docs", "toolsets.words:Words", "types:Types")
		if failures := s.list().Meta.Failures; len(failures) > 0 {
			t.Fatalf("failures: %+v", failures)
		}
		s.play(t, "testdata/python/shapes.txt")
		s.play(t, "testdata/python/docs.txt")
		s.play(t, "testdata/python/imports.txt")
		if errors := s.stop(); !strings.Contains(errors, "closed") {
			t.Errorf("close was not called: %s", errors)
		}
	})
}

func TestPythonResults(t *testing.T) { // R115
	eachPython(t, func(t *testing.T, r runtime) {
		s := start(t, r, "testdata/python", "toolsets.results:Results")
		s.play(t, "testdata/python/results.txt")
		if got := s.call("Results.error", `{}`).StructuredContent; got["error"] != "not_found" || got["success"] != false {
			t.Errorf("structured content: %v", got)
		}
		for _, stray := range []string{"stray\n", "stray child", "stray shell", `{"jsonrpc": "2.0"}`} {
			if errors := s.stop(); !strings.Contains(errors, stray) {
				t.Errorf("standard error lacks %q: %s", stray, errors)
			}
		}
	})
}

func TestPythonCallsRunAtTheSameTime(t *testing.T) {
	s := start(t, pythons(t)[0], "testdata/python", "toolsets.results:Together")
	_, waits := s.begin("Together.wait", `{}`)
	_, one := s.begin("Together.meet", `{}`)
	_, two := s.begin("Together.meet", `{}`)
	for _, arrives := range []chan answer{one, two} {
		if got := s.result(s.wait(arrives)).text(); got != "met" {
			t.Errorf("got %s", got)
		}
	}
	_, blocks := s.begin("Together.block", `{}`) // the event loop is busy from here on
	if a := s.request("ping", nil); string(a.Result) != "{}" {
		t.Errorf("ping: %s", a.Result)
	}
	s.call("Together.meet", `{}`)
	if got := s.result(s.wait(blocks)).text(); got != "blocked" {
		t.Errorf("got %s", got)
	}
	s.call("Together.set", `{}`)
	if got := s.result(s.wait(waits)).text(); got != "waited" {
		t.Errorf("got %s", got)
	}
}

func TestPythonCancellationReachesTheTool(t *testing.T) {
	s := start(t, pythons(t)[0], "testdata/python", "toolsets.results:Together")
	async, asyncArrives := s.begin("Together.sleep", `{}`)
	plain, plainArrives := s.begin("Together.spin", `{}`)
	s.until("Together.were_started", `["async", "plain"]`)
	for _, id := range []int{async, plain} {
		s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": id}})
	}
	s.until("Together.were_cancelled", `["CancelledError", "async"]`)
	if len(asyncArrives)+len(plainArrives) > 0 {
		t.Error("a cancelled call was answered")
	}
}

func TestPythonEndsWithItsInput(t *testing.T) {
	s := start(t, pythons(t)[0], "testdata/python", "toolsets.results:Together")
	s.begin("Together.forever", `{}`)
	s.begin("Together.sleep", `{}`)
	s.begin("Together.block", `{}`)
	s.request("ping", nil)
	s.stop() // fails if the program stays
}

func TestPythonFailures(t *testing.T) { // R114, C58
	s := start(t, pythons(t)[0], "testdata/python",
		"toolsets.classes:NotOne", "toolsets.classes:Missing", "toolsets.nothing:X", "toolsets.broken:X", "toolsets.syntax:X",
		"toolsets.failing:X", "toolsets.leaving:X", "toolsets.own_missing:X", "toolsets.classes:Constructor", "toolsets.classes:Wrong",
		"nonsense", "../x:Y", "toolsets/../../x:Y", "toolsets.classes:Lists", "toolsets.shapes:Refused",
		"toolsets/classes:NoConfig", "toolsets/classes.py:Derived", "toolsets.classes:NoConfig", "json:Tool")
	l := s.list()
	var names []string
	for _, tool := range l.Tools {
		names = append(names, tool.Name)
	}
	want := []string{"Lists.one", "Refused.good", "NoConfig.one", "Derived.first", "Derived.second", "Derived.third"}
	if !slices.Equal(names, want) {
		t.Errorf("tools: got %q, want %q", names, want)
	}
	compare(t, "testdata/python/failures.txt", l.failures())
	if got := s.call("Derived.second", `{}`).text(); got != "derived" {
		t.Errorf("got %s", got)
	}
}

// compare compares a text with that of a file.
func compare(t *testing.T, file, got string) {
	t.Helper()
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s\ngot:\n%s\nwant:\n%s", file, got, want)
	}
}

func TestPythonProtocol(t *testing.T) {
	s := start(t, pythons(t)[0], "testdata/python", "toolsets.docs:Docs")
	checkProtocol(t, s, "Docs.bare")
}

// checkProtocol sends what a client may send, and what it should not.
func checkProtocol(t *testing.T, s *server, tool string) {
	t.Helper()
	var info struct {
		ProtocolVersion string
		Capabilities    map[string]any
	}
	a := s.request("initialize", map[string]any{"protocolVersion": "2025-11-25"})
	if err := json.Unmarshal(a.Result, &info); err != nil || info.ProtocolVersion != "2025-11-25" || info.Capabilities["tools"] == nil {
		t.Errorf("initialize: %s", a.Result)
	}
	s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/initialized"})
	s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": 999}})
	s.write(map[string]any{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": map[string]any{"requestId": []int{1}}})
	for method, code := range map[string]int{"nonsense": -32601, "tools/call": -32602} {
		if a := s.request(method, map[string]any{"name": "nope"}); a.Error == nil || a.Error.Code != code {
			t.Errorf("%s: %+v", method, a)
		}
	}
	if a := s.request("tools/call", []int{1}); a.Error == nil {
		t.Errorf("a list as params: %s", a.Result)
	}
	for _, args := range []string{`null`, `[]`, `"x"`, `3`} {
		if r := s.call(tool, args); !r.IsError {
			t.Errorf("arguments %s: %s", args, r.text())
		}
	}
	if a := s.request("ping", nil); string(a.Result) != "{}" {
		t.Errorf("ping: %s", a.Result)
	}
	for _, line := range []string{"not json", "[]", "3", strings.Repeat("[", 100_000), "{\"id\": 1e400}"} {
		if _, err := s.in.Write([]byte(line + "\n")); err != nil {
			t.Fatal(err)
		}
	}
	if a := s.request("ping", nil); string(a.Result) != "{}" {
		t.Errorf("ping after lines that are not JSON: %s", a.Result)
	}
	s.mu.Lock()
	for _, stray := range s.strays {
		if !strings.Contains(stray, "-32700") {
			t.Errorf("got %s", stray)
		}
	}
	s.strays = nil
	s.mu.Unlock()
}

func TestPydantic(t *testing.T) {
	tested := false
	for _, r := range pythons(t) {
		if exec.Command(r.program, "-I", "-c", "import pydantic").Run() != nil {
			continue
		}
		tested = true
		s := start(t, r, "testdata/pydantic", "toolsets.models:Models")
		if l := s.list(); len(l.Meta.Failures) > 0 {
			t.Fatalf("%s: %s", r.program, l.failures())
		}
		s.play(t, "testdata/pydantic/calls.txt")
		for args, want := range map[string]string{
			`{"must":1,"limit":0}`:      `! argument "limit" `,
			`{"must":1,"tag":"abcd"}`:   `! argument "tag" `,
			`{"must":1,"limit":"many"}`: `! argument "limit" `,
		} {
			if got := s.call("Models.field", args).text(); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s: got %s", r.program, args, got)
			}
		}
		got := s.call("Models.order", `{"order":{"customer":"Ada","items":[{"title":"a","count":0}]}}`).text()
		if !strings.HasPrefix(got, `! argument "order.items[0].count" is refused: `) {
			t.Errorf("%s: got %s", r.program, got)
		}
		for _, tool := range s.list().Tools {
			schema := string(tool.InputSchema)
			if strings.Contains(schema, `"title":"Order"`) || tool.Name == "Models.order" && !strings.Contains(schema, "its title") {
				t.Errorf("%s: schema %s", r.program, schema)
			}
		}
	}
	if !tested {
		t.Skip("no Python with pydantic: name some in AGENT_TEST_PYTHONS")
	}
}

// A start imports no module of the library for a type that the toolset does not use: each costs milliseconds.
func TestPythonStartImportsLittle(t *testing.T) {
	eachPython(t, func(t *testing.T, r runtime) {
		program := `import sys
sys.path.insert(0, "python")
import toolset_host.serve
print([m for m in ("argparse", "datetime", "decimal", "ipaddress", "pathlib", "uuid", "pydantic") if m in sys.modules])`
		out, err := exec.CommandContext(t.Context(), r.program, "-I", "-S", "-B", "-c", program).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != "[]" {
			t.Errorf("imported: %s, %v", got, err)
		}
	})
}
