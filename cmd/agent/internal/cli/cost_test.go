package cli_test

import (
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// A5: what why and info say that an activation costs is what the model gets, frame and envelope included.
func TestCostIsWhatIsSent(t *testing.T) {
	for _, name := range []string{"kalshi-markets", "hello-world", "hello-extended"} {
		t.Run(name, func(t *testing.T) {
			s := fakemodel.New(t, callStep("skill", `{"skill_name":"`+name+`"}`), fakemodel.Step{Text: "Done."})
			w := newWorld(t, s.Env()...)
			var d struct {
				Skill struct {
					Tokens struct{ Instructions int }
				}
			}
			if err := json.Unmarshal([]byte(w.succeeds("", "skill", "why", name, "--json")), &d); err != nil {
				t.Fatal(err)
			}
			w.succeeds("", "-p", "go")
			sent := disclose.Tokens(s.Requests()[1].LastResult())
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
