package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/trial"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/watch"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

type devOptions struct {
	services *app.Services

	name string
	once bool
}

func newDevCommand(s *app.Services, run func(context.Context, *devOptions) error) *cobra.Command {
	o := &devOptions{services: s}
	c := &cobra.Command{
		Use:   "dev NAME|FOLDER",
		Short: "Work on a skill: see what a model sees, after each save",
		Long: `Show what a model sees of a skill at each step, what that costs, and what is wrong with it; and do so again after each
save. The skill is trusted as long as the command runs, with every change: use it for your own skills. Nothing is stored.
What agents in other terminals do with a skill of that name is shown as it happens, from the audit log.

On a terminal, and from a pipe, it takes these lines:

  run SCRIPT ARGS   run a script as a model would, and show the envelope
  call TOOL ARGS    call a tool of a toolset: KEY=VALUE ..., or a JSON object
  show              show the texts that a model gets
  test              run the skill's own tests, too
  q                 end

A save ends a call that has not answered, and so does Enter. What toolsets print is shown as it comes.

With --once it looks once and ends; the exit code is that of "agent skill test".`,
		Example: `  agent skill dev csv-report
  agent skill dev ./csv-report --once`,
		Args:              arguments(1, 1, "the name or the folder of a skill"),
		ValidArgsFunction: completeSkillsAndFolders(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.once, "once", false, "look once, and end")
	return c
}

// quick are the groups that are checked after each save.
var quick = []trial.Group{trial.Manifest, trial.References, trial.Scripts, trial.Toolsets, trial.Triggers}

// studio is a skill that is worked on.
type studio struct {
	*bench
	o      *devOptions
	folder string // for what the skill's programs write in tests
	seen   sight  // at the last save

	saved   chan struct{} // the skill was saved
	typed   <-chan string // lines of the user
	printed chan string   // lines of the skill's toolsets
	next    string        // a line that was typed during a call
}

func runDev(ctx context.Context, o *devOptions) error {
	b, err := openBench(ctx, o.services, o.name, true)
	if err != nil {
		return err
	}
	defer b.close()
	folder, err := os.MkdirTemp(b.Sys.Temp, "agent-dev-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder) //nolint:errcheck // a folder for temporary files
	d := &studio{bench: b, o: o, folder: folder, saved: make(chan struct{}, 1), printed: make(chan string, mostPrinted)}
	b.tell = d.printedBy
	ctx = trace.WithIdentity(ctx, trace.Identity{Task: d.task()})
	if o.once {
		report, err := d.look(ctx, quick)
		if err != nil {
			return err
		}
		return outcome(report)
	}
	b.Out.Remark(b.entry.Name() + " is trusted until this ends, with every change")
	if err := d.serve(ctx); ctx.Err() == nil {
		return err
	}
	return nil // Ctrl-C is how it ends
}

// task is the task of this command in the audit log.
func (d *studio) task() string { return filepath.Base(d.folder) }

// outcome returns the failure of a test of a skill, nil if it passed.
func outcome(r *trial.Report) error {
	switch {
	case !r.Valid():
		return failure.Silent(failure.ExitInvalid)
	case r.Count(trial.Failed) > 0:
		return failure.Silent(failure.ExitFailure)
	case r.Untrusted:
		return failure.Silent(failure.ExitDenied)
	}
	return nil
}

// serve looks at the skill, and again after each save, and follows the lines of the user.
func (d *studio) serve(ctx context.Context) error {
	watched, stop := context.WithCancel(ctx)
	done, dir := make(chan struct{}), d.dir // looking sets d.dir
	go func() {
		defer close(done)
		watch.Files(watched, dir, d.save)
	}()
	defer func() { stop(); <-done }()
	if _, err := d.look(ctx, quick); err != nil {
		return err
	}
	d.typed = d.lines(ctx)
	calls := d.calls(watched)
	for {
		d.prompt()
		if line := d.next; line != "" {
			d.next = ""
			if ended, err := d.typedLine(ctx, line); ended || err != nil {
				return err
			}
			continue
		}
		select {
		case <-ctx.Done():
			if d.Out.InTerminal {
				d.Out.Printf("\n") // below the ^C
			}
			return ctx.Err()
		case line := <-d.printed:
			if d.Out.InTerminal {
				d.Out.Printf("\n") // below the prompt
			}
			d.print(line)
		case r, more := <-calls:
			if !more {
				calls = nil
				continue
			}
			d.printCall(&r)
		case <-d.saved:
			d.Out.Printf("\n")
			if _, err := d.look(ctx, quick); err != nil {
				return err
			}
		case line, more := <-d.typed:
			switch {
			case !more && d.keepsOn():
				d.typed = nil
			case !more:
				return nil
			default:
				if ended, err := d.typedLine(ctx, line); ended || err != nil {
					return err
				}
			}
		}
	}
}

// typedLine follows a line of the user, and reports whether it is the end.
func (d *studio) typedLine(ctx context.Context, line string) (bool, error) {
	if slices.Contains([]string{"q", "quit", "exit"}, strings.TrimSpace(line)) {
		return true, nil
	}
	err := d.follow(ctx, line)
	if errors.Is(err, errCallEnded) {
		err = nil
	}
	return false, err
}

// errCallEnded means that a call was ended by a save.
var errCallEnded = errors.New("the call was ended")

// calls returns what agents in other terminals do with the skill, nil if that is not recorded.
func (d *studio) calls(ctx context.Context) <-chan audit.Record {
	cfg := d.Settings.Config()
	if cfg.Audit == "off" || d.Settings.NeedHome() != nil {
		d.Out.Remark("calls of other agents are not shown, because nothing is recorded")
		return nil
	}
	return callsElsewhere(ctx, cfg.Paths.Audit(), d.entry.Canonical(), d.task())
}

// keepsOn reports whether there is nobody to type lines, and no pipe that has them: it goes on until it is stopped.
func (d *studio) keepsOn() bool {
	info, err := d.Sys.In.Stat()
	return err != nil || !d.Out.InTerminal && info.Mode()&os.ModeCharDevice != 0
}

func (d *studio) prompt() {
	if d.Out.InTerminal {
		d.Out.Printf("%s ", d.Out.Paint(ui.Dim, "run, call, show, test, q>"))
	}
	_ = d.Out.Flush() // a later write has the error
}

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 10

// lines returns the lines of standard input. If ctx is done first, the read goes on until the process ends.
func (d *studio) lines(ctx context.Context) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		in := bufio.NewScanner(io.Reader(d.Sys.In))
		in.Buffer(nil, maxLine)
		for in.Scan() {
			select {
			case out <- in.Text():
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// look reads the skill anew, shows what a model sees of it, and checks it.
func (d *studio) look(ctx context.Context, groups []trial.Group) (*trial.Report, error) {
	report := &trial.Report{Skill: d.entry.Name()}
	err := d.open(ctx, d.o.name, d.asFolder)
	var s *skill.Skill
	if err == nil {
		s, err = d.entry.Load(ctx)
	}
	var broken *skill.BrokenError
	switch {
	case errors.As(err, &broken) && len(broken.Problems) > 0:
		report.Cases = trial.Broken(broken.Problems)
		for _, c := range report.Cases {
			printCase(d.Out, &c, "")
		}
		return report, nil
	case ctx.Err() != nil:
		return report, ctx.Err()
	case err != nil: // it may be there again after the next save
		d.Out.Error(err)
		if _, gone := os.Stat(d.dir); gone != nil {
			d.Out.Remark(d.dir + " is gone: the skill is shown again when it is back; q ends")
		}
		report.Cases = []trial.Case{{Group: trial.Manifest, Status: trial.Failed, Message: err.Error(), Invalid: true}}
		return report, nil
	}
	defer s.Close()
	how, err := d.trialIn(d.folder)
	if err != nil {
		return report, err
	}
	if err := d.show(ctx, s, how); err != nil {
		return report, err
	}
	how.Groups = groups
	return d.check(ctx, s, how)
}

// check checks the skill, and prints what did not pass.
func (d *studio) check(ctx context.Context, s *skill.Skill, o *trial.Options) (*trial.Report, error) {
	last := ""
	o.Each = func(c trial.Case) {
		if c.Status != trial.Passed || c.Group == trial.Tests {
			c = d.cured(c)
			printCase(d.Out, &c, last)
			last = c.Message
			_ = d.Out.Flush() // a later write has the error
		}
	}
	if o.Groups == nil {
		if err := d.evaluate(ctx, o); err != nil {
			return nil, err
		}
	}
	r, err := trial.Run(ctx, s, o)
	if err != nil {
		return r, err
	}
	mark := d.Out.Paint(ui.Green, "✓")
	if r.Count(trial.Failed) > 0 {
		mark = d.Out.Paint(ui.Red, "✗")
	}
	d.Out.Printf("%s %s\n", mark, summary(r))
	return r, d.Out.Flush()
}

// follow does what a line says.
func (d *studio) follow(ctx context.Context, line string) error {
	word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	rest = strings.TrimSpace(rest)
	switch word {
	case "":
		return nil
	case "run":
		return d.run(ctx, rest)
	case "call":
		return d.call(ctx, rest)
	case "show":
		return d.texts(ctx)
	case "test":
		_, err := d.look(ctx, nil)
		return err
	}
	d.Out.Error(fmt.Errorf("unknown line %q", word))
	d.Out.Hint("run SCRIPT ARGS, call TOOL ARGS, show, test, q")
	return nil
}
