package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/cure"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

type whyOptions struct {
	inspector
	out *output.Printer

	name string
	json bool
}

func newWhyCommand(s *app.Services, run func(context.Context, *whyOptions) error) *cobra.Command {
	o := &whyOptions{inspector: newInspector(s), out: s.Out}
	c := &cobra.Command{
		Use:   "why NAME",
		Short: "Explain why a skill is loaded or not",
		Long: `Explain on one screen whether a skill is loaded and why, which file it is, which skills of the same name it hides,
whether its scripts may run, which tools a model may use while it is active, which of its fields have an effect, and what
it costs. Nothing is executed.`,
		Example:           `  agent skill why kalshi-markets`,
		Args:              arguments(1, 1, "the name of a skill"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			worker.HideExamples(s, s.Settings.Config().Agent.Model, "")
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runWhy(ctx context.Context, o *whyOptions) error {
	d, err := o.lookup(ctx, o.skills.OpenAll, o.name)
	if err != nil {
		return o.orBelow(ctx, err)
	}
	if o.json {
		return o.out.JSON(map[string]*details{"skill": d})
	}
	o.out.Printf("%s %s %s\n\n", o.out.Mark(d.State), d.Name, verdict(d))
	o.out.Facts([][2]string{
		{"because", d.Reason},
		{"decided by", d.DecidedBy},
		{"file", place(d.Location, d.Path)},
		{"source", d.Source},
		{"hides", shadowsText(d)},
		{"contains", insideText(d)},
		{"trust", trustText(d)},
		{"tools", d.Restricts},
		{"granted", grantedText(d)},
		{"asks for", permissionsText(d)},
		{"tokens", tokensText(d)},
		{"enforced", fieldsText(d, manifest.StandingEnforced)},
		{"only shown", fieldsText(d, manifest.StandingInformational)},
		{"rejected", fieldsText(d, manifest.StandingRejected)},
	})
	o.out.Problems(ownProblems(d))
	return nil
}

// orBelow returns the error for a skill that is not found, or one that says where below the working directory it is.
func (o *whyOptions) orBelow(ctx context.Context, err error) error {
	if !errors.As(err, new(*skill.NotFoundError)) {
		return err
	}
	list, _ := skillsBelow(ctx, o.skills)
	for _, s := range list {
		if manifest.Canonical(s.Name) != manifest.Canonical(o.name) {
			continue
		}
		dir := filepath.Dir(filepath.Dir(filepath.Dir(filepath.Dir(s.Location)))) // above .claude/skills/NAME/SKILL.md
		return failure.NotFound(fmt.Errorf("%s is not loaded here: a conversation finds it once it works in %s: %s", s.Name, dir, s.Location),
			"work there from the start: cd "+cure.Word(dir))
	}
	return err
}

// insideText lists the manifests below the skill.
func insideText(d *details) string {
	n := len(d.Inside)
	if n == 0 {
		return ""
	}
	text := strings.Join(d.Inside[:min(n, mostAbsent)], ", ")
	if n > mostAbsent {
		text += fmt.Sprintf(" and %d more", n-mostAbsent)
	}
	return text + ": a SKILL.md there is a file of this skill"
}

// verdict says in a few words what the state means.
func verdict(d *details) string {
	switch d.State {
	case skill.StateEnabled.String():
		return "is loaded"
	case skill.StateHidden.String():
		return "is loaded, but hidden from models"
	case skill.StateDisabled.String():
		return "is not loaded: it is disabled"
	case skill.StateUnavailable.String():
		return "is not loaded: it is unavailable"
	}
	return "cannot be loaded"
}

func place(location, path string) string {
	if location == "" {
		return path + "/SKILL.md (embedded)"
	}
	return location
}

func fieldsText(d *details, s manifest.Standing) string {
	var out []string
	for _, f := range d.Fields {
		if f.Standing == s.String() {
			out = append(out, fmt.Sprintf("%s (line %d)", f.Key, f.Line))
		}
	}
	return strings.Join(out, ", ")
}
