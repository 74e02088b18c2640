package cli

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/scanner"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/export"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

type scanOptions struct {
	services *app.Services
	out      *output.Printer

	what              []string
	failOn            string
	rules             []string
	osv               string // folder of advisories
	json, sarif, sbom bool

	accept        []string // rules
	reason, until string
	shared        bool // the acceptance is the project's
}

func newScanCommand(s *app.Services, run func(context.Context, *scanOptions) error) *cobra.Command {
	o := &scanOptions{services: s, out: s.Out}
	c := &cobra.Command{
		Use:   "scan NAME|PATH|SOURCE...",
		Short: "Look for what a skill could do to you, without running it",
		Long: `Read every file of a skill and say which of what it does is a danger: code that comes from elsewhere and is run, secrets that
are sent away, text that means to deceive. Nothing of the skill is run, and nothing is installed.

Name a skill, its folder, a folder of skills, or a source as "agent skill add" takes it.

A finding of the severity --fail-on or worse makes the exit code 1. A scan that could not read all makes it 9: such a skill
is not known to be harmless. No finding does not mean that a skill is harmless, either.

--accept RULE says that you have looked at what the rule found in these skills and take the risk until a day. It holds for
the present content of each file alone. --json, --sarif and --sbom each print one document and nothing else.`,
		Example: `  agent skill scan ./my-skill
  agent skill scan csv-report --fail-on medium
  agent skill scan anthropics/skills --json
  agent skill scan .agents/skills --sarif > skills.sarif
  agent skill scan csv-report --accept fetch-run --reason "our own installer" --until 2030-06-30`,
		Args:              arguments(1, -1, "a skill, its folder, or where it is from"),
		ValidArgsFunction: completeSkillsAndFiles(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.what = args
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.failOn, "fail-on", string(scan.High), "the mildest `SEVERITY` that fails: low, medium, high or critical")
	c.Flags().StringArrayVar(&o.rules, "rules", nil, "also apply the rules in this `FILE` (repeatable)")
	c.Flags().StringVar(&o.osv, "osv", "", "also compare packages with the advisories in this `FOLDER`, in the form of OSV")
	c.Flags().StringArrayVar(&o.accept, "accept", nil, "accept what this `RULE`, or RULE:FILE, found (repeatable)")
	c.Flags().StringVar(&o.reason, "reason", "", "why it is accepted, as a `TEXT`")
	c.Flags().StringVar(&o.until, "until", "", "the last `DAY` on which it is accepted, such as 2030-06-30")
	c.Flags().BoolVar(&o.shared, "shared", false, "write the acceptance to .agent/accepted.yaml of the project, not to your own file")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	c.Flags().BoolVar(&o.sarif, "sarif", false, "print SARIF 2.1.0")
	c.Flags().BoolVar(&o.sbom, "sbom", false, "print the packages that the skills need, as CycloneDX 1.6")
	c.MarkFlagsMutuallyExclusive("json", "sarif", "sbom", "accept")
	c.MarkFlagsRequiredTogether("accept", "reason", "until")
	_ = c.RegisterFlagCompletionFunc("accept", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return ruleCompletions(), cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("fail-on", cobra.FixedCompletions([]cobra.Completion{"low", "medium", "high", "critical"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// scannedJSON is one skill in the output of scan --json.
type scannedJSON struct {
	Name     string `json:"name"`
	Path     string `json:"path"`     // its folder, as it was reached; in a source the path there
	Complete bool   `json:"complete"` // all of it was read
	Failed   bool   `json:"failed"`   // it has a finding of the severity that fails
	*scan.Report
}

// scanMemory is from where on a scan of many skills collects garbage more often, in bytes: one large skill would otherwise double what
// the command takes. It takes no longer for that.
const scanMemory = 130 << 20

func runScan(ctx context.Context, o *scanOptions) error {
	level := scan.Severity(o.failOn)
	if !slices.Contains(scan.Severities(), level) {
		return failure.Usage(fmt.Errorf("--fail-on %q is no severity", o.failOn), "use low, medium, high or critical")
	}
	judge, err := o.services.Scanner.Judge(o.rules...)
	if err == nil {
		err = judge.HeedProject()
	}
	if err != nil {
		return err
	}
	defer judge.Keep()()
	if most := debug.SetMemoryLimit(-1); most > scanMemory {
		debug.SetMemoryLimit(scanMemory)
		defer debug.SetMemoryLimit(most)
	}
	skills := &scannables{scanOptions: o}
	defer skills.close()
	for _, what := range o.what {
		if err := skills.add(ctx, what); err != nil {
			return err
		}
	}
	done, err := o.scanAll(ctx, judge, skills.list)
	if err != nil {
		return err
	}
	if len(o.accept) > 0 {
		return o.acceptAll(ctx, done)
	}
	for i := range done {
		for _, line := range judge.Accept(done[i].Report) {
			o.out.Warn(line)
		}
		done[i].Complete = rule.Complete(done[i].Findings)
		done[i].Failed = scanner.Worst(done[i].Findings).AtLeast(level)
	}
	if err := o.report(judge, done); err != nil {
		return err
	}
	return scanVerdict(done)
}

// scanAll scans skills side by side.
func (o *scanOptions) scanAll(ctx context.Context, judge *scanner.Judge, list []scannable) ([]scannedJSON, error) {
	done := make([]scannedJSON, len(list))
	reports := make([]*scan.Report, len(list))
	err := o.out.Busy("scanning "+output.Count(len(done), "skill"), func() error {
		err := parallel(ctx, len(done), runtime.GOMAXPROCS(0), func(i int) error {
			report, err := judge.Scan(ctx, list[i].files)
			if err != nil {
				return fmt.Errorf("%s: %w", list[i].path, err)
			}
			reports[i], done[i] = report, scannedJSON{Name: list[i].name, Path: list[i].path, Report: report}
			return nil
		})
		if err != nil || o.osv == "" {
			return err
		}
		folder, err := os.OpenRoot(o.services.Sys.Abs(o.osv))
		if err != nil {
			return err
		}
		defer folder.Close()
		return export.Advise(ctx, folder.FS(), reports...)
	})
	return done, err
}

// acceptAll writes acceptances of what the named rules found.
func (o *scanOptions) acceptAll(ctx context.Context, done []scannedJSON) error {
	until, err := time.Parse(time.DateOnly, o.until)
	if err != nil || until.Before(o.services.Sys.Now().Add(-24*time.Hour)) {
		return failure.Usage(fmt.Errorf("--until %q is no day that is to come", o.until), "write it as 2030-06-30")
	}
	var list []rule.Acceptance
	for _, text := range o.accept {
		id, file, _ := strings.Cut(text, ":")
		found := false
		for _, s := range done {
			for i := range s.Findings {
				f := &s.Findings[i]
				if f.Rule != id || file != "" && f.Place.File != file {
					continue
				}
				a, err := rule.Accepting(f, s.Name, o.reason, until)
				if err != nil {
					return failure.Usage(err, "")
				}
				found, list = true, append(list, a)
			}
		}
		if !found {
			return failure.NotFound(fmt.Errorf("the rule %q found nothing here", text), "agent skill scan without --accept shows what was found")
		}
	}
	name, err := o.services.Scanner.Accept(ctx, o.shared, list)
	if err != nil {
		return err
	}
	for _, a := range list {
		o.out.Printf("Accepted %s in %s of %s until %s\n", a.Rule, a.File, a.Skill, o.until)
	}
	o.out.Remark("it is written in " + name)
	return nil
}

// ruleCompletions are the rules with what they find.
func ruleCompletions() []cobra.Completion {
	out := []cobra.Completion{cobra.CompletionWithDesc(rule.Unread, "a file was not read")}
	for _, r := range rule.Builtin().Rules() {
		out = append(out, cobra.CompletionWithDesc(r.ID, r.Title))
	}
	return out
}

// scanVerdict returns the exit code of a scan as an error.
func scanVerdict(done []scannedJSON) error {
	switch {
	case slices.ContainsFunc(done, func(s scannedJSON) bool { return s.Failed }):
		return failure.Silent(failure.ExitFailure)
	case slices.ContainsFunc(done, func(s scannedJSON) bool { return !s.Complete }):
		return failure.Silent(failure.ExitIncomplete)
	}
	return nil
}

// report prints what was found.
func (o *scanOptions) report(judge *scanner.Judge, done []scannedJSON) error {
	if o.sarif || o.sbom {
		var skills []export.Skill
		for _, s := range done {
			skills = append(skills, export.Skill{Name: s.Name, Path: filepath.ToSlash(s.Path), Report: s.Report})
		}
		tool := export.Tool{Name: "agent", Version: setup.Version}
		if o.sarif {
			return o.out.JSON(export.SARIF(tool, judge.Rules(), skills))
		}
		return o.out.JSON(export.CycloneDX(tool, o.services.Sys.Now(), skills))
	}
	if o.json {
		failed := slices.ContainsFunc(done, func(s scannedJSON) bool { return s.Failed })
		complete := !slices.ContainsFunc(done, func(s scannedJSON) bool { return !s.Complete })
		return o.out.JSON(map[string]any{"skills": done, "fail_on": o.failOn, "failed": failed, "complete": complete})
	}
	counts := map[scan.Severity]int{}
	incomplete := 0
	for _, s := range done {
		if !s.Complete {
			incomplete++
		}
		for i := range s.Findings {
			f := &s.Findings[i]
			if f.Accepted == "" {
				counts[f.Severity]++
			}
			if f.Severity != scan.Low || o.failOn == string(scan.Low) {
				o.out.Printf("%s", o.line(s.Path, f))
			}
		}
	}
	if o.out.Quiet() || o.out.Flush() != nil {
		return nil
	}
	var parts []string
	for _, severity := range slices.Backward(scan.Severities()) {
		if n := counts[severity]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, severity))
		}
	}
	text := output.Count(len(done), "skill") + " scanned: " + strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = output.Count(len(done), "skill") + " scanned: nothing found"
	}
	if incomplete > 0 {
		text += fmt.Sprintf("; %d not read as a whole", incomplete)
	}
	fmt.Fprintln(o.out.Err, text)
	return nil
}

// line is a finding as a person reads it.
func (o *scanOptions) line(dir string, f *scan.Finding) ui.Safe {
	style := ui.Yellow
	if f.Severity.AtLeast(scan.High) {
		style = ui.Red
	}
	where := path.Join(dir, f.Place.File)
	for _, inside := range f.Place.Inside {
		where += "!" + inside
	}
	if f.Place.Line > 0 {
		where += fmt.Sprintf(":%d", f.Place.Line)
	}
	text := fmt.Sprintf("%s: %s[%s] %s\n", ui.Line(where), o.out.Paint(style, string(f.Severity)), ui.Line(f.Rule), ui.Line(f.Message))
	if f.Role != "" {
		text += "    a step milder, because of what the text is for: " + string(f.Role) + "\n"
	}
	if f.Accepted != "" {
		text += "    accepted: " + string(ui.Line(f.Accepted)) + "\n"
	}
	return ui.Safe(text)
}
