package cli_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// sees is what a row of TestSettingsReach looks at.
type sees struct {
	requests []*fakemodel.Request
	stdout   string
	stderr   string
}

// last is the result of the latest call.
func (s *sees) last() string {
	if len(s.requests) == 0 {
		return ""
	}
	return s.requests[len(s.requests)-1].LastResult()
}

// A setting reaches what it is about: a row sets it, and its effect is in a request of the agent or in a result. The
// same run without the setting must not have the effect.
func TestSettingsReach(t *testing.T) {
	script := callStep("script_run", `{"skill_name":"odd","script_name":"where","json":false}`)
	for _, c := range []struct {
		name, config string
		env          []string
		flags        []string
		steps        []fakemodel.Step
		effect       func(*sees) bool
	}{
		{"scriptRead", "skills:\n  scriptRead: allow\n", nil, nil,
			[]fakemodel.Step{callStep("skill_read", `{"skill_name":"odd","path":"scripts/where.sh"}`)},
			func(s *sees) bool { return strings.Contains(s.last(), "pwd") }},
		{"scriptRead of a file tool", "skills:\n  scriptRead: allow\n", nil, nil,
			[]fakemodel.Step{callStep("read_file", `{"file_path":"HOME/.agent/skills/odd/scripts/where.sh"}`)},
			func(s *sees) bool { return strings.Contains(s.last(), "pwd") }},
		{"strictStack", "skills:\n  strictStack: true\n", nil, nil,
			[]fakemodel.Step{callStep("skill", `{"skill_name":"odd"}`), callStep("skill", `{"skill_name":"odd"}`)},
			func(s *sees) bool { return strings.Contains(s.last(), `"success":false`) }},
		{"errorText", "skills:\n  errorText: true\n", nil, nil, []fakemodel.Step{callStep("skill", `{"skill_name":"nowhere"}`)},
			func(s *sees) bool { return strings.Contains(s.last(), `"error":"Skill 'nowhere' not found.`) }},
		{"errorText of a file tool", "skills:\n  errorText: true\n", nil, nil, []fakemodel.Step{callStep("read_file", `{"file_path":".git/config"}`)},
			func(s *sees) bool {
				return strings.Contains(s.last(), `"error":"'.git/config' belongs to version control`)
			}},
		{"the profile omniforge", "", nil, []string{"--profile", "omniforge"}, []fakemodel.Step{callStep("skill", `{"skill_name":"nowhere"}`)},
			func(s *sees) bool { return strings.Contains(s.last(), `"error":"Skill 'nowhere' not found.`) }},
		{"cwd", "skills:\n  cwd: skill\n", nil, nil, []fakemodel.Step{script}, func(s *sees) bool { return strings.Contains(s.last(), "at=odd\\n") }},
		{"maxScriptOutput", "skills:\n  maxScriptOutput: 30\n", nil, nil, []fakemodel.Step{script},
			func(s *sees) bool { return !strings.Contains(s.last(), "the end of a long line") }},
		{"scriptTimeout", "skills:\n  scriptTimeout: 300ms\n", nil, nil,
			[]fakemodel.Step{callStep("script_run", `{"skill_name":"odd","script_name":"waits","json":false}`)},
			func(s *sees) bool { return strings.Contains(s.last(), "timed out") }},
		{"maxTurns", "agent:\n  maxTurns: 1\n", nil, nil, []fakemodel.Step{script}, func(s *sees) bool { return strings.Contains(s.stderr, "stopped after 1 request\n") }},
		{"--max-turns", "", nil, []string{"--max-turns", "1"}, []fakemodel.Step{script}, func(s *sees) bool { return strings.Contains(s.stderr, "stopped after 1 request\n") }},
		{"maxTokens", "agent:\n  maxTokens: 1\n", nil, nil, []fakemodel.Step{script}, func(s *sees) bool { return strings.Contains(s.stderr, "raise the setting maxTokens") }},
		{"maxTime", "agent:\n  maxTime: 300ms\n", nil, nil,
			[]fakemodel.Step{callStep("script_run", `{"skill_name":"odd","script_name":"waits","json":false}`)},
			func(s *sees) bool { return strings.Contains(s.stderr, "the time for one prompt is over") }},
		{"contextWindow", "agent:\n  contextWindow: 8000\n", nil, nil, nil, func(s *sees) bool { return !strings.Contains(s.requests[0].System, strings.Repeat("Long ", 150)) }},
		{"promptBlocks", "agent:\n  promptBlocks: [paths]\n", nil, nil, nil, func(s *sees) bool { return strings.Contains(s.requests[0].System, "## Path Resolution") }},
		{"model", "agent:\n  model: anthropic/chosen\n", nil, nil, nil, func(s *sees) bool { return s.requests[0].Model == "chosen" }},
		{"disclosure", "skills:\n  disclosure: minimal\n", nil, nil, nil, func(s *sees) bool { return !strings.Contains(string(s.requests[0].Prefix), "Runs an odd script") }},
		{"maxSkills", "skills:\n  maxSkills: 1\n", nil, nil, nil, func(s *sees) bool { return !strings.Contains(string(s.requests[0].Prefix), "Runs an odd script") }},
		{"budget", "skills:\n  budget: 100\n", nil, nil, nil, func(s *sees) bool { return !strings.Contains(string(s.requests[0].Prefix), "Runs an odd script") }},
		{"deny", "skills:\n  deny: [odd]\n", nil, nil, nil, func(s *sees) bool { return !strings.Contains(string(s.requests[0].Prefix), "Runs an odd script") }},
		{"the log of what was loaded", "", nil, []string{"-v"}, nil, func(s *sees) bool {
			return strings.Contains(s.stderr, "Loaded skill 'odd' with 2 scripts") && strings.Contains(s.stderr, " skill toolsets, ")
		}},
		{"the log's errors", "", nil, []string{"-v"}, nil, func(s *sees) bool {
			return strings.Contains(s.stderr, `level=ERROR msg="Failed to load skill 'damaged'`) && strings.Contains(s.stderr, `level=INFO msg="Loaded skill 'odd'`)
		}},
		{"the log's format", "", nil, []string{"-v", "--log-format", "json"}, nil, func(s *sees) bool {
			return strings.Contains(s.stderr, `"level":"INFO","msg":"Loaded skill 'odd' with 2 scripts"`)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if s := settingsRun(t, c.steps, c.config, c.env, c.flags); !c.effect(s) {
				t.Errorf("the setting has no effect; the last result is %s\nstderr %s", s.last(), s.stderr)
			}
			if s := settingsRun(t, c.steps, "", nil, nil); c.effect(s) {
				t.Errorf("without the setting it is the same: the row proves nothing; the last result is %s\nstderr %s", s.last(), s.stderr)
			}
		})
	}
}

// settingsRun is one prompt in a world with a skill whose folder is trusted.
func settingsRun(t *testing.T, steps []fakemodel.Step, config string, env, flags []string) *sees {
	t.Helper()
	var w *world
	var there []fakemodel.Step
	s := fakemodel.New(t)
	w = newWorld(t, append(s.Env(), env...)...)
	for _, step := range steps {
		for i := range step.Calls {
			step.Calls = append([]fakemodel.Call(nil), step.Calls...)
			step.Calls[i].Args = strings.ReplaceAll(step.Calls[i].Args, "HOME", w.home)
		}
		there = append(there, step)
	}
	s.SetSteps(append(there, fakemodel.Step{Text: "Done."})...)
	w.skill("odd", "Runs an odd script.", "Run it.\n")
	w.write("home/.agent/skills/odd/scripts/where.sh", "echo at=$(basename \"$(pwd)\")\necho a long line so that there is something to cut, up to the end of a long line\n")
	w.write("home/.agent/skills/odd/scripts/waits.sh", "sleep 1\necho end\n")
	w.skill("damaged", "Cannot be loaded.", "A byte that no text has: \x00\n")
	for _, name := range []string{"a-long-one", "b-long-one"} {
		w.skill(name, strings.TrimSpace(strings.Repeat("Long ", 180))+".", "Nothing.\n")
	}
	w.succeeds("", "skill", "trust", "--yes", "--root", w.home+"/.agent/skills")
	if config != "" {
		w.write("home/.agent/config.yaml", config)
	}
	stdout, stderr, _ := w.run("", append([]string{"-p", "go"}, flags...)...)
	return &sees{s.Requests(), stdout, stderr}
}

// A request that a provider could not answer for the moment is sent again.
func TestRetriesReach(t *testing.T) {
	s := fakemodel.New(t, fakemodel.Step{Status: 503, RetryAfter: "0"}, fakemodel.Step{Text: "Done."})
	w := newWorld(t, s.Env()...)
	w.succeeds("", "-p", "go")
	if n := len(s.Requests()); n != 2 {
		t.Errorf("got %d requests, want 2", n)
	}
}

// The context window decides when a conversation is shortened, and how much of an active skill is carried over.
func TestWindowReaches(t *testing.T) {
	for _, c := range []struct{ window, requests int }{{12_000, 4}, {40_000, 3}} {
		t.Run(strconv.Itoa(c.window), func(t *testing.T) {
			s := fakemodel.New(t, callStep("skill", `{"skill_name":"long"}`),
				fakemodel.Step{Text: "Read.", Usage: fakemodel.Usage{Input: 11_500, Output: 10}},
				fakemodel.Step{From: func(r *fakemodel.Request) fakemodel.Step {
					return fakemodel.Step{Text: "It went well."} // the summary, or the answer
				}}, fakemodel.Step{Text: "Done."})
			w := newWorld(t, s.Env()...)
			w.skill("long", "Has many words.", strings.Repeat("The quick brown fox jumps over the lazy dog. ", 700))
			w.write("home/.agent/config.yaml", fmt.Sprintf("agent:\n  contextWindow: %d\n", c.window))
			w.succeeds("first\nsecond\n")
			requests := s.Requests()
			if len(requests) != c.requests {
				t.Fatalf("got %d requests, want %d", len(requests), c.requests)
			}
			if c.requests == 3 { // not shortened
				return
			}
			body := string(requests[3].Body)
			_, carried, found := strings.Cut(body, "It went well.")
			if !found {
				t.Fatalf("no summary in %.2000s", body)
			}
			if n := strings.Count(carried, "quick brown fox"); n < 150 || n > 300 {
				t.Errorf("%d sentences of the skill are carried, want about 250", n)
			}
		})
	}
}

// R59: with the profile omniforge two folders of one value are ordered by the priority of the skill, and by default by
// their layer.
func TestPrecedenceReaches(t *testing.T) {
	for _, c := range []struct{ profile, want string }{{"omniforge", "Of Claude."}, {"", "Of the project."}} {
		t.Run(c.profile, func(t *testing.T) {
			w := newWorld(t)
			w.write("work/.agent/skills/twin/SKILL.md", "---\nname: twin\ndescription: Of the project.\n---\nGo.\n")
			w.write("work/.claude/skills/twin/SKILL.md", "---\nname: twin\ndescription: Of Claude.\npriority: 5\n---\nGo.\n")
			if out := w.succeeds("", "skill", "info", "twin", "--json", "--profile", c.profile); !strings.Contains(out, `"description":"`+c.want) {
				t.Errorf("got %.300s, want %q", out, c.want)
			}
		})
	}
}
