package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	slashpath "path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill/check"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/toolset"
)

// verdictJSON is one skill in the output of validate --json.
type verdictJSON struct {
	Path     string             `json:"path"` // of its manifest, as it was reached
	Name     string             `json:"name"`
	Valid    bool               `json:"valid"` // no problem is an error
	Fixed    []manifest.Problem `json:"fixed"` // what --fix repaired; the rest is in problems
	Problems []manifest.Problem `json:"problems"`

	shown shownVerdict // instead of the problems, if a person reads it
}

// shownVerdict is what a person reads about one skill.
type shownVerdict struct {
	lines                    ui.Safe
	fixed, fixable, warnings int
}

type validateOptions struct {
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library

	paths            []string
	fix, codes, json bool
}

func newValidateCommand(s *app.Services, run func(context.Context, *validateOptions) error) *cobra.Command {
	o := &validateOptions{sys: s.Sys, out: s.Out, settings: s.Settings, skills: s.Skills}
	c := &cobra.Command{
		Use:   "validate NAME|PATH...",
		Short: "Check skills: what is wrong, where, and how to fix it",
		Long: `Check a skill by its name, a SKILL.md, a skill's folder, or all skills in a folder. Each problem is one line
"file:line:col: severity[code] message", followed by its cure. Errors make the exit code 4; warnings do not.

With --strict, apply the rules of the open standard; with --profile, those of another document. --fix repairs in place
what needs no decision. It keeps comments and order.`,
		Example: `  agent skill validate csv-report
  agent skill validate --strict .agents/skills
  agent skill validate --fix .agents/skills/csv-report/SKILL.md
  agent skill validate --codes`,
		Args: func(c *cobra.Command, args []string) error {
			if o.codes {
				return arguments(0, 0, "no arguments with --codes")(c, args)
			}
			return arguments(1, -1, "a skill, or the path of a SKILL.md, of a skill or of a folder of skills")(c, args)
		},
		ValidArgsFunction: completeSkillsAndFiles(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.paths = args
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.fix, "fix", false, "repair in place what needs no decision")
	c.Flags().BoolVar(&o.codes, "codes", false, "list the codes of all problems instead")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runValidate(ctx context.Context, o *validateOptions) error {
	if o.codes {
		return o.printCodes()
	}
	for _, p := range o.settings.Problems() {
		o.out.WarnProblem(p)
	}
	profile, err := manifest.ProfileNamed(o.settings.Config().Profile)
	if err != nil {
		return err
	}
	var targets []target
	var missing []error
	for _, path := range o.paths {
		more, tree, err := o.targets(ctx, path)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil { // the others are checked
			missing = append(missing, err)
			continue
		}
		defer tree.Close()
		targets = append(targets, more...)
	}
	verdicts, err := o.all(ctx, targets, profile)
	if err != nil {
		return err
	}
	invalid := 0
	for _, v := range verdicts {
		if !v.Valid {
			invalid++
		}
	}
	if o.json {
		if err := o.out.JSON(map[string]any{"skills": verdicts, "valid": invalid == 0 && len(missing) == 0}); err != nil {
			return err
		}
	} else if len(verdicts) > 0 {
		o.print(verdicts, invalid)
	}
	if len(missing) > 0 {
		return joined(missing)
	}
	if invalid > 0 {
		return failure.Silent(failure.ExitInvalid)
	}
	return nil
}

// joined returns the errors as one, with the exit code and the hint of the first.
func joined(errs []error) error {
	if len(errs) == 1 {
		return errs[0]
	}
	first := failure.Explain(errs[0])
	return &failure.Error{Exit: first.Exit, Code: first.Code, Hint: first.Hint, Err: errors.Join(errs...)}
}

// all checks skills side by side, as long as nothing is written.
func (o *validateOptions) all(ctx context.Context, targets []target, profile *manifest.Profile) ([]verdictJSON, error) {
	verdicts := make([]verdictJSON, len(targets))
	memories := sync.Pool{New: func() any { return &check.Memory{} }}
	one := func(i int) error {
		memory := memories.Get().(*check.Memory)
		defer memories.Put(memory)
		v, err := o.one(ctx, targets[i], &check.Options{Profile: profile, ScriptRule: o.settings.Survey().Rule, Memory: memory})
		if err != nil {
			return err
		}
		for i := range v.Problems { // what they say may lie in the memory of the next check
			p := &v.Problems[i]
			p.Field, p.Message, p.Cure = strings.Clone(p.Field), strings.Clone(p.Message), strings.Clone(p.Cure)
		}
		if !o.json {
			v.shown = o.shown(v)
			v.Fixed, v.Problems = nil, nil
		}
		verdicts[i] = *v
		return nil
	}
	if o.fix { // one after the other: it writes, and warns about what it cannot repair
		return verdicts, parallel(ctx, len(targets), 1, one)
	}
	return verdicts, o.out.Busy("checking "+output.Count(len(targets), "skill"), func() error {
		return parallel(ctx, len(targets), runtime.GOMAXPROCS(0), one)
	})
}

// one checks one skill by the rules of a profile, after repairing it with --fix. It sets the path of the result.
func (o *validateOptions) one(ctx context.Context, t target, by *check.Options) (*verdictJSON, error) {
	path := filepath.Join(t.dir, t.file)
	v := &verdictJSON{Path: path, Fixed: []manifest.Problem{}, Problems: []manifest.Problem{}}
	parse := &manifest.Options{File: path, Dir: filepath.Base(o.sys.Abs(t.dir)), Profile: by.Profile}
	if o.fix {
		repaired, err := repair(o.sys.Abs(t.dir), t.file, parse)
		if err != nil {
			o.out.Warn(fmt.Sprintf("%s: nothing was repaired: %v", path, err))
		}
		v.Fixed = append(v.Fixed, repaired...)
	}
	var problems []manifest.Problem
	if t.bare {
		src, err := readManifestAt(o.sys.Abs(t.dir), t.file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		parse.Dir = ""
		m, found := manifest.Parse(src, parse)
		v.Name, problems = m.Name, found
	} else {
		by.Path = filepath.ToSlash(t.dir)
		if t.rel != "." {
			by.Root, by.Rel = t.tree, t.rel
		}
		v.Name, problems = t.check(ctx, parse.Dir, by)
	}
	v.Problems = append(v.Problems, problems...)
	v.Valid = !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Severity == manifest.SeverityError })
	return v, nil
}

// check checks the skill. What cannot be read in the quick way is read as a catalogue does, which follows links within
// its root and knows better what is wrong.
func (t *target) check(ctx context.Context, dir string, by *check.Options) (string, []manifest.Problem) {
	if folder, err := t.tree.In(t.rel); err == nil {
		defer folder.Close()
		files := walk.ReadOnce(folder)
		m, problems := check.Folder(files, dir, by)
		if !slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Code == "file-unreadable" }) {
			return strings.Clone(m.Name), append(problems, ofPrograms(m, files, by.Path)...)
		}
	}
	tree, err := t.open(ctx)
	if err != nil {
		m, problems := check.Folder(unreadable{err}, dir, by)
		return m.Name, problems
	}
	defer tree.Close()
	m, problems := check.Folder(tree, dir, by)
	return m.Name, append(problems, ofPrograms(m, tree, by.Path)...)
}

// ofPrograms returns what is wrong with the programs that a skill starts: with the working directory that its manifest asks for, and
// with its toolsets. folder is what problems call the skill's folder.
func ofPrograms(m *manifest.Manifest, fsys fs.FS, folder string) []manifest.Problem {
	var out []manifest.Problem
	for _, p := range slices.Concat(script.CheckManifest(m), toolset.Check(fsys, m)) {
		if p.Code == "metadata-cwd" || p.Code == "toolset-entry" {
			p.File = slashpath.Join(folder, p.File)
			out = append(out, p)
		}
	}
	return out
}

// unreadable is a folder that could not be opened.
type unreadable struct{ err error }

func (u unreadable) Open(string) (fs.File, error) { return nil, u.err }

// shown returns what a person reads about one skill.
func (o *validateOptions) shown(v *verdictJSON) shownVerdict {
	out := shownVerdict{fixed: len(v.Fixed)}
	var b strings.Builder
	for _, p := range v.Fixed {
		fmt.Fprintf(&b, "%s:%d:%d: %s[%s] %s\n", ui.Line(p.File), p.Line, p.Col, o.out.Paint(ui.Green, "repaired"), ui.Line(p.Code), ui.Line(p.Message))
	}
	for _, p := range v.Problems {
		if p.Severity != manifest.SeverityError {
			out.warnings++
		}
		b.WriteString(string(problemLine(o.out, &p)) + "\n")
		if manifest.Fixes(p.Code) {
			out.fixable++
		}
		if p.Cure != "" {
			b.WriteString("    " + string(o.out.Wrapped(p.Cure, 4)) + "\n")
		}
	}
	out.lines = ui.Safe(b.String())
	return out
}

// print prints the problems of all skills, and on stderr how it went.
func (o *validateOptions) print(all []verdictJSON, invalid int) {
	fixed, fixable, warnings := 0, 0, 0
	for _, v := range all {
		fixed, fixable, warnings = fixed+v.shown.fixed, fixable+v.shown.fixable, warnings+v.shown.warnings
		o.out.Printf("%s", v.shown.lines)
	}
	if o.out.Quiet() || o.out.Flush() != nil {
		return
	}
	text := output.Count(len(all), "skill") + " checked, "
	switch {
	case invalid > 0:
		text += fmt.Sprintf("%d not valid", invalid)
	case len(all) == 1:
		text += "valid"
	default:
		text += "all valid"
	}
	if warnings > 0 {
		text += ", " + output.Count(warnings, "warning")
	}
	if fixed > 0 {
		text += ", " + output.Count(fixed, "problem") + " repaired"
	}
	if fixable > 0 && !o.fix {
		text += "; --fix repairs " + output.Count(fixable, "problem")
	}
	fmt.Fprintln(o.out.Err, text)
}

// problemLine is a problem with its severity in colour.
func problemLine(out *output.Printer, p *manifest.Problem) ui.Safe {
	style := ui.Yellow
	if p.Severity == manifest.SeverityError {
		style = ui.Red
	}
	where := p.File
	if p.Line > 0 {
		where = fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Col)
	}
	severity := out.Paint(style, p.Severity.String())
	return ui.Safe(fmt.Sprintf("%s: %s[%s] %s", ui.Line(where), severity, ui.Line(p.Code), ui.Line(p.Message)))
}

// printCodes lists every rule with its severity in the profile, by code.
func (o *validateOptions) printCodes() error {
	cfg := o.settings.Config()
	rules := manifest.Codes()
	if o.json {
		return o.out.JSON(map[string][]manifest.Rule{"codes": rules})
	}
	rows := make([][]string, len(rules))
	for i, r := range rules {
		rows[i] = []string{r.Code, r.Severity[cfg.Profile].String(), r.Description}
	}
	return o.out.Table([]string{"CODE", "SEVERITY", "MEANING"}, rows)
}
