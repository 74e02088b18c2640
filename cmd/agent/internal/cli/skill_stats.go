package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace/audit"
)

type statsOptions struct {
	out      *output.Printer
	settings *setup.Settings
	skills   *library.Library

	name string
	json bool
}

func newStatsCommand(s *app.Services, run func(context.Context, *statsOptions) error) *cobra.Command {
	o := &statsOptions{out: s.Out, settings: s.Settings, skills: s.Skills}
	c := &cobra.Command{
		Use:   "stats [NAME]",
		Short: "Show how often skills are used, and which never are",
		Long: `Show for each skill how often it was activated, how many of its scripts ran and failed, how many tokens the requests to
models had while it was the skill activated last, and when it was last used. With --json, also counters for each model.

The counts are computed from the audit log, go back as far as it does, and are never sent anywhere. The setting
"usage: off" turns them off.`,
		Example: `  agent skill stats
  agent skill stats kalshi-markets --json`,
		Args:              arguments(0, 1, "the name of a skill or nothing"),
		ValidArgsFunction: completeSkills(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = strings.Join(args, "")
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// usageJSON is one skill of stats --json.
type usageJSON struct {
	Name        string  `json:"name"`
	Activations int     `json:"activations"`
	Runs        int     `json:"script_runs"`
	Failures    int     `json:"script_failures"`
	Refusals    int     `json:"refusals"`
	Tokens      int64   `json:"tokens"`
	LastUsed    *string `json:"last_used"` // RFC 3339, UTC; null if it never was
}

func runStats(ctx context.Context, o *statsOptions) error {
	cfg := o.settings.Config()
	for _, key := range []string{"usage", "audit"} {
		if key == "usage" && cfg.Usage == "off" || key == "audit" && cfg.Audit == "off" {
			return &failure.Error{Exit: failure.ExitFailure, Code: "failed", Err: errors.New("usage is not counted: " + o.settings.Origin(key)), Hint: "set \"" + key + ": on\" in your config.yaml"}
		}
	}
	dir, err := auditDir(o.settings)
	if err != nil {
		return err
	}
	stats := &audit.Stats{}
	for e, err := range audit.Read(ctx, dir) {
		if err != nil {
			return err
		}
		if e.Err == nil {
			stats.Add(&e.Record)
		}
	}
	list, err := o.list(ctx, stats)
	if err != nil {
		return err
	}
	if o.json {
		return o.printJSON(stats, list)
	}
	return o.print(stats, list)
}

// list returns the usage of the skills that were used, and of those of the catalogue that never were.
func (o *statsOptions) list(ctx context.Context, stats *audit.Stats) ([]audit.Usage, error) {
	cat, err := o.skills.Open(ctx)
	if err != nil {
		return nil, err
	}
	list := stats.Skills()
	used := map[string]bool{}
	for _, u := range list {
		used[u.Skill] = true
	}
	for e := range cat.All() {
		if !used[e.Canonical()] && (e.State() == skill.StateEnabled || e.State() == skill.StateHidden) {
			list = append(list, audit.Usage{Skill: e.Canonical()})
		}
	}
	if o.name == "" {
		return list, nil
	}
	if err := manifest.CheckName(o.name); err != nil {
		return nil, err
	}
	name := manifest.Canonical(o.name)
	if i := slices.IndexFunc(list, func(u audit.Usage) bool { return u.Skill == name }); i >= 0 {
		return list[i : i+1], nil
	}
	_, err = library.Find(cat, o.name)
	return []audit.Usage{{Skill: name}}, err
}

func (o *statsOptions) printJSON(stats *audit.Stats, list []audit.Usage) error {
	out := struct {
		Since  *string         `json:"since"`
		Skills []usageJSON     `json:"skills"`
		Models []audit.Metrics `json:"models"`
		Total  audit.Metrics   `json:"total"`
	}{timeJSON(stats.Since()), []usageJSON{}, stats.Models(), stats.Total()}
	for _, u := range list {
		out.Skills = append(out.Skills, usageJSON{u.Skill, u.Activations, u.Runs, u.Failures, u.Refusals, u.Tokens, timeJSON(u.LastUsed)})
	}
	return o.out.JSON(out)
}

func timeJSON(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(time.RFC3339)
	return &text
}

func (o *statsOptions) print(stats *audit.Stats, list []audit.Usage) error {
	var rows [][]string
	var never []string
	for _, u := range list {
		if u.LastUsed.IsZero() && o.name == "" {
			never = append(never, u.Skill)
			continue
		}
		last := "never"
		if !u.LastUsed.IsZero() {
			last = u.LastUsed.Local().Format("2006-01-02 15:04")
		}
		rows = append(rows, []string{u.Skill, strconv.Itoa(u.Activations), strconv.Itoa(u.Runs), strconv.Itoa(u.Failures), strconv.Itoa(u.Refusals), strconv.FormatInt(u.Tokens, 10), last})
	}
	if len(rows) > 0 {
		if err := o.out.Table([]string{"SKILL", "ACTIVATED", "RUNS", "FAILED", "REFUSED", "TOKENS", "LAST USED"}, rows); err != nil {
			return err
		}
	}
	if len(never) > 0 {
		o.out.Printf("Never used: %s\n", strings.Join(never, ", "))
	}
	if since := stats.Since(); !since.IsZero() && o.name == "" && !o.out.Quiet() && o.out.Flush() == nil {
		o.out.Hint(fmt.Sprintf("counted since %s", since.Local().Format("2006-01-02")))
	}
	return nil
}
