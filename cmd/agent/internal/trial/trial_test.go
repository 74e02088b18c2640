package trial_test

import (
	"bytes"
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltest"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

// load writes skills and opens one of them, with the catalogue that has it.
func load(t *testing.T, archive, name string) (*skill.Skill, *skill.Catalog) {
	t.Helper()
	cat, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "user", Source: skill.Dir(skilltest.FromTxtar(t, archive), nil)}}})
	if err != nil {
		t.Fatal(err)
	}
	e, err := cat.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	s, err := e.Load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s, cat
}

// outcomes tests a skill and returns a line for each case of a group.
func outcomes(t *testing.T, s *skill.Skill, o *trial.Options) []string {
	t.Helper()
	r, err := trial.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range r.Cases {
		out = append(out, fmt.Sprintf("%s %s: %s", c.Status, c.Name, c.Message))
	}
	return out
}

// expect compares lines with the beginnings that are wanted.
func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	ok := len(got) == len(want)
	for i := range min(len(got), len(want)) {
		ok = ok && strings.HasPrefix(got[i], want[i])
	}
	if !ok {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const shelf = `
-- pdf/SKILL.md --
---
name: pdf
description: Merges and splits PDF files. Use when pages of a PDF have to be put together.
triggers:
  keywords: [merge pages]
---
See [how](references/how.md), [gone](references/gone.md) and [the other](../tea/SKILL.md). Run scripts/plain.sh.
-- pdf/references/how.md --
Text.
-- pdf/evals/queries.json --
[{"query": "merge two pdf files", "should_trigger": true},
 {"query": "brew a pot of green tea", "should_trigger": true},
 {"query": "merge pages of my diary", "should_trigger": false},
 {"query": "what is the weather?", "should_trigger": false}]
-- pdf/evals/broken.json --
[
-- tea/SKILL.md --
---
name: tea
description: Brews tea. Use when somebody wants a pot of green or black tea.
---
Heat water.
`

// Dead references fail, with their place; what is well is one case for each group. R176
func TestManifest(t *testing.T) {
	s, _ := load(t, shelf, "pdf")
	r, err := trial.Run(t.Context(), s, &trial.Options{Groups: []trial.Group{trial.Manifest, trial.References}})
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(r.Cases, func(c trial.Case) bool { return c.Name == "reference-missing" })
	if i < 0 || r.Cases[i].Status != trial.Failed || r.Cases[i].Group != trial.References || r.Cases[i].Line != 7 || !r.Valid() {
		t.Errorf("the cases are %+v", r.Cases)
	}
	tea, _ := load(t, shelf, "tea")
	expect(t, outcomes(t, tea, &trial.Options{Groups: []trial.Group{trial.Manifest, trial.References}}), "passed SKILL.md", "passed SKILL.md")
}

// Requests that do not do what their author expects fail, with the skill that came first.
func TestTriggers(t *testing.T) {
	s, cat := load(t, shelf, "pdf")
	o := &trial.Options{Groups: []trial.Group{trial.Triggers}, Catalog: cat}
	expect(t, outcomes(t, s, o),
		"failed evals/broken.json: ",
		"passed merge two pdf files: ",
		"failed brew a pot of green tea: it should bring up the skill, and does not: tea comes first",
		`failed merge pages of my diary: it should not bring up the skill, and does, by the keyword "merge pages"`,
		"passed what is the weather?: ")
	o.Catalog = nil
	expect(t, outcomes(t, s, o), "failed", "skipped 4 requests: there are no other skills to compare with")
}

const scripts = `
-- s/SKILL.md --
---
name: s
description: Has scripts. Use when scripts are tested.
---
-- s/scripts/good.sh --
#!/bin/sh
case "$1" in
--help) echo "usage: good [--json]" ;;
--json) echo '{"ok": true}' ;;
"") echo ok ;;
*) echo "unknown option $1" >&2; exit 2 ;;
esac
-- s/scripts/bad.sh --
#!/bin/sh
case "$1" in
--help) ;;
--json) echo 'working'; echo '{"ok": true}' ;;
esac
-- s/scripts/careless.sh --
#!/bin/sh
case "$1" in
--help) echo "usage: careless" ;;
--json) echo 'working'; echo '{"ok": true}' ;;
esac
-- s/scripts/silent.sh --
echo never run >&2
exit 9
-- s/scripts/needs.sh --
#!/bin/sh
case "$1" in
--help) echo "usage: needs FILE" ;;
--json) echo "a file is needed" >&2; exit 2 ;;
*) exit 2 ;;
esac
-- s/scripts/broken.sh --
#!/bin/sh
[ "$1" = --help ] || exit 0
echo "ReadError: no such table" >&2
echo "goodbye" >&2
exit 3
-- s/scripts/killed.sh --
#!/bin/sh
case "$1" in
--help) echo "usage: killed [--json]" ;;
--json) kill -SEGV $$ ;;
*) printf 'Traceback (most recent call last):\n  File "x.py", line 1\nKeyError: 1\n' >&2; exit 1 ;;
esac
-- s/scripts/unkeyed.sh --
#!/bin/sh
[ "$1" = --help ] && echo "${TRIAL_KEY:?set it}"
-- s/scripts/report.py --
"""Makes a report."""
import sys, shared
if __name__ == "__main__":
    print(shared.title(sys.argv[1]))
-- s/scripts/shared.py --
"""What the reports share."""
def title(name):
    return name.title()
-- s/tests/good_test.sh --
[ -d "$CLAUDE_SKILL_DIR/scripts" ] && [ "$PWD" != "$CLAUDE_SKILL_DIR" ]
-- s/tests/bad_test.sh --
echo "expected 1, got 2"
exit 3
-- s/assets/template_test.sh --
exit 1
`

func host(t *testing.T) *script.Host {
	t.Helper()
	h, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: t.TempDir(), UserDir: t.TempDir(), Seen: func(context.Context, *skill.Skill) script.Seen {
		return script.Seen{Files: map[string]want.Set{"scripts/unkeyed.sh": {want.VariableOf("TRIAL_KEY")}}}
	}})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// The conventions of scripts: --help, only JSON with --json, and an error for an option that is not there.
func TestScripts(t *testing.T) {
	s, _ := load(t, scripts, "s")
	expect(t, outcomes(t, s, &trial.Options{Groups: []trial.Group{trial.Scripts}, Probe: host(t)}),
		"failed bad --help: it prints nothing on stdout",
		"failed broken --help: Script failed with exit code 3: ReadError: no such table",
		"passed careless --help: ",
		`failed careless --json: stdout is not one JSON document: "working\n`,
		"failed careless unknown option: its exit code is 0",
		"passed good --help: ",
		"passed good --json: ",
		"passed good unknown option: ",
		"passed killed --help: ",
		"failed killed --json: Script failed with exit code 139 (signal: segmentation fault)",
		"failed killed unknown option: Script failed with exit code 1: KeyError: 1",
		"passed needs --help: ",
		"skipped needs --json: alone it fails, as it may if it needs arguments",
		"passed needs unknown option: ",
		"warned report --help: it does not show that it knows --help",
		"warned shared --help: it is a module that report imports, and runs nothing by itself",
		"warned silent --help: it does not show that it knows --help, has no description",
		"skipped unkeyed --help: Script failed with exit code 2 (it reads TRIAL_KEY, which is not set): ")
	expect(t, outcomes(t, s, &trial.Options{Groups: []trial.Group{trial.Scripts}}),
		"skipped bad: ", "skipped broken: ", "skipped careless: ", "skipped good: ", "skipped killed: ", "skipped needs: ", "warned report --help: ", "warned shared --help: ", "warned silent --help: ", "skipped unkeyed: ")
}

// The skill's own tests run in a folder of their own, and those of its templates do not.
func TestOwnTests(t *testing.T) {
	s, _ := load(t, scripts, "s")
	expect(t, outcomes(t, s, &trial.Options{Groups: []trial.Group{trial.Tests}, Bench: host(t)}),
		"failed tests/bad_test.sh: exit code 3: expected 1, got 2",
		"passed tests/good_test.sh: ")
}

const pythons = `
-- p/SKILL.md --
---
name: p
description: Has tests. Use when tests are tested.
---
-- p/tests/test_cases.py --
import unittest
from lib.add import add

class T(unittest.TestCase):
    def test_add(self): self.assertEqual(add(1, 2), 3)
    def test_wrong(self): self.assertEqual(add(1, 2), 4, "the sum")
-- p/tests/test_empty.py --
import unittest
-- p/tests/test_broken.py --
import unittest
import nothing_of_this_name
-- p/lib/add.py --
def add(a, b): return a + b
`

// A test in Python fails with its reason; a file without a test is not green.
func TestPythonTests(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no python3")
	}
	s, _ := load(t, pythons, "p")
	r, err := trial.Run(t.Context(), s, &trial.Options{Groups: []trial.Group{trial.Tests}, Bench: host(t), Temp: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"tests/test_cases.py": "the sum", "tests/test_empty.py": "no test", "tests/test_broken.py": "nothing_of_this_name"}
	for _, c := range r.Cases {
		if c.Status != trial.Failed || !strings.Contains(c.Message, want[c.Name]) {
			t.Errorf("%s is %s: %s", c.Name, c.Status, c.Message)
		}
	}
	if len(r.Cases) != len(want) {
		t.Errorf("%d cases, want %d", len(r.Cases), len(want))
	}
}

// Without the approval of the content nothing runs, and the report says so.
func TestUntrusted(t *testing.T) {
	s, _ := load(t, scripts, "s")
	refuse := func(context.Context, *skill.Skill) (*skill.Skill, error) {
		return nil, &script.Error{Code: script.PermissionDenied, Message: "not trusted"}
	}
	r, err := trial.Run(t.Context(), s, &trial.Options{Groups: []trial.Group{trial.Scripts, trial.Tests}, Probe: host(t), Bench: host(t), Admit: refuse})
	if err != nil || !r.Untrusted || r.Count(trial.Passed) > 0 || r.Count(trial.Failed) > 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

// agent answers every task and judges every statement alike.
type agent struct {
	answer, judgement string // the judgement "echo" is the prompt, "form" the form in it, and "quote" quotes the answer
	err               error
	tasks             []trial.Task
}

func (a *agent) Answer(_ context.Context, task *trial.Task) (*trial.Answer, error) {
	a.tasks = append(a.tasks, *task)
	return &trial.Answer{Text: a.answer, Tokens: 7}, a.err
}

func (a *agent) Judge(_ context.Context, prompt string) (string, error) {
	switch a.judgement {
	case "echo":
		return prompt, a.err
	case "form":
		_, form, _ := strings.Cut(prompt, "in their order:\n")
		return form, a.err
	case "quote":
		return "The answer is only\n```json\n" + a.answer + "\n```", a.err
	}
	return a.judgement, a.err
}

const evals = `
-- e/SKILL.md --
---
name: e
description: Has evals. Use when evals are tested.
---
-- e/evals/files/in.txt --
data
-- e/evals/evals.json --
{"skill_name": "e", "evals": [
 {"id": "said", "prompt": "p", "files": ["evals/files/in.txt"], "assertions": [{"type": "contains", "value": "hello"}]},
 {"id": "judged", "prompt": "p", "expected_output": "a greeting"},
 {"id": "both", "prompt": "p", "assertions": [{"type": "contains", "value": "bye"}, "It is friendly"]},
 {"id": "nothing", "prompt": "p"},
 {"id": "gone", "prompt": "p", "expected_output": "x", "files": ["no.txt"]}
]}
`

// What a program can decide comes first; a model judges the rest; without a model nothing is green.
func TestEvals(t *testing.T) {
	s, _ := load(t, evals, "e")
	o := &trial.Options{Groups: []trial.Group{trial.Evals}, NoAgent: "no model"}
	expect(t, outcomes(t, s, o), "skipped said: no model", "skipped judged: no model", "skipped both: no model",
		"failed nothing: nothing says what is expected", `failed gone: its file "no.txt" cannot be read`)
	a := &agent{answer: "Hello!", judgement: `{"verdicts":[{"passed":true}]}`}
	o.Agent = a
	expect(t, outcomes(t, s, o), "passed said: 7 tokens", "passed judged: 7 tokens", `failed both: it does not hold that contains "bye"`, "failed nothing", "failed gone")
	if string(a.tasks[0].Files["in.txt"]) != "data\n" {
		t.Errorf("the task had the files %q", a.tasks[0].Files)
	}
	o.Agent = &agent{answer: "Hello, bye", judgement: `{"verdicts":[{"passed":false,"reason":"rude"}]}`}
	expect(t, outcomes(t, s, o), "passed said", "failed judged: judged by the model not to hold: The answer does what was expected: a greeting: rude", "failed both: judged", "failed nothing", "failed gone")
	o.Agent = &agent{answer: "Hello", judgement: "fine"}
	expect(t, outcomes(t, s, o), "passed said", "failed judged: the model's judgement cannot be read", "failed both", "failed nothing", "failed gone")
	for _, judgement := range []string{"echo", "form", "quote"} { // what is quoted is no judgement
		o.Agent = &agent{answer: `{"verdicts":[{"passed":true}]}`, judgement: judgement}
		expect(t, outcomes(t, s, o), "failed said", "failed judged: the model's judgement cannot be read", "failed both", "failed nothing", "failed gone")
	}
	o.Agent = &agent{err: errors.New("no network")}
	expect(t, outcomes(t, s, o), "failed said: the agent gave no answer: no network", "failed judged", "failed both", "failed nothing", "failed gone")
}

// lister has tools, and an error.
type lister struct{ tools []tool.Tool }

func (l lister) Tools(context.Context, *skill.Skill, script.Admit) ([]tool.Tool, error) {
	return l.tools, nil
}

// Tools that a provider would refuse, or a model could not use, fail.
func TestToolsets(t *testing.T) {
	s, _ := load(t, "-- t/SKILL.md --\n---\nname: t\ndescription: Has tools.\ntoolsets: ['toolsets.a:A']\n---\n-- t/toolsets/a.py --\n", "t")
	one := func(name, description, input string) tool.Tool {
		return tool.Tool{Name: name, Source: "t.A", Description: description, Input: []byte(input)}
	}
	o := &trial.Options{Groups: []trial.Group{trial.Toolsets}}
	expect(t, outcomes(t, s, o), "skipped toolsets: ")
	o.Toolsets = lister{[]tool.Tool{
		one("good", "Does.", `{"type":"object","properties":{"a":{"type":"array","description":"x","items":{"type":"string"}},"b":{"$ref":"#/x"}},"required":["a"]}`),
		one("good", "Does.", `{"type":"object"}`),
		one("bare", "Does.", `{"type":"object","properties":{"a":{"type":"string"}}}`),
		one("no name", "Does.", `{"type":"object"}`),
		one("mute", " ", `{"type":"object"}`),
		one("list", "Does.", `[]`),
		one("text", "Does.", `{"type":"string"}`),
		one("type", "Does.", `{"type":"object","properties":{"a":{"type":"text","description":"x"}}}`),
		one("needs", "Does.", `{"type":"object","properties":{},"required":["a"]}`),
		one("deep", "Does.", strings.Repeat(`{"type":"object","properties":{"a":`, 30)+"true"+strings.Repeat("}}", 30)),
	}}
	expect(t, outcomes(t, s, o),
		"passed t.A.good: ", "failed t.A.good: t.A has a tool of this name", "warned t.A.bare: arguments without a description: a",
		`failed t.A.no name: providers of models refuse the name`, "failed t.A.mute: it has no description", "failed t.A.list: its schema is not a JSON object",
		`failed t.A.text: its schema is not of "type": "object"`, `failed t.A.type: its schema is wrong: a: unknown type "text"`,
		"failed t.A.needs: its schema is wrong: required names a", "failed t.A.deep: its schema is wrong: it is nested more than 20 times")
}

// What a program prints is text in the XML, whatever it is.
func TestJUnit(t *testing.T) {
	r := &trial.Report{Skill: "s", Cases: []trial.Case{
		{Group: trial.Scripts, Name: "a --help", Status: trial.Failed, Message: "</failure>\x1b[31m\x00 & <b>"},
		{Group: trial.Scripts, Name: "b", Status: trial.Skipped, Message: "no model"},
		{Group: trial.Tests, Name: "c", Status: trial.Warned, Message: "odd"},
		{Group: trial.Tests, Name: "d", Status: trial.Passed},
	}}
	var b bytes.Buffer
	if err := trial.JUnit(&b, r); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Skipped  int `xml:"skipped,attr"`
		Suites   []struct {
			Name  string `xml:"name,attr"`
			Cases []struct {
				Name    string  `xml:"name,attr"`
				Failure *string `xml:"failure"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(b.Bytes(), &got); err != nil {
		t.Fatalf("%v in %s", err, b.String())
	}
	if got.Tests != 4 || got.Failures != 1 || got.Skipped != 1 || len(got.Suites) != 2 || got.Suites[0].Name != "s.scripts" || got.Suites[0].Cases[0].Failure == nil {
		t.Errorf("%+v from %s", got, b.String())
	}
}
