package cli_test

import (
	"regexp"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// In what a command says: where a command that a failure names begins, and ends; a flag that is named instead; and what only shows
// something.
var (
	cureBegins = regexp.MustCompile(`(?:^(?:hint: )?|[:,;] |\(| or )((?:[A-Z_]+=\S+ )?agent (?:--skills-dir \S+ )?(?:skill|mcp) [a-z])`)
	cureEnds   = regexp.MustCompile(`["),;]| (?:lists|names|shows|explains|approves|puts|removes|fetches|installs|accepts|writes|makes|records|goes)\b`)
	cureFlag   = regexp.MustCompile(`(?m)^hint: (--[a-z-]+)(?: (?:[a-z]+ .*|[a-z]+s))?$`)
	cureLooks  = regexp.MustCompile(` skill (?:info|list|manage|show|tools|verify|why)\b| mcp (?:info|list|test)\b`)
)

// curesIn returns the commands that a failure names, but for those that only show something.
func curesIn(said string) (commands []string) {
	for line := range strings.Lines(said) {
		line = strings.TrimSpace(line)
		for _, at := range cureBegins.FindAllStringSubmatchIndex(line, -1) {
			command := line[at[2]:]
			if end := cureEnds.FindStringIndex(command); end != nil {
				command = command[:end[0]]
			}
			if !cureLooks.MatchString(command) {
				commands = append(commands, command)
			}
		}
	}
	return commands
}

// cured runs a command that fails, then the command that its failure names, as it stands, and the first one again, which has to get
// further: cured COMMAND ARGS... Of several that are named it is the first. If a flag is named, the first command gets it. What asks
// a person is answered by the flag that is named.
func cured(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: cured COMMAND ARGS...")
	}
	said := func() string { return ts.ReadFile("stderr") + ts.ReadFile("stdout") }
	flag := func() string {
		if found := cureFlag.FindStringSubmatch(said()); found != nil {
			return found[1]
		}
		return ""
	}
	err := ts.Exec(args[0], args[1:]...)
	before, commands := said(), curesIn(said())
	if with := flag(); len(commands) == 0 && with != "" {
		ts.Logf("the cure is %s", with)
		if err := ts.Exec(args[0], append(slices.Clone(args[1:]), with)...); err != nil && (said() == before || flag() == with) {
			ts.Fatalf("the cure %s does not help", with)
		}
		return
	}
	switch {
	case len(commands) == 0 && err == nil:
		ts.Fatalf("it does not fail")
	case len(commands) == 0:
		ts.Fatalf("no command is named")
	}
	cure := commands[0]
	ts.Logf("the cure is %s", cure)
	if ts.Exec("sh", "-c", cure) != nil && (flag() == "" || ts.Exec("sh", "-c", cure+" "+flag()) != nil) {
		ts.Fatalf("the cure fails: %s", cure)
	}
	if err := ts.Exec(args[0], args[1:]...); err != nil && said() == before {
		ts.Fatalf("the cure %s changes nothing", cure)
	}
	if again := curesIn(said()); slices.Contains(again, cure) {
		ts.Fatalf("the cure %s is named again", cure)
	}
}
