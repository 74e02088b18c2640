package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

type auditShowOptions struct {
	auditFilter
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings

	most         int
	follow, json bool
}

func newAuditShowCommand(s *app.Services, run func(context.Context, *auditShowOptions) error) *cobra.Command {
	o := &auditShowOptions{sys: s.Sys, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "show",
		Short: "List records of the audit log",
		Long: `List records of the audit log, the oldest first: when, what happened, with which skill, and the outcome. Without -n,
the newest 100 of those that the flags choose.`,
		Example: `  agent audit show
  agent audit show --skill kalshi-markets --since 7d
  agent audit show --denied --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	o.flags(c, s)
	c.Flags().IntVarP(&o.most, "lines", "n", 100, "list the newest `N` records; 0 lists all")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func newAuditTailCommand(s *app.Services, run func(context.Context, *auditShowOptions) error) *cobra.Command {
	o := &auditShowOptions{sys: s.Sys, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "tail",
		Short: "Print the newest records, and with --follow those that come",
		Long:  `Print the newest records of the audit log, one a line. With --follow, go on with those that are written, until Ctrl-C.`,
		Example: `  agent audit tail
  agent audit tail --follow --denied
  agent audit tail -f -n 0 --json | jq .event`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	o.flags(c, s)
	c.Flags().IntVarP(&o.most, "lines", "n", 10, "begin with the newest `N` records")
	c.Flags().BoolVarP(&o.follow, "follow", "f", false, "print records as they are written")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object a line")
	return c
}

// chosenRecords are the newest records of a log that a filter chooses.
type chosenRecords struct {
	list   []audit.Record
	total  int // that the filter chooses
	broken brokenLines
}

// choose reads the log in dir. most bounds the records that are kept; 0 keeps all.
func choose(ctx context.Context, dir string, f *audit.Filter, most int) (*chosenRecords, error) {
	out := &chosenRecords{}
	for e, err := range audit.Read(ctx, dir) {
		switch {
		case err != nil:
			return nil, err
		case !out.broken.add(e) || !f.Match(&e.Record):
			continue
		}
		out.total++
		out.list = append(out.list, e.Record)
		if most > 0 && len(out.list) >= 2*most {
			out.list = slices.Delete(out.list, 0, len(out.list)-most)
		}
	}
	if most > 0 && len(out.list) > most {
		out.list = out.list[len(out.list)-most:]
	}
	return out, nil
}

// auditDir returns the folder of the log, and an error without a home.
func auditDir(settings *setup.Settings) (string, error) {
	if err := settings.NeedHome(); err != nil {
		return "", err
	}
	return settings.Config().Paths.Audit(), nil
}

// noRecords says why there are none.
func noRecords(out *output.Printer, settings *setup.Settings) {
	if out.Quiet() {
		return
	}
	if settings.Config().Audit == "off" {
		out.Hint("nothing is recorded: " + settings.Origin("audit"))
		return
	}
	out.Hint("no records")
}

func (o *auditShowOptions) read(ctx context.Context) (*chosenRecords, *audit.Filter, error) {
	if o.most < 0 {
		return nil, nil, failure.Usage(fmt.Errorf("invalid number %d for --lines", o.most), "use 0 or more")
	}
	f, err := o.filter(o.sys.Now())
	if err != nil {
		return nil, nil, err
	}
	dir, err := auditDir(o.settings)
	if err != nil {
		return nil, nil, err
	}
	found, err := choose(ctx, dir, f, o.most)
	if err == nil {
		found.broken.warn(o.out)
	}
	return found, f, err
}

func runAuditShow(ctx context.Context, o *auditShowOptions) error {
	found, _, err := o.read(ctx)
	if err != nil {
		return err
	}
	if o.json {
		return o.out.JSON(struct {
			Records []audit.Record `json:"records"`
			Total   int            `json:"total"`
		}{append([]audit.Record{}, found.list...), found.total})
	}
	if len(found.list) == 0 {
		noRecords(o.out, o.settings)
		return nil
	}
	rows := make([][]string, len(found.list))
	for i := range found.list {
		r := &found.list[i]
		rows[i] = []string{r.Time().Local().Format("2006-01-02 15:04:05"), string(r.Event), output.OrDash(r.Skill), about(r)}
	}
	if err := o.out.Table([]string{"TIME", "EVENT", "SKILL", "WHAT"}, rows); err != nil {
		return err
	}
	if n := found.total - len(found.list); n > 0 && !o.out.Quiet() && o.out.Flush() == nil {
		o.out.Hint(fmt.Sprintf("%s before these: -n 0 lists all", output.Count(n, "record")))
	}
	return nil
}

// runAuditTail prints records until there are no more, or with --follow until it is interrupted.
func runAuditTail(ctx context.Context, o *auditShowOptions) error {
	most := o.most
	if most == 0 && o.follow {
		o.most = 1 // read them, and print none
	}
	found, f, err := o.read(ctx)
	if err != nil {
		return err
	}
	for i := range found.list {
		if most == 0 {
			break
		}
		if err := o.line(&found.list[i]); err != nil {
			return err
		}
	}
	if !o.follow {
		return nil
	}
	for e, err := range audit.Follow(ctx, o.settings.Config().Paths.Audit()) {
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !f.Match(&e.Record):
			continue
		}
		if err := o.line(&e.Record); err != nil {
			return err
		}
	}
	return nil
}

// line prints one record.
func (o *auditShowOptions) line(r *audit.Record) error {
	if o.json {
		return o.out.JSONLine(r)
	}
	style := ui.Dim
	if r.Refused() {
		style = ui.Red
	}
	o.out.Printf("%s  %s  %s  %s\n", o.out.Paint(ui.Dim, r.Time().Local().Format("15:04:05")), o.out.Paint(style, string(r.Event)), output.OrDash(r.Skill), about(r))
	return o.out.Flush()
}

// about describes a record in a few words.
func about(r *audit.Record) string {
	var words []string
	add := func(text string) {
		if text != "" {
			words = append(words, text)
		}
	}
	add(r.Script)
	add(r.Tool)
	switch r.Event {
	case trace.SkillActivated:
		add(r.Change)
		add(allowedText(r.AllowedTools))
	case audit.Lost:
		add(output.Count(int(r.Count), "event") + " not recorded")
	case audit.Repaired:
		add(output.Count(int(r.Count), "byte") + " of an unfinished line")
	}
	for _, text := range []string{r.Host, r.Path, strings.Join(r.Grant, ", "), r.Source, r.Rule, r.Answer, r.Outcome} {
		add(text)
	}
	if r.Sandbox != "" {
		add("sandbox " + r.Sandbox)
	}
	if r.Seconds != nil {
		add(fmt.Sprintf("%.1f s", *r.Seconds))
	}
	if r.Tokens > 0 {
		add(output.Count(int(r.Tokens), "token"))
	}
	text := strings.Join(words, ", ")
	why := r.Error
	if why == "" {
		why = r.Reason
	} else if r.Reason != "" {
		why += " (" + r.Reason + ")"
	}
	if why != "" {
		text += ": " + why
	}
	return strings.TrimPrefix(text, ": ")
}

// allowedText describes the member allowed_tools.
func allowedText(raw json.RawMessage) string {
	var rules []string
	if json.Unmarshal(raw, &rules) != nil || rules == nil {
		return "all tools"
	}
	if len(rules) == 0 {
		return "no tools"
	}
	return "tools " + strings.Join(rules, " ")
}
