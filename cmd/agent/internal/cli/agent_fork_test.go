package cli_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

func callStep(name, args string) fakemodel.Step {
	return fakemodel.Step{Calls: []fakemodel.Call{{Name: name, Args: args}}}
}

// forking writes a skill that runs in a sub-agent, as its fields say.
func (w *world) forking(name, fields, body string) {
	w.write("home/.agent/skills/"+name+"/SKILL.md", "---\nname: "+name+"\ndescription: Looks into things. Use to survey.\ncontext: fork\n"+fields+"---\n"+body)
}

func names(q *fakemodel.Request) []string {
	var out []string
	for _, tl := range q.Tools {
		out = append(out, tl.Name)
	}
	return out
}

// R129, issue 4.2: a skill with context: fork runs in a sub-agent of the kind and with the model that it names;
// that agent has a system text of its own, the tools of its kind and nothing of the conversation, and its answer is
// the result of the call.
func TestFork(t *testing.T) {
	s := fakemodel.New(t, callStep("skill", `{"skill_name":"survey","args":"the docs"}`),
		callStep("glob", `{"pattern":"*.txt"}`), fakemodel.Step{Text: "There is one file: a.txt."}, fakemodel.Step{Text: "One file."})
	w := newWorld(t, s.Env()...)
	w.write("work/a.txt", "A\n")
	w.forking("survey", "agent: Explore\nmodel: haiku\n", "Survey $ARGUMENTS.\n")
	out := w.succeeds("", "-p", "What is the secret word of the docs?", "--json")
	var run struct {
		Answer string
		Turns  int
		Skills []string
		Calls  []struct {
			Tool     string
			SubAgent bool `json:"sub_agent"`
		}
	}
	if err := json.Unmarshal([]byte(out), &run); err != nil {
		t.Fatal(err)
	}
	if run.Answer != "One file." || len(run.Calls) != 2 || run.Calls[0].Tool != "glob" || !run.Calls[0].SubAgent || run.Calls[1].SubAgent || len(run.Skills) != 0 {
		t.Errorf("got %+v", run)
	}
	q := s.Requests()
	if len(q) != 4 {
		t.Fatalf("%d requests, want 4", len(q))
	}
	if want := []string{"read_file", "glob", "grep", "web_fetch", "skill", "skill_read", "toolset_list", "script_list", "script_help"}; !slices.Equal(names(q[1]), want) {
		t.Errorf("the sub-agent has %v, want %v", names(q[1]), want)
	}
	if q[0].Model != "claude-sonnet-5-5" || q[1].Model != "claude-haiku-5-5" || q[2].Model != q[1].Model || q[3].Model != q[0].Model {
		t.Errorf("asked were %s, %s, %s, %s", q[0].Model, q[1].Model, q[2].Model, q[3].Model)
	}
	if !strings.Contains(q[1].System, "change nothing") || strings.Contains(q[1].System, "You are agent") || q[1].System != q[2].System {
		t.Errorf("the sub-agent's system text is %q", q[1].System)
	}
	if p := q[1].Prompt(); !strings.Contains(p, "Survey the docs.") || !strings.Contains(p, "Task: the docs") || strings.Contains(string(q[1].Body), "secret word") {
		t.Errorf("the sub-agent was asked %q", p)
	}
	if got := q[3].LastResult(); !strings.Contains(got, "There is one file: a.txt.") || strings.Contains(string(q[3].Body), "Survey the docs.") {
		t.Errorf("the call's result is %q", got)
	}
	if !slices.Equal(names(q[0]), names(q[3])) || q[0].System != q[3].System {
		t.Error("the conversation's own prefix changed")
	}
}

// R127: what a skill's hook says when the skill becomes active reaches the sub-agent that carries it out.
func TestForkHook(t *testing.T) {
	s := fakemodel.New(t, callStep("skill", `{"skill_name":"greeted"}`), fakemodel.Step{Text: "Done."}, fakemodel.Step{Text: "All done."})
	w := newWorld(t, s.Env()...)
	w.forking("greeted", "hooks:\n  SessionStart: [{hooks: [{type: command, command: echo the stage is set}]}]\n", "Do it.\n")
	w.succeeds("", "skill", "trust", "greeted", "--yes")
	w.succeeds("", "-p", "go")
	q := s.Requests()
	if len(q) != 3 {
		t.Fatalf("%d requests, want 3", len(q))
	}
	if !strings.Contains(string(q[1].Body), "Its hook says: the stage is set") || strings.Contains(string(q[2].Body), "the stage is set") {
		t.Errorf("the sub-agent was asked %s, the model then %s", q[1].Body, q[2].Body)
	}
}

// R129: a sub-agent starts no other one: a skill with context: fork is carried out by it itself.
func TestNoForkInFork(t *testing.T) {
	s := fakemodel.New(t, callStep("skill", `{"skill_name":"outer"}`), callStep("skill", `{"skill_name":"inner"}`),
		fakemodel.Step{Text: "Both done."}, fakemodel.Step{Text: "Done."})
	w := newWorld(t, s.Env()...)
	w.forking("outer", "", "Do the outer part.\n")
	w.forking("inner", "model: opus\n", "Do the inner part.\n")
	w.succeeds("", "-p", "go")
	q := s.Requests()
	if len(q) != 4 {
		t.Fatalf("%d requests, want 4: one sub-agent alone", len(q))
	}
	if got := q[2].LastResult(); !strings.Contains(got, "Do the inner part.") || q[2].Model != q[1].Model {
		t.Errorf("the inner skill's result is %q, asked is %s", got, q[2].Model)
	}
	if got := q[3].LastResult(); !strings.Contains(got, "Both done.") {
		t.Errorf("the outer skill's result is %q", got)
	}
}

// What a skill's fields say wrongly is told, and the conversation's own model and the usual kind of agent do the work;
// a model that cannot be asked is an error of that one call (issue 4.2).
func TestForkOfUnknownKind(t *testing.T) {
	s := fakemodel.New(t, callStep("skill", `{"skill_name":"odd"}`), fakemodel.Step{Text: "Done by the usual one."},
		callStep("skill", `{"skill_name":"closed"}`), fakemodel.Step{Text: "Done."})
	w := newWorld(t, s.Env()...)
	w.forking("odd", "agent: Wizard\nmodel: fastest\n", "Do it.\n")
	w.forking("closed", "model: openrouter/x\n", "Do it.\n")
	_, stderr, code := w.run("", "-p", "go", "-v")
	q := s.Requests()
	if code != 0 || len(q) != 4 {
		t.Fatalf("exit code %d, %d requests, stderr %s", code, len(q), stderr)
	}
	if q[1].Model != q[0].Model || !slices.Contains(names(q[1]), "write_file") {
		t.Errorf("asked was %s with %v", q[1].Model, names(q[1]))
	}
	for _, want := range []string{"unknown model 'fastest', using anthropic/", "unknown agent 'Wizard', using general-purpose"} {
		if !strings.Contains(stderr, want) {
			t.Errorf("%q is not in the log:\n%s", want, stderr)
		}
	}
	if got := q[3].LastResult(); !strings.Contains(got, `"success":false`) || !strings.Contains(got, "did not approve another provider") {
		t.Errorf("got %q", got)
	}
}

// F1: a skill that nobody approved does not choose who gets the conversation's files: a model of another provider, or of
// a server of this machine, is asked where the user's settings or an approval named it.
func TestForkKeepsProvider(t *testing.T) {
	for _, c := range []struct {
		name  string
		setUp func(*world)
		asked int // requests to the other provider
	}{
		{"nobody approved it", func(*world) {}, 0},
		{"everything may run, and nothing was approved", func(w *world) { w.env = append(w.env, "AGENT_SKILLS=all_untrusted") }, 0},
		{"approved, the model in the question", func(w *world) {
			_, stderr, code := w.run("", "skill", "trust", "survey", "--yes")
			if code != 0 || !strings.Contains(stderr, "asks for context: fork, model: chat/other") {
				w.t.Errorf("exit code %d, the question is %s", code, stderr)
			}
		}, 1},
		{"its folder is trusted", func(w *world) { w.succeeds("", "skill", "trust", "--yes", "--root", w.home+"/.agent/skills") }, 1},
		{"the user's settings name it", func(w *world) { w.write("home/.agent/config.yaml", "agent:\n  model: chat/other\n") }, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			main := fakemodel.New(t, callStep("skill", `{"skill_name":"survey"}`), fakemodel.Step{Text: "Done."})
			other := fakemodel.New(t, fakemodel.Step{Text: "Surveyed."})
			w := newWorld(t, main.Env()...)
			for _, kv := range other.Env() { // the later one counts
				if strings.HasPrefix(kv, "OPENAI_") {
					w.env = append(w.env, kv)
				}
			}
			w.forking("survey", "model: chat/other\n", "Survey.\n")
			c.setUp(w)
			w.succeeds("", "-p", "go", "--model", "anthropic/any")
			if got := len(other.Requests()); got != c.asked {
				t.Errorf("%d requests to the other provider, want %d", got, c.asked)
			}
			if got := main.Requests()[1].LastResult(); strings.Contains(got, `"success":true`) != (c.asked > 0) {
				t.Errorf("the call's result is %s", got)
			}
		})
	}
}
