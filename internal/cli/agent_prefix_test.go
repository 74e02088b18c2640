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
// told of in the next turn.
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
				w = newWorld(t, s.Env()...)
				w.skill("notes", "Takes notes.", "Write.\n")
				w.skill("plans", "Makes plans.", "Plan.\n")
				w.succeeds("Greet me\nGreet Ada\nOnce more\n", "--model", model)
				requests := s.Requests()
				if len(requests) != 5 {
					t.Fatalf("%d requests, want 5", len(requests))
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
	if !strings.Contains(string(first.Prefix), "hello-world") || !strings.Contains(string(first.Prefix), "script_run") {
		t.Fatalf("the prefix has no skills or no tools: %s", first.Prefix)
	}
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
				t.Errorf("prompt %d is told of a change: %q", i, prompt)
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
