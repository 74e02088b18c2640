package consent

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/grants"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// Whatever can be given has a word that names it alone, a flag that is documented, and a place in what is shown of a grant.
func TestEveryKindThatIsGiven(t *testing.T) {
	docs, err := os.ReadFile("../../../../docs/permissions.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range want.Kinds() {
		if !k.Granted() {
			continue
		}
		w := grants.User(want.Of(k, k.Sample()))
		for _, name := range []string{k.Sample(), "write", "clear-home", "/dev/x", "a.b", "NAME", "env:A", "read:/x"} {
			if one := grants.User(want.Of(k, name)); one.Check() == nil && grants.ReadWord(grants.WordOf(one)) != one {
				t.Errorf("the word %s of %s is read as %s", grants.WordOf(one), one, grants.ReadWord(grants.WordOf(one)))
			}
		}
		if k.Usage() != "" && !strings.Contains(string(docs), "--"+k.Title(want.User)) {
			t.Errorf("docs/permissions.md has no --%s", k.Title(want.User))
		}
		view := grants.ViewOf(&trust.Grant{Given: want.New(w)}, false)
		text, err := view.MarshalJSON()
		if err != nil || !strings.Contains(string(text), `"`+k.Title(want.User)+`":`) || !strings.Contains(view.Text(), k.Title(want.User)) {
			t.Errorf("%s is shown as %q and %s, %v", w, view.Text(), text, err)
		}
	}
}

// A typed word that names nothing is refused, whichever kind it is of.
func TestChooseChecks(t *testing.T) {
	p := &Proposal{policy: &policy.Policy{}, manifest: &manifest.Manifest{}, set: func(string) bool { return true }}
	for _, word := range []string{"package:", "read:x", "host:a:b:c", "env:", "home:x"} {
		if err := p.choose(word); err == nil || len(p.choice.gets) > 0 {
			t.Errorf("%s gives %s", word, p.choice.gets)
		}
	}
	lines := strings.Join(p.wordLines(), "\n")
	for _, k := range want.Kinds() {
		if k.Usage() != "" && !k.Single() && !slices.ContainsFunc([]string{grants.WordOf(want.Of(k, k.Sample()))}, func(word string) bool { return strings.Contains(lines, word) }) {
			t.Errorf("the help does not name a %s:\n%s", k, lines)
		}
	}
}

// What a person types in a question is read as what it says, and what nobody gives is refused there too.
func TestTypedWords(t *testing.T) {
	p := &Proposal{policy: &policy.Policy{Home: "/home/ada", Own: "/home/ada/.agent"}, manifest: &manifest.Manifest{}, set: func(string) bool { return true }}
	for line, expected := range map[string]string{
		"write:/home/ada/notes":      "user write:/home/ada/notes",
		"write:~/notes":              "user write:/home/ada/notes",
		"write:/home/ada":            "",
		"write:/":                    "",
		"read:/home/ada/.agent/x":    "",
		"write net home":             "user home, user host:*, user write:.",
		"api.example.com localhost":  "user host:api.example.com, user host:localhost",
		"host:buildhost TOKEN":       "user env:TOKEN, user host:buildhost",
		"host:buildhost -buildhost":  "",
		"host:a -host:a env:a -a":    "",
		"read:notes":                 "",
		"https://api.example.com/v1": "",
	} {
		p.choice = choice{}
		err := p.choose(line)
		if got := p.choice.gets.String(); got != expected || (err == nil) != (expected != "") && !strings.HasSuffix(line, "-a") {
			t.Errorf("%s: got %s, %v", line, got, err)
		}
	}
}
