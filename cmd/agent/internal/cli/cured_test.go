package cli_test

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// cureIn finds the command that a failure names: after "hint: ", or after a colon in a sentence for a model.
var cureIn = regexp.MustCompile(`(?m)(?:^hint: |: |\()((?:[A-Z_]+=\S+ )?agent (?:--skills-dir \S+ )?skill [a-z]+ [^"\n),]*?)(?:(?:"|\)|,| (?:lists|names|approves|puts|shows|explains|removes|fetches)\b).*)?$`)

// cured runs a command that fails, then the command that its failure names, as it stands, and the first one again, which has to get
// further: cured COMMAND ARGS... What asks a person is answered by --yes.
func cured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: cured COMMAND ARGS...")
	}
	said := func() string { return ts.ReadFile("stderr") + ts.ReadFile("stdout") }
	if ts.Exec(args[0], args[1:]...) == nil && !cureIn.MatchString(said()) {
		ts.Fatalf("it does not fail")
	}
	before := said()
	found := cureIn.FindStringSubmatch(before)
	if found == nil {
		ts.Fatalf("no command is named")
	}
	ts.Logf("the cure is %s", found[1])
	if ts.Exec("sh", "-c", found[1]) != nil && (!strings.Contains(said(), "--yes") || ts.Exec("sh", "-c", found[1]+" --yes") != nil) {
		ts.Fatalf("the cure fails: %s", found[1])
	}
	if err := ts.Exec(args[0], args[1:]...); err != nil && said() == before {
		ts.Fatalf("the cure %s changes nothing", found[1])
	}
	if again := cureIn.FindStringSubmatch(said()); again != nil && again[1] == found[1] {
		ts.Fatalf("the cure %s is named again", found[1])
	}
}
