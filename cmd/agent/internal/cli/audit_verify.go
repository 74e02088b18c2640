package cli

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/trace/audit"
)

type auditVerifyOptions struct {
	out      *output.Printer
	settings *setup.Settings

	head string
	json bool
}

func newAuditVerifyCommand(s *app.Services, run func(context.Context, *auditVerifyOptions) error) *cobra.Command {
	o := &auditVerifyOptions{out: s.Out, settings: s.Settings}
	c := &cobra.Command{
		Use:   "verify",
		Short: "Check that no record of the audit log was changed or removed",
		Long: `Check each line of the audit log, and that each record continues the one before. If a record was changed, removed or
inserted, name the file, the line and what broke, with exit code 7. A line that a killed process left unfinished
is not a fault.

Somebody who can write the files can write a whole new log. Keep the hash that verify prints, and give it to --head later: it
must still be the hash of a record.`,
		Example: `  agent audit verify
  agent audit verify --head 2bff7a83f7cf0de50fb8b2f1a4176a71a74c7473f1a5000f16c84b284af8d93a
  agent audit verify --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().StringVar(&o.head, "head", "", "the `HASH` of a record that the log had")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	_ = c.RegisterFlagCompletionFunc("head", cobra.NoFileCompletions)
	return c
}

// verifyJSON is what audit verify --json prints.
type verifyJSON struct {
	OK      bool        `json:"ok"`
	Records uint64      `json:"records"`
	Files   int         `json:"files"`
	First   uint64      `json:"first"`
	Last    uint64      `json:"last"`
	Hash    string      `json:"hash"`
	Torn    int         `json:"unfinished_lines"`
	Breaks  []breakJSON `json:"breaks"`
}

type breakJSON struct {
	File string `json:"file,omitempty"`
	Line int    `json:"line,omitempty"`
	What string `json:"what"`
}

func runAuditVerify(ctx context.Context, o *auditVerifyOptions) error {
	if raw, err := hex.DecodeString(o.head); o.head != "" && (err != nil || len(raw) != 32 || o.head != strings.ToLower(o.head)) {
		return failure.Usage(fmt.Errorf("invalid hash %q for --head", o.head), "it has 64 hexadecimal digits, as verify prints it")
	}
	dir, err := auditDir(o.settings)
	if err != nil {
		return err
	}
	r, err := audit.Verify(ctx, dir, &audit.VerifyOptions{Head: o.head})
	if err != nil {
		return err
	}
	if o.json {
		if err := o.out.JSON(map[string]verifyJSON{"audit": jsonOf(r)}); err != nil || len(r.Breaks) == 0 {
			return err
		}
		return failure.Silent(failure.ExitIntegrity)
	}
	if len(r.Breaks) > 0 {
		return brokenLog(r)
	}
	if r.Records == 0 {
		noRecords(o.out, o.settings)
		return nil
	}
	o.out.Printf("%s in %s, %d to %d, unchanged\n", output.Count(int(r.Records), "record"), output.Count(r.Files, "file"), r.First, r.Last)
	o.out.Printf("last hash %s\n", r.Hash)
	if r.Torn > 0 && !o.out.Quiet() {
		o.out.Hint(output.Count(r.Torn, "line") + " left unfinished, as by a killed process; all records around are there")
	}
	return nil
}

func jsonOf(r *audit.Report) verifyJSON {
	out := verifyJSON{OK: len(r.Breaks) == 0, Records: r.Records, Files: r.Files, First: r.First, Last: r.Last, Hash: r.Hash, Torn: r.Torn, Breaks: []breakJSON{}}
	for _, b := range r.Breaks {
		out.Breaks = append(out.Breaks, breakJSON(b))
	}
	return out
}

// brokenLog returns the failure for a log that was changed.
func brokenLog(r *audit.Report) error {
	lines := []string{"the audit log was changed"}
	for _, b := range r.Breaks {
		lines = append(lines, b.Error())
	}
	return &failure.Error{Exit: failure.ExitIntegrity, Code: "integrity", Err: errors.New(strings.Join(lines, "\n")),
		Hint: "keep the files for an inquiry; the next record goes on after them"}
}
