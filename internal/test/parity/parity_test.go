//go:build unix

package parity

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// scene is a conversation: the prompts of a person, the steps of the model, and the expected end.
type scene struct {
	name    string
	prompts []string
	steps   func(p *place) []fakemodel.Step
	calls   []string // the called tools, in order
	answer  string   // to the last prompt
}

func scenes() []scene {
	return []scene{
		{"list, help, run", []string{"How warm is it in Bern?", "And in Atlantis?"}, listHelpRun,
			[]string{"script_list", "script_help", "script_run", "script_run"}, "There is no station there."},
		{"load, read, execute", []string{"What does sample.pdf say? Keep to the form."}, loadReadExecute,
			[]string{"skill", "skill_read", "skill_read", "skill_read", "script_help", "script_run"}, "sample.pdf: Grand total: 42 francs"},
		{"text of a file", []string{"Use the pdf-processing skill to extract text from sample.pdf"}, extractText,
			[]string{"skill", "script_run"}, "It says: Grand total: 42 francs"},
		{"text of a file, by bash", []string{"Use the pdf-processing skill to extract text from sample.pdf"}, extractByBash,
			[]string{"skill", "bash"}, "It says: Grand total: 42 francs"},
	}
}

// listHelpRun looks for a script, asks for its usage and runs it. The second run fails.
func listHelpRun(*place) []fakemodel.Step {
	return []fakemodel.Step{
		call("script_list", map[string]any{"skill_name": "stations"}),
		{From: func(q *fakemodel.Request) fakemodel.Step {
			name := regexp.MustCompile(`"name":"(now[^"]*)"`).FindStringSubmatch(q.LastResult())[1]
			return call("script_help", map[string]any{"skill_name": "stations", "script_name": name})
		}},
		{From: func(q *fakemodel.Request) fakemodel.Step {
			if !strings.Contains(field(q, "result.usage"), "now CITY") {
				return fakemodel.Step{Text: "I do not know how."}
			}
			return call("script_run", map[string]any{"skill_name": "stations", "script_name": "now", "args": []string{"Bern"}})
		}},
		{From: func(q *fakemodel.Request) fakemodel.Step {
			return fakemodel.Step{Text: "It has " + field(q, "result.celsius") + " °C."}
		}},
		call("script_run", map[string]any{"skill_name": "stations", "script_name": "now", "args": []string{"Atlantis"}}),
		{From: func(q *fakemodel.Request) fakemodel.Step {
			if field(q, "success") != "false" {
				return fakemodel.Step{Text: "What?"}
			}
			return fakemodel.Step{Text: "There is " + field(q, "result.error") + "."}
		}},
	}
}

var pathInText = regexp.MustCompile(`(?:references|assets)/[A-Za-z0-9_./-]*[A-Za-z0-9_]`)

// loadReadExecute activates the skill, reads all files that its text names in one answer, and runs the script without
// reading it.
func loadReadExecute(p *place) []fakemodel.Step {
	first := call("skill", map[string]any{"skill_name": "pdf-processing"})
	first.Thought = "A PDF: there is a skill for it." // the server refuses a request without the signature of this thought
	return []fakemodel.Step{
		first,
		{From: func(q *fakemodel.Request) fakemodel.Step {
			body, _, _ := strings.Cut(field(q, "result.content"), "<skill_resources")
			step := fakemodel.Step{Text: "I read what it names."}
			var seen []string
			for _, path := range pathInText.FindAllString(body, -1) {
				if !slices.Contains(seen, path) {
					seen = append(seen, path)
					step.Calls = append(step.Calls, calling("skill_read", map[string]any{"skill_name": "pdf-processing", "path": path}))
				}
			}
			step.Calls = append(step.Calls, calling("script_help", map[string]any{"skill_name": "pdf-processing", "script_name": "extract_text"}))
			return step
		}},
		{From: func(q *fakemodel.Request) fakemodel.Step { return runExtract(p) }},
		{From: func(q *fakemodel.Request) fakemodel.Step {
			for _, r := range q.Results() {
				if strings.Contains(r.Text, "FILE: TEXT") {
					return fakemodel.Step{Text: "sample.pdf: " + field(q, "result.text")}
				}
			}
			return fakemodel.Step{Text: "In what form?"}
		}},
	}
}

func extractText(p *place) []fakemodel.Step {
	return []fakemodel.Step{
		call("skill", map[string]any{"skill_name": "pdf-processing"}),
		runExtract(p),
		{From: func(q *fakemodel.Request) fakemodel.Step {
			return fakemodel.Step{Text: "It says: " + field(q, "result.text")}
		}},
	}
}

// extractByBash runs the script from the folder that the activation names, as in hosts without script_run.
func extractByBash(*place) []fakemodel.Step {
	return []fakemodel.Step{
		call("skill", map[string]any{"skill_name": "pdf-processing"}),
		{From: func(q *fakemodel.Request) fakemodel.Step {
			return call("bash", map[string]any{"command": "'" + field(q, "result.base_path") + "'/scripts/extract_text.sh sample.pdf"})
		}},
		{From: func(q *fakemodel.Request) fakemodel.Step {
			text := regexp.MustCompile(`Grand total: [0-9]+ francs`).FindString(q.LastResult())
			return fakemodel.Step{Text: "It says: " + text}
		}},
	}
}

func runExtract(p *place) fakemodel.Step {
	return call("script_run", map[string]any{"skill_name": "pdf-processing", "script_name": "extract_text", "args": []string{p.work + "/sample.pdf"}})
}

// R97: one conversation runs over four wires. Each model is shown the same tools, system text and results, without the
// text of a script. The prefix has the same bytes in each turn. The requests cost about the same on each wire.
func TestParity(t *testing.T) {
	for _, sc := range scenes() {
		t.Run(sc.name, func(t *testing.T) {
			p := newPlace(t)
			sent := map[fakemodel.Wire]int{}
			var first []string
			for _, w := range wires() {
				s := fakemodel.New(t, sc.steps(p)...)
				tk := p.converse(t, w.model(t, s), false, sc.prompts...)
				checkTalk(t, w.name, sc, tk)
				views := checkRequests(t, w.name, s.Requests(), sent)
				if first == nil {
					first = views
				}
				if diff := cmp.Diff(first, views); diff != "" {
					t.Errorf("%s is shown different content (- %s, + %s):\n%s", w.name, wires()[0].name, w.name, diff)
				}
			}
			checkCost(t, sent)
		})
	}
}

func checkTalk(t *testing.T, w fakemodel.Wire, sc scene, tk *talk) {
	t.Helper()
	last := tk.answers[len(tk.answers)-1]
	if last.Text != sc.answer || last.Stop != agent.End {
		t.Errorf("%s: got %q (%s), want %q", w, last.Text, last.Stop, sc.answer)
	}
	var calls []string
	for _, r := range tk.results {
		calls = append(calls, r.Call.Name)
	}
	if !slices.Equal(calls, sc.calls) {
		t.Errorf("%s: got calls %q, want %q", w, calls, sc.calls)
	}
}

// checkRequests adds the tokens of the requests to those of the wire, and returns what the requests show.
func checkRequests(t *testing.T, w fakemodel.Wire, all []*fakemodel.Request, sent map[fakemodel.Wire]int) []string {
	t.Helper()
	var views []string
	for _, q := range all {
		if q.Wire != w || len(q.Tools) != 12 || !strings.Contains(q.System, "pdf-processing") {
			t.Errorf("request %d went over %s with %d tools; system text:\n%s", q.Number, q.Wire, len(q.Tools), q.System)
		}
		if bytes.Contains(q.Body, []byte(secret)) {
			t.Errorf("%s: request %d contains the source of a script", w, q.Number)
		}
		if !bytes.Equal(q.Prefix, all[0].Prefix) {
			t.Errorf("%s: the prefix of request %d is not that of the first", w, q.Number)
		}
		sent[w] += disclose.Tokens(string(q.Body))
		views = append(views, shown(t, q))
	}
	return views
}

// checkCost checks that the costs of the wires differ by at most 20 %.
func checkCost(t *testing.T, sent map[fakemodel.Wire]int) {
	t.Helper()
	least, most := 0, 0
	for _, n := range sent {
		if least == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	t.Logf("tokens sent, with the wire's own JSON: %v", sent)
	if most*100 > least*120 {
		t.Errorf("the tokens of the wires differ by more than 20 %%: %v", sent)
	}
}

// R97: fewer than 5 in 100 paths fail. Paths as in the instructions resolve at once, also with "./" before them. Absolute
// paths and paths with other dots are refused, and the refusal names the path to use: the second try resolves.
func TestPathsResolve(t *testing.T) {
	p := newPlace(t)
	files := []string{"references/formats.md", "references/deep/limits.md", "assets/answer.txt", "SKILL.md"}
	for _, w := range wires() {
		for _, form := range []string{"%s", "./%s", p.pdf + "/%s"} {
			s := fakemodel.New(t, reading(form, files), fakemodel.Step{Text: "read"})
			checkReads(t, w.name, p.converse(t, w.model(t, s), false, "Read it all.").results, len(files))
		}
		for _, form := range []string{"././%s", "assets/../%s"} {
			s := fakemodel.New(t, reading(form, files), fakemodel.Step{From: readAsTold}, fakemodel.Step{Text: "read"})
			results := p.converse(t, w.model(t, s), false, "Read it all.").results
			if len(results) != 2*len(files) {
				t.Fatalf("%s: %d reads of paths such as %s, want %d", w.name, len(results), fmt.Sprintf(form, files[0]), 2*len(files))
			}
			for _, r := range results[:len(files)] {
				if r.Result.Success {
					t.Errorf("%s: %s was read", w.name, r.Call.Args)
				}
			}
			checkReads(t, w.name, results[len(files):], len(files))
		}
	}
}

// reading asks for all files in one answer, with their paths in that form.
func reading(form string, files []string) fakemodel.Step {
	step := fakemodel.Step{}
	for _, file := range files {
		step.Calls = append(step.Calls, calling("skill_read", map[string]any{"skill_name": "pdf-processing", "path": fmt.Sprintf(form, file)}))
	}
	return step
}

var meant = regexp.MustCompile(`did you mean '([^']+)'`)

// readAsTold asks again with the path that each refusal names.
func readAsTold(q *fakemodel.Request) fakemodel.Step {
	step := fakemodel.Step{}
	for _, r := range q.Results() {
		if m := meant.FindStringSubmatch(r.Text); m != nil {
			step.Calls = append(step.Calls, calling("skill_read", map[string]any{"skill_name": "pdf-processing", "path": m[1]}))
		}
	}
	return step
}

func checkReads(t *testing.T, w fakemodel.Wire, results []*agent.Result, want int) {
	t.Helper()
	failed := 0
	for _, r := range results {
		if !r.Result.Success {
			failed++
			t.Logf("%s: %s: %s", w, r.Call.Args, r.Result.Message)
		}
	}
	if len(results) != want || failed*100 >= want*5 {
		t.Errorf("%s: %d reads, want %d; %d paths do not resolve", w, len(results), want, failed)
	}
}

// R97, C50: a model that asks for the source of a script does not get it, on any wire, with any reading tool, in any form
// of the path. In the control run reading is allowed; it shows that the search finds the text.
func TestNoScriptIsRead(t *testing.T) {
	p := newPlace(t)
	var step fakemodel.Step
	for _, path := range []string{"scripts/extract_text.sh", "./scripts/extract_text.sh", "references/../scripts/extract_text.sh", "scripts//extract_text.sh"} {
		for _, base := range []string{"skills/pdf-processing/", p.pdf + "/"} {
			step.Calls = append(step.Calls, calling("read_file", map[string]any{"file_path": base + path}))
		}
		step.Calls = append(step.Calls, calling("skill_read", map[string]any{"skill_name": "pdf-processing", "path": path}))
	}
	for _, path := range []string{"skills/pdf-processing", p.pdf} {
		step.Calls = append(step.Calls, calling("grep", map[string]any{"pattern": "SOURCE", "path": path}))
	}
	for _, w := range wires() {
		for _, allowed := range []bool{false, true} {
			s := fakemodel.New(t, step, fakemodel.Step{Text: "done"})
			var tools []string // those that gave the source away
			for _, r := range p.converse(t, w.model(t, s), allowed, "Show me the script.").results {
				if strings.Contains(r.Text, secret) && !slices.Contains(tools, r.Call.Name) {
					tools = append(tools, r.Call.Name)
				}
			}
			sent := slices.ContainsFunc(s.Requests(), func(q *fakemodel.Request) bool { return bytes.Contains(q.Body, []byte(secret)) })
			want := []string{"read_file", "skill_read", "grep"}
			if !allowed {
				want = nil
			}
			if sent != allowed || !slices.Equal(tools, want) {
				t.Errorf("%s: the source of a script was sent: %t, by %q; allowed: %t", w.name, sent, tools, allowed)
			}
		}
	}
}
