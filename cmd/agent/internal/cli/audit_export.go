package cli

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/trace/audit"
)

type auditExportOptions struct {
	auditFilter
	sys      *setup.System
	out      *output.Printer
	settings *setup.Settings

	format, output string
}

func newAuditExportCommand(s *app.Services, run func(context.Context, *auditExportOptions) error) *cobra.Command {
	o := &auditExportOptions{sys: s.Sys, out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "export",
		Short: "Write records as JSON lines or CSV",
		Long: `Write the records that the flags choose, the oldest first, to stdout or to a new file that only you can read. JSON lines are
written byte for byte as in the log, with their hashes. In CSV, a cell that a spreadsheet would take for a formula begins
with an apostrophe.`,
		Example: `  agent audit export --since 30d --output november.jsonl
  agent audit export --denied --format csv > denied.csv`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	o.flags(c, s)
	c.Flags().StringVar(&o.format, "format", "jsonl", "`FORMAT` of the records: jsonl or csv")
	c.Flags().StringVarP(&o.output, "output", "o", "", "write to the new file `FILE`")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]cobra.Completion{"jsonl", "csv"}, cobra.ShellCompDirectiveNoFileComp))
	return c
}

func runAuditExport(ctx context.Context, o *auditExportOptions) error {
	if o.format != "jsonl" && o.format != "csv" {
		return failure.Usage(fmt.Errorf("unknown format %q", o.format), "use jsonl or csv")
	}
	f, err := o.filter(o.sys.Now())
	if err != nil {
		return err
	}
	dir, err := auditDir(o.settings)
	if err != nil {
		return err
	}
	if o.output == "" {
		_, err = o.write(ctx, dir, f, o.stdout())
		return err
	}
	path := o.sys.Abs(o.output)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return failure.Conflict(fmt.Errorf("file %q exists", o.output), "name another one, or remove it")
	}
	if err != nil {
		return err
	}
	n, err := o.write(ctx, dir, f, file)
	if err = errors.Join(err, file.Close()); err != nil {
		os.Remove(path)
		return err
	}
	o.out.Printf("Wrote %s to %s\n", output.Count(n, "record"), o.output)
	return nil
}

// stdout returns where records are printed. A terminal gets no character that it obeys.
func (o *auditExportOptions) stdout() io.Writer {
	return writerFunc(func(p []byte) (int, error) { return len(p), o.out.Foreign(string(p)) })
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// write writes the chosen records and returns how many.
func (o *auditExportOptions) write(ctx context.Context, dir string, f *audit.Filter, to io.Writer) (n int, err error) {
	out := bufio.NewWriter(to)
	table := csv.NewWriter(out)
	if o.format == "csv" {
		err = table.Write(csvHeader)
	}
	var broken brokenLines
	for e, failed := range audit.Read(ctx, dir) {
		if failed != nil || err != nil {
			return n, errors.Join(err, failed)
		}
		switch {
		case !broken.add(e) || !f.Match(&e.Record):
			continue
		case o.format == "csv":
			err = table.Write(csvRow(&e.Record))
		default:
			_, err = fmt.Fprintf(out, "%s\n", e.Raw)
		}
		n++
	}
	table.Flush()
	if err = errors.Join(err, table.Error(), out.Flush()); err == nil {
		broken.warn(o.out)
	}
	return n, err
}

var csvHeader = []string{"seq", "timestamp", "event", "skill_name", "script_name", "tool_name", "tool_allowed", "agent_id", "task_id", "tenant_id",
	"allowed_tools", "correlation_id", "model", "duration_seconds", "outcome", "error", "reason", "digest", "grant", "host", "path", "rule", "answer", "source",
	"sandbox", "tokens", "count", "hash"}

func csvRow(r *audit.Record) []string {
	allowed, seconds := "", ""
	if r.ToolAllowed != nil {
		allowed = strconv.FormatBool(*r.ToolAllowed)
	}
	if r.Seconds != nil {
		seconds = strconv.FormatFloat(*r.Seconds, 'f', -1, 64)
	}
	row := []string{strconv.FormatUint(r.Seq, 10), r.Timestamp, string(r.Event), r.Skill, r.Script, r.Tool, allowed, r.Agent, r.Task, r.Tenant,
		string(r.AllowedTools), r.Correlation, r.Model, seconds, r.Outcome, r.Error, r.Reason, r.Digest, strings.Join(r.Grant, " "), r.Host, r.Path, r.Rule, r.Answer, r.Source,
		r.Sandbox, number(r.Tokens), number(r.Count), r.Hash}
	for i, cell := range row {
		if cell != "" && strings.ContainsRune("=+-@\t\r", rune(cell[0])) {
			row[i] = "'" + cell
		}
	}
	return row
}

func number(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}
