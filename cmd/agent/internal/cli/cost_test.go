package cli_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A5: what why and info say that an activation costs is what the model gets, frame and envelope included.
func TestCostIsWhatIsSent(t *testing.T) {
	for _, name := range []string{"kalshi-markets", "hello-world", "hello-extended"} {
		t.Run(name, func(t *testing.T) {
			s := fakemodel.New(t, callStep("skill", `{"skill_name":"`+name+`"}`), fakemodel.Step{Text: "Done."})
			w := newWorld(t, append(s.Env(), "AGENT_ENABLED="+name)...)
			var d struct {
				Skill struct {
					Tokens struct{ Instructions int }
				}
			}
			w.succeeds("", "-p", "go") // before the question, so that the tools of toolsets are known
			sent := disclose.Tokens(s.Requests()[1].LastResult())
			if err := json.Unmarshal([]byte(w.succeeds("", "skill", "why", name, "--json")), &d); err != nil {
				t.Fatal(err)
			}
			if got := d.Skill.Tokens.Instructions; got < sent*95/100 || got > sent*105/100 {
				t.Errorf("why says %d tokens, %d are sent", got, sent)
			}
		})
	}
}

// A5: /skills counts the tools of skills, which every request carries too.
func TestSkillsCommandCountsTools(t *testing.T) {
	w := newWorld(t, fakemodel.New(t).Env()...)
	out := w.succeeds("/skills\n")
	m := regexp.MustCompile(`about (\d+) tokens on skills and their tools`).FindStringSubmatch(out)
	if m == nil {
		t.Fatalf("no number in %q", out)
	}
	list := w.succeeds("", "skill", "prompt")
	if got, _ := strconv.Atoi(m[1]); got < disclose.Tokens(strings.TrimSpace(list))+400 {
		t.Errorf("got %d tokens, the list alone has %d", got, disclose.Tokens(list))
	}
}

// A6: skill prompt prints what the agent sends, with the budget that the agent computes, and --full prints all of it.
func TestPromptIsWhatIsSent(t *testing.T) {
	type tools []struct{ Name, Description string }
	for _, mode := range []string{"system-xml", "tool-description", "triggers", "minimal"} {
		t.Run(mode, func(t *testing.T) {
			s := fakemodel.New(t, fakemodel.Step{Text: "Done."})
			w := newWorld(t, append(s.Env(), "AGENT_DISCLOSURE="+mode)...)
			for i := range 150 {
				w.skill(fmt.Sprintf("report-%03d", i), fmt.Sprintf("Writes report %d. %s", i, strings.Repeat("It has tables and figures. ", 15)), "Write it.\n")
			}
			list, errs, _ := w.run("", "skill", "prompt")
			if cut := mode == "system-xml" || mode == "tool-description"; cut != strings.Contains(errs, "budget: 9,000 tokens, a twentieth of the context window of 1,000,000, at most 9,000") {
				t.Errorf("%s: stderr is %q", mode, errs)
			}
			var d struct {
				Prompt struct {
					Budget int
					Window int `json:"context_window"`
					Text   string
					Full   struct {
						System string
						Tools  tools
					}
				}
			}
			if err := json.Unmarshal([]byte(w.succeeds("", "skill", "prompt", "--full", "--json")), &d); err != nil {
				t.Fatal(err)
			}
			w.succeeds("", "-p", "go")
			q := s.Requests()[0]
			text := q.System
			sent := tools{}
			for _, tl := range q.Tools {
				text += "\n" + tl.Description
				sent = append(sent, struct{ Name, Description string }{tl.Name, tl.Description})
			}
			if text += q.Prompt(); !strings.Contains(text, strings.TrimSuffix(list, "\n")) || disclose.Tokens(list) > 9_000 {
				t.Errorf("%d tokens are printed that are not sent:\n%.300s", disclose.Tokens(list), list)
			}
			if p := d.Prompt; p.Full.System != q.System || !cmp.Equal(p.Full.Tools, sent) || p.Budget != 9_000 || p.Window != 1_000_000 {
				t.Errorf("--full differs from what is sent; budget %d, window %d, tools %s", p.Budget, p.Window, cmp.Diff(p.Full.Tools, sent))
			}
		})
	}
}
