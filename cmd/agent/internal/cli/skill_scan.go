package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

type scanOptions struct {
	services *app.Services
	out      *app.Printer

	what   []string
	failOn string
	rules  []string
	json   bool
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
is not known to be harmless. No finding does not mean that a skill is harmless, either.`,
		Example: `  agent skill scan ./my-skill
  agent skill scan csv-report --fail-on medium
  agent skill scan anthropics/skills --json`,
		Args:              arguments(1, -1, "a skill, its folder, or where it is from"),
		ValidArgsFunction: completeSkillsAndFiles(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.what = args
			return run(c.Context(), o)
		},
	}
	c.Flags().StringVar(&o.failOn, "fail-on", string(scan.High), "the mildest `SEVERITY` that fails: low, medium, high or critical")
	c.Flags().StringArrayVar(&o.rules, "rules", nil, "also apply the rules in this `FILE` (repeatable)")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
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

func runScan(ctx context.Context, o *scanOptions) error {
	level := scan.Severity(o.failOn)
	if !slices.Contains(scan.Severities(), level) {
		return app.Usage(fmt.Errorf("--fail-on %q is no severity", o.failOn), "use low, medium, high or critical")
	}
	judge, err := o.services.Scanner.Judge(o.rules...)
	if err != nil {
		return err
	}
	skills := &scannables{scanOptions: o}
	defer skills.close()
	for _, what := range o.what {
		if err := skills.add(ctx, what); err != nil {
			return err
		}
	}
	done := make([]scannedJSON, len(skills.list))
	err = o.out.Busy("scanning "+app.Count(len(done), "skill"), func() error {
		return parallel(ctx, len(done), runtime.GOMAXPROCS(0), func(i int) error {
			one := skills.list[i]
			report, err := judge.Scan(ctx, one.files)
			if err != nil {
				return fmt.Errorf("%s: %w", one.path, err)
			}
			done[i] = scannedJSON{Name: one.name, Path: one.path, Report: report, Complete: rule.Complete(report.Findings)}
			done[i].Failed = slices.ContainsFunc(report.Findings, func(f scan.Finding) bool { return f.Accepted == "" && f.Severity.AtLeast(level) })
			return nil
		})
	})
	if err != nil {
		return err
	}
	if err := o.report(done); err != nil {
		return err
	}
	return scanVerdict(done)
}

// scanVerdict returns the exit code of a scan as an error.
func scanVerdict(done []scannedJSON) error {
	switch {
	case slices.ContainsFunc(done, func(s scannedJSON) bool { return s.Failed }):
		return app.Silent(app.ExitFailure)
	case slices.ContainsFunc(done, func(s scannedJSON) bool { return !s.Complete }):
		return app.Silent(app.ExitIncomplete)
	}
	return nil
}

// report prints what was found.
func (o *scanOptions) report(done []scannedJSON) error {
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
			if f.Severity != scan.Low {
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
	text := app.Count(len(done), "skill") + " scanned: " + strings.Join(parts, ", ")
	if len(parts) == 0 {
		text = app.Count(len(done), "skill") + " scanned: nothing found"
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

// scannable is a skill that can be scanned.
type scannable struct {
	name, path string
	files      fs.FS
}

// scannables are the skills of a scan. close closes what they are read from.
type scannables struct {
	*scanOptions
	list    []scannable
	closers []func() error
}

func (s *scannables) close() {
	for _, c := range slices.Backward(s.closers) {
		_ = c() // it was only read
	}
}

// add finds the skills that a text means: a path, the name of a skill, or a source.
func (s *scannables) add(ctx context.Context, what string) error {
	info, err := os.Stat(s.services.Sys.Abs(what))
	if err == nil && (info.IsDir() || strings.EqualFold(path.Base(what), "SKILL.md")) {
		return s.folders(ctx, what)
	}
	if err == nil || strings.ContainsAny(what, "/:@") {
		return s.source(ctx, what)
	}
	cat, err := s.services.Skills.OpenFor(ctx, what)
	if err != nil {
		return err
	}
	e, err := app.Find(cat, what)
	if err != nil {
		return err
	}
	opened, err := e.Load(ctx)
	if err != nil {
		return err
	}
	s.closers = append(s.closers, opened.Close)
	s.list = append(s.list, scannable{e.Name(), path.Dir(location(ctx, e)), opened.Whole()})
	return nil
}

// folders adds the skills of a folder.
func (s *scannables) folders(ctx context.Context, what string) error {
	sv := s.services
	found, tree, err := (&validateOptions{sys: sv.Sys, out: s.out, settings: sv.Settings, skills: sv.Skills}).targets(ctx, what)
	if err != nil {
		return err
	}
	if err := tree.Close(); err != nil {
		return err
	}
	for _, t := range found {
		root, err := os.OpenRoot(sv.Sys.Abs(t.dir))
		if err != nil {
			return err
		}
		s.closers = append(s.closers, root.Close)
		s.list = append(s.list, scannable{path.Base(sv.Sys.Abs(t.dir)), t.dir, root.FS()})
	}
	return nil
}

// source gets the skills of a source.
func (s *scannables) source(ctx context.Context, what string) error {
	packages := s.services.Packages
	ref, err := packages.Parse(what)
	if err != nil {
		return err
	}
	in, err := packages.Installer()
	if err != nil {
		return err
	}
	return s.out.Busy("fetching "+ref.String(), func() error {
		place, err := in.OpenAll(ctx, ref)
		if err != nil {
			return err
		}
		s.closers = append(s.closers, place.Close)
		if len(place.Skills) == 0 {
			return app.NotFound(errors.New("there is no skill in "+ref.String()), "a skill is a folder with a SKILL.md")
		}
		if err := place.Get(ctx, place.Skills...); err != nil {
			return err
		}
		for _, c := range place.Skills {
			files, err := place.Files(c)
			if err != nil {
				return err
			}
			s.list = append(s.list, scannable{c.Manifest.Name, c.Path, files})
		}
		return nil
	})
}
