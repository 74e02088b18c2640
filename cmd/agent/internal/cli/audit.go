package cli

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

func newAuditCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "audit",
		Short: "Show what skills and models did, and what they were refused",
		Long: `Show the log of what skills and models did and what they were refused: activations, tools used within a skill,
scripts, approvals, grants, and refusals. It is in the folder audit of $AGENT_HOME, one JSON object a line.

A record has names, decisions and counts, and no arguments, contents or output. The setting "audit" turns the log off, or
makes it required: then nothing is done that cannot be recorded.`,
		Example: `  agent audit show --denied --since 24h
  agent audit tail --follow
  agent audit verify`,
	})
	c.AddCommand(newAuditShowCommand(s, runAuditShow), newAuditTailCommand(s, runAuditTail), newAuditVerifyCommand(s, runAuditVerify),
		newAuditExportCommand(s, runAuditExport))
	return c
}

// auditFilter has the flags that choose records.
type auditFilter struct {
	skill, event, tool, since, until string
	denied                           bool
}

func (f *auditFilter) flags(c *cobra.Command, s *app.Services) {
	flags := c.Flags()
	flags.StringVar(&f.skill, "skill", "", "only records about the skill `NAME`")
	flags.StringVar(&f.event, "event", "", "only records of this `KIND`, such as script_run")
	flags.StringVar(&f.tool, "tool", "", "only records about the tool `NAME`")
	flags.StringVar(&f.since, "since", "", "only records from this `TIME` on: 2026-11-22, 2026-11-22T09:30:00Z, or 30m, 24h, 7d ago")
	flags.StringVar(&f.until, "until", "", "only records before this `TIME`")
	flags.BoolVar(&f.denied, "denied", false, "only what was refused")
	_ = c.RegisterFlagCompletionFunc("skill", completeSkills(s))
	_ = c.RegisterFlagCompletionFunc("event", func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return eventNames(), cobra.ShellCompDirectiveNoFileComp
	})
	_ = c.RegisterFlagCompletionFunc("tool", cobra.NoFileCompletions)
	_ = c.RegisterFlagCompletionFunc("since", cobra.FixedCompletions([]cobra.Completion{"1h", "24h", "7d"}, cobra.ShellCompDirectiveNoFileComp))
	_ = c.RegisterFlagCompletionFunc("until", cobra.NoFileCompletions)
}

// brokenLines counts lines that are not records. Those that the record after them describes do not count: a process was killed
// while it wrote them.
type brokenLines struct{ before, count int }

// add takes the next line and reports whether it is a record.
func (u *brokenLines) add(e *audit.Entry) bool {
	if e.Err != nil {
		u.before++
		return false
	}
	if e.Event != audit.Repaired {
		u.count += u.before
	}
	u.before = 0
	return true
}

// warn says how many lines are not records, if there are any.
func (u *brokenLines) warn(out *output.Printer) {
	if n := u.count + u.before; n > 0 {
		out.Warn(fmt.Sprintf("%s not readable as records: \"agent audit verify\" says where", output.Count(n, "line")))
	}
}

func eventNames() []string {
	var out []string
	for _, kind := range audit.Events() {
		out = append(out, string(kind))
	}
	return out
}

// filter returns the chosen filter. The error is about a flag.
func (f *auditFilter) filter(now time.Time) (*audit.Filter, error) {
	out := &audit.Filter{Event: trace.Kind(f.event), Tool: f.tool, Denied: f.denied}
	if f.skill != "" {
		if err := manifest.CheckName(f.skill); err != nil {
			return nil, err
		}
		out.Skill = manifest.Canonical(f.skill)
	}
	if f.event != "" && !slices.Contains(eventNames(), f.event) {
		err := fmt.Errorf("unknown event %q", f.event)
		if meant := near.Name(f.event, eventNames()); meant != "" {
			return nil, failure.Usage(err, fmt.Sprintf("did you mean %q?", meant))
		}
		return nil, failure.Usage(err, "one of "+strings.Join(eventNames(), ", "))
	}
	for _, t := range []struct {
		flag, text string
		to         *time.Time
	}{{"--since", f.since, &out.Since}, {"--until", f.until, &out.Until}} {
		at, err := moment(t.text, now)
		if err != nil {
			return nil, failure.Usage(fmt.Errorf("invalid time %q for %s", t.text, t.flag), "use 2026-11-22, 2026-11-22T09:30:00Z, or 30m, 24h, 7d ago")
		}
		*t.to = at
	}
	return out, nil
}

// moment reads a time, or how long ago it was. "" is the zero time.
func moment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 {
			return now.AddDate(0, 0, -n), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("invalid time %q", text)
}
