package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

type testOptions struct {
	services *app.Services

	name         string
	only         []string
	junit, model string
	trusted      bool
	noRun, json  bool
	limit        time.Duration
}

func newTestCommand(s *app.Services, run func(context.Context, *testOptions) error) *cobra.Command {
	o := &testOptions{services: s}
	c := &cobra.Command{
		Use:   "test NAME|FOLDER",
		Short: "Test a skill: scripts, toolsets, triggers, its own tests, evals",
		Long: `Test a skill:

  manifest    what "agent skill validate" finds
  references  files that SKILL.md names are there
  scripts     --help explains, --json prints JSON only, an unknown option is an error
  toolsets    each tool has a name, a description and a schema that every model accepts
  triggers    the requests in evals/*.json bring the skill up, or do not, as "should_trigger" says
  tests       the skill's own: test_*.py, *_test.py, *.test.ts, *.test.js, *_test.sh
  evals       evals/evals.json, with the model of --model or of the settings

What cannot be checked here is skipped, with the reason. The skill's programs run in the sandbox, in an empty folder, and
only if the skill is trusted: on a terminal you are asked. With --trusted its content counts as yours until the command
ends; nothing is stored. With --no-run nothing of the skill is started.

The exit code is 1 if something failed, 4 if the skill is not valid, 5 if something was skipped because the skill is not
trusted. Warnings do not change it.`,
		Example: `  agent skill test csv-report
  agent skill test ./csv-report --trusted --junit report.xml
  agent skill test csv-report --only scripts --only triggers`,
		Args:              arguments(1, 1, "the name or the folder of a skill"),
		ValidArgsFunction: completeSkillsAndFolders(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	f := c.Flags()
	f.StringSliceVar(&o.only, "only", nil, "check only this `GROUP` (repeatable, or several with commas)")
	f.StringVar(&o.junit, "junit", "", "also write the results to this `FILE`, as JUnit XML")
	f.StringVar(&o.model, "model", "", "the model for evals, as `PROVIDER/NAME`")
	f.BoolVar(&o.trusted, "trusted", false, "it is yours: let its programs run, this once")
	f.DurationVar(&o.limit, "timeout", defaultTestLimit, "`TIME` for the whole test, such as 30s or 1h; 0 for no limit")
	f.BoolVar(&o.noRun, "no-run", false, "start nothing of the skill")
	f.BoolVar(&o.json, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("only", cobra.FixedCompletions(groupNames(), cobra.ShellCompDirectiveNoFileComp))
	return c
}

func groupNames() []string {
	var out []string
	for _, g := range trial.Groups() {
		out = append(out, string(g))
	}
	return out
}

// groups returns the groups that are checked.
func (o *testOptions) groups() ([]trial.Group, error) {
	var out []trial.Group
	for _, name := range o.only {
		if !slices.Contains(groupNames(), name) {
			return nil, failure.Usage(fmt.Errorf("unknown group %q", name), "the groups are "+strings.Join(groupNames(), ", "))
		}
		out = append(out, trial.Group(name))
	}
	return out, nil
}

func runTest(ctx context.Context, o *testOptions) error {
	groups, err := o.groups()
	if err != nil {
		return err
	}
	if o.trusted && o.noRun {
		return failure.Usage(errors.New("--trusted and --no-run at once"), "--no-run starts nothing, so nothing has to be trusted")
	}
	b, err := openBench(ctx, o.services, o.name, o.trusted)
	if err != nil {
		return err
	}
	defer b.close()
	b.model = o.model
	report, stopped := o.test(ctx, b, groups)
	if report == nil {
		return stopped
	}
	if err := o.end(b, report); err != nil {
		return err
	}
	if stopped != nil {
		return stopped
	}
	return outcome(report)
}

// defaultTestLimit is how long a whole test may take if nothing else is said.
const defaultTestLimit = 30 * time.Minute

// test tests the skill and prints each case when it is known, unless all are printed as JSON. If ctx is done, it returns what was
// known by then and an error.
func (o *testOptions) test(ctx context.Context, b *bench, groups []trial.Group) (*trial.Report, error) {
	last := ""
	show := func(c trial.Case) {
		if !o.json {
			c = b.cured(c)
			printCase(b.Out, &c, last)
			last = c.Message
			_ = b.Out.Flush() // a later write has the error
		}
	}
	s, err := b.entry.Load(ctx)
	var broken *skill.BrokenError
	if errors.As(err, &broken) {
		r := &trial.Report{Skill: b.entry.Name(), Cases: trial.Broken(broken.Problems)}
		for _, c := range r.Cases {
			show(c)
		}
		if len(r.Cases) > 0 {
			return r, nil
		}
	}
	if err != nil {
		return nil, err
	}
	defer s.Close()
	folder := ""
	if !o.noRun {
		if folder, err = os.MkdirTemp(b.Sys.Temp, "agent-test-"); err != nil {
			return nil, err
		}
		defer os.RemoveAll(folder) //nolint:errcheck // a folder for temporary files
	}
	to, err := b.trialIn(folder)
	if err != nil {
		return nil, err
	}
	to.Groups, to.Each, to.Limit = groups, show, o.limit
	if wants := groups == nil || slices.Contains(groups, trial.Evals); wants && !o.noRun {
		if err := b.evaluate(ctx, to); err != nil {
			return nil, err
		}
	}
	return trial.Run(ctx, s, to)
}

// end prints the whole result, and writes it for other programs.
func (o *testOptions) end(b *bench, r *trial.Report) error {
	if o.junit != "" {
		var text bytes.Buffer
		if err := trial.JUnit(&text, r); err != nil {
			return err
		}
		if err := writeFile(b.Sys.Abs(o.junit), text.Bytes()); err != nil {
			return err
		}
	}
	if o.json {
		return b.Out.JSON(newTestJSON(b, r))
	}
	if err := b.Out.Flush(); err != nil {
		return err
	}
	if !b.Out.Quiet() {
		b.Out.Details([]string{summary(r)})
	}
	if r.Untrusted {
		b.Out.Hint(fmt.Sprintf("agent skill test %s --trusted runs it this once, if it is yours; %s", cure.Word(o.name), cure.Trust(b.entry.Canonical())))
	}
	if warning := b.Sandbox.Warning(r.Sandbox); warning != "" {
		b.Out.Warn(warning)
	}
	return nil
}

// summary counts the outcomes.
func summary(r *trial.Report) string {
	var parts []string
	for _, one := range []struct {
		status trial.Status
		text   string
	}{{trial.Failed, "failed"}, {trial.Warned, "with a warning"}, {trial.Skipped, "skipped"}, {trial.Passed, "passed"}} {
		if n := r.Count(one.status); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, one.text))
		}
	}
	if len(parts) == 0 {
		return r.Skill + ": nothing to check"
	}
	return r.Skill + ": " + strings.Join(parts, ", ")
}

// cured returns a case with the command that may mend it, if it says no cure itself. What a missing approval needs is said once, at
// the end.
func (b *bench) cured(c trial.Case) trial.Case {
	if c.Cure == "" && c.Err != nil && !cure.IsUntrusted(c.Err) {
		c.Cure = b.Out.Typed(b.Settings.Cures().Of(c.Err, b.entry.Canonical()).Hint())
	}
	return c
}

// printCase prints one check, and below it why it did not pass, unless that is what was said last.
func printCase(out *output.Printer, c *trial.Case, last string) {
	mark := out.Paint(ui.Green, "✓")
	switch c.Status {
	case trial.Failed:
		mark = out.Paint(ui.Red, "✗")
	case trial.Warned:
		mark = out.Paint(ui.Yellow, "!")
	case trial.Skipped:
		mark = out.Paint(ui.Dim, "○")
	}
	name := c.Name
	if c.Line > 0 {
		name = fmt.Sprintf("%s:%d %s", c.File, c.Line, c.Name)
	}
	out.Printf("%s %s%s %s", mark, out.Paint(ui.Dim, string(c.Group)), ui.Safe(strings.Repeat(" ", max(0, 10-len(c.Group)))), name)
	if c.Status == trial.Passed {
		if c.Message != "" {
			out.Printf("  %s", out.Paint(ui.Dim, c.Message))
		}
		out.Printf("\n")
		return
	}
	if c.Status == trial.Skipped {
		out.Printf("  %s", out.Paint(ui.Dim, "skipped"))
	}
	out.Printf("\n")
	if c.Message == last {
		return
	}
	for _, line := range strings.Split(strings.TrimSpace(c.Message), "\n") {
		if strings.TrimSpace(line) != "" {
			out.Printf("    %s\n", out.Wrapped(line, 4))
		}
	}
	if c.Cure != "" {
		out.Printf("    %s\n", out.Paint(ui.Dim, string(out.Wrapped(c.Cure, 4))))
	}
}

// testJSON is the output of test --json.
type testJSON struct {
	Skill struct {
		Name string `json:"name"`
		Path string `json:"path"`
	} `json:"skill"`
	Passed  bool            `json:"passed"` // nothing failed, and nothing was skipped for want of trust
	Valid   bool            `json:"valid"`
	Counts  map[string]int  `json:"counts"`
	Sandbox *runner.Sandbox `json:"sandbox"` // null if no program ran
	Cases   []caseJSON      `json:"cases"`
}

type caseJSON struct {
	Group   string `json:"group"`
	Name    string `json:"name"`
	Status  string `json:"status"`
	Message string `json:"message,omitempty"`
	Cure    string `json:"cure,omitempty"`
	File    string `json:"file,omitempty"`
	Line    int    `json:"line,omitempty"`
	Millis  int64  `json:"duration_ms"`
}

func newTestJSON(b *bench, r *trial.Report) *testJSON {
	out := &testJSON{Passed: r.Count(trial.Failed) == 0 && !r.Untrusted, Valid: r.Valid(), Counts: map[string]int{}, Sandbox: r.Sandbox, Cases: []caseJSON{}}
	out.Skill.Name, out.Skill.Path = r.Skill, b.dir
	for _, status := range []trial.Status{trial.Passed, trial.Warned, trial.Failed, trial.Skipped} {
		out.Counts[string(status)] = r.Count(status)
	}
	for _, c := range r.Cases {
		c = b.cured(c)
		out.Cases = append(out.Cases, caseJSON{string(c.Group), c.Name, string(c.Status), c.Message, c.Cure, c.File, c.Line, c.Duration.Milliseconds()})
	}
	return out
}
