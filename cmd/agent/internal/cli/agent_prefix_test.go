package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// wires are the models by which each wire is reached.
var wires = []string{"anthropic/any", "openai/any", "chat/any", "gemini/any"}

// R68, R69, issue 4.3: what every request begins with is the same bytes from turn to turn, on each wire, and what was
// said once is said again in the same bytes. A skill that changes on disk, comes or goes while the conversation runs is
// described in the next turn.
func TestPrefixHolds(t *testing.T) {
	for _, model := range wires {
		for _, row := range []struct {
			name   string
			change func(*world)
			want   []string
		}{
			{"nothing changes", func(*world) {}, nil},
			{"edited", func(w *world) { w.skill("notes", "Takes notes in a new way.", "Write them down.\n") },
				[]string{"Skills changed on disk. Changed: notes.", "Takes notes in a new way."}},
			{"added", func(w *world) { w.skill("songs", "Writes songs.", "Sing.\n") },
				[]string{"Skills changed on disk. Added: songs.", "Writes songs."}},
			{"removed", func(w *world) { w.remove("home/.agent/skills/notes") },
				[]string{"Skills changed on disk. Removed: notes."}},
			{"all three", func(w *world) {
				w.remove("home/.agent/skills/notes")
				w.skill("songs", "Writes songs.", "Sing.\n")
				w.skill("plans", "Makes better plans.", "Plan.\n")
			}, []string{"Skills changed on disk. Added: songs. Removed: notes. Changed: plans.", "Writes songs.", "Makes better plans."}},
		} {
			t.Run(model+" "+row.name, func(t *testing.T) {
				var w *world
				s := fakemodel.New(t,
					fakemodel.Step{Text: "I look.", Calls: []fakemodel.Call{{Name: "skill", Args: `{"skill_name":"hello-world"}`}}},
					fakemodel.Step{From: func(*fakemodel.Request) fakemodel.Step {
						row.change(w) // while the first turn still runs: the second one is told
						return fakemodel.Step{Text: "Hello."}
					}},
					fakemodel.Step{Calls: []fakemodel.Call{{Name: "hello", Args: `{"name":"Ada"}`}}},
					fakemodel.Step{Text: "Again."},
					fakemodel.Step{Text: "And again."})
				w = newWorld(t, append(s.Env(), "AGENT_ENABLED=hello-world")...)
				w.skill("notes", "Takes notes.", "Write.\n")
				w.skill("plans", "Makes plans.", "Plan.\n")
				w.succeeds("Greet me\nGreet Ada\nOnce more\n", "--model", model)
				requests := s.Requests()
				if len(requests) != 5 {
					t.Fatalf("%d requests, want 5", len(requests))
				}
				if p := string(requests[0].Prefix); !strings.Contains(p, "hello-world") || !strings.Contains(p, "script_run") {
					t.Fatalf("the prefix has no skills or no tools: %s", p)
				}
				sameBytes(t, requests)
				told(t, requests, row.want)
			})
		}
	}
}

// sameBytes checks that requests begin with each other.
func sameBytes(t *testing.T, requests []*fakemodel.Request) {
	t.Helper()
	first := requests[0]
	for i, q := range requests[1:] {
		if !bytes.Equal(q.Prefix, first.Prefix) {
			t.Errorf("request %d has another prefix:\n%s\n%s", i+1, q.Prefix, first.Prefix)
		}
		before := requests[i].Turns
		if len(q.Turns) <= len(before) {
			t.Fatalf("request %d has %d turns, the one before %d", i+1, len(q.Turns), len(before))
		}
		for n, turn := range before {
			if got, want := unmarked(q.Turns[n]), unmarked(turn); got != want {
				t.Errorf("request %d, turn %d:\n%s\nwas\n%s", i+1, n, got, want)
			}
		}
	}
}

// unmarked is a turn without the mark to which Anthropic's servers keep what comes before; it goes with the last turn.
func unmarked(turn []byte) string {
	return strings.ReplaceAll(string(turn), `,"cache_control":{"type":"ephemeral"}`, "")
}

// told checks that the second prompt is the only one with news, and that these are they.
func told(t *testing.T, requests []*fakemodel.Request, want []string) {
	t.Helper()
	for i, at := range []int{0, 2, 4} { // the requests that bring a prompt
		prompt := requests[at].Prompt()
		if i != 1 {
			if strings.Contains(prompt, "changed on disk") {
				t.Errorf("prompt %d mentions a change: %q", i, prompt)
			}
			continue
		}
		if !strings.HasSuffix(prompt, "Greet Ada") || len(want) == 0 && prompt != "Greet Ada" {
			t.Errorf("got the prompt %q", prompt)
		}
		for _, text := range want {
			if !strings.Contains(prompt, text) {
				t.Errorf("%q is not in the prompt %q", text, prompt)
			}
		}
	}
}

// C13, R83: however the skills are disclosed, the prefix holds: what the words of a prompt bring up, and what changed on
// disk, stands in that prompt's turn.
func TestPrefixHoldsInEachMode(t *testing.T) {
	for _, row := range []struct {
		mode   string
		listed bool   // in the prefix
		turn   string // what the words bring up
	}{
		{"system-xml", true, ""},
		{"tool-description", true, ""},
		{"triggers", false, `<skill_content name="hello-extended"`},
		{"minimal", false, ""},
	} {
		t.Run(row.mode, func(t *testing.T) {
			var w *world
			s := fakemodel.New(t, fakemodel.Step{Text: "It is noon."}, fakemodel.Step{From: func(*fakemodel.Request) fakemodel.Step {
				w.skill("songs", "Writes songs.", "Sing.\n")
				return fakemodel.Step{Text: "Hola."}
			}}, fakemodel.Step{Text: "Adios."})
			w = newWorld(t, append(s.Env(), "AGENT_DISCLOSURE="+row.mode, "AGENT_TOOLSET_TOOLS=call", "AGENT_ENABLED=hello-extended")...) // the tools of toolsets that are not there at first would be added
			out := w.succeeds(question + "\ngreet Ada in spanish\ngreet Bo in spanish\n/skills\n")
			q := s.Requests()
			sameBytes(t, q)
			if got := strings.Contains(string(q[0].Prefix), "Greets people in six languages"); got != row.listed {
				t.Errorf("the prefix lists the skill: %t\n%s", got, q[0].Prefix)
			}
			for i, prompt := range []string{q[0].Prompt(), q[1].Prompt(), q[2].Prompt()} {
				if got, want := strings.Contains(prompt, "<skill_content"), row.turn != "" && i == 1; got != want {
					t.Errorf("prompt %d has instructions: %t, want %t: %q", i, got, want, prompt)
				}
			}
			if !strings.Contains(q[1].Prompt(), row.turn) || !strings.Contains(q[2].Prompt(), "Added: songs") {
				t.Errorf("got the prompts %q and %q", q[1].Prompt(), q[2].Prompt())
			}
			if got := strings.Contains(out, "* hello-extended"); got != (row.turn != "") {
				t.Errorf("hello-extended is active: %t\n%s", got, out)
			}
		})
	}
}

// The new list holds for the tools too: a skill that came is activated, one that went is not found (R68).
func TestChangedSkillsAreUsed(t *testing.T) {
	call := func(name string) fakemodel.Step {
		return fakemodel.Step{Calls: []fakemodel.Call{{Name: "skill", Args: `{"skill_name":"` + name + `"}`}}}
	}
	var w *world
	s := fakemodel.New(t, call("notes"), fakemodel.Step{From: func(*fakemodel.Request) fakemodel.Step {
		w.remove("home/.agent/skills/notes")
		w.skill("songs", "Writes songs.", "Sing of the sea.\n")
		w.skill("plans", "Makes plans.", "Plan for the week.\n")
		return fakemodel.Step{Text: "Done."}
	}}, call("notes"), call("songs"), call("plans"), fakemodel.Step{Text: "Done."})
	w = newWorld(t, s.Env()...)
	w.skill("notes", "Takes notes.", "Write it down.\n")
	w.skill("plans", "Makes plans.", "Plan for the day.\n")
	w.succeeds("first\nsecond\n")
	var got []string
	for _, r := range s.Requests()[5].Results() {
		got = append(got, r.Text)
	}
	for i, want := range []string{"Write it down.", "Skill 'notes' not found.", "Sing of the sea.", "Plan for the week."} {
		if i >= len(got) || !strings.Contains(got[i], want) {
			t.Errorf("result %d: got %q, want %q in it", i, got, want)
		}
	}
}

// C71: with more skills than the list has room for, a message gets the skills that it is about in its turn, each once, and
// the prefix stays the same.
func TestTurnDescribesWhatTheListLacks(t *testing.T) {
	for _, mode := range []string{"system-xml", "tool-description"} {
		t.Run(mode, func(t *testing.T) {
			s := fakemodel.New(t, fakemodel.Step{Text: "Hello."}, fakemodel.Step{Text: "Two."}, fakemodel.Step{Text: "Still two."})
			w := newWorld(t, append(s.Env(), "AGENT_DISCLOSURE="+mode, "AGENT_BUDGET=60")...)
			w.skill("notes", "Takes notes.", "Write.\n")
			w.skill("zebra-census", "Counts zebras in photos of a herd.", "Count.\n")
			w.succeeds("Good morning\nHow many zebras are here?\nAnd zebras there?\n", "--model", "anthropic/any")
			requests := s.Requests()
			if len(requests) != 3 {
				t.Fatalf("%d requests, want 3", len(requests))
			}
			sameBytes(t, requests)
			const line = "- zebra-census: Counts zebras in photos of a herd."
			for i, want := range []int{0, 1, 1} {
				all := ""
				for _, turn := range requests[i].Turns {
					all += string(turn)
				}
				if got := strings.Count(all, line); got != want {
					t.Errorf("request %d describes the skill %d times, want %d:\n%s", i+1, got, want, all)
				}
			}
		})
	}
}
