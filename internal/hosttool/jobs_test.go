package hosttool

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/tool"
)

// background returns bash and bash_job of a workspace in which every command is allowed.
func background(t *testing.T, jobs *Jobs) (bash, job func(args string) tool.Result) {
	t.Helper()
	t.Cleanup(func() { jobs.Close() })
	tools, err := Tools(&Options{Workspace: t.TempDir(), Env: []string{"PATH=/usr/bin:/bin"}, Jobs: jobs,
		Decide: func(context.Context, *permit.Call) permit.Decision { return permit.Decision{Verdict: permit.Allowed} }})
	if err != nil {
		t.Fatal(err)
	}
	n := len(tools)
	with := func(own tool.Tool) func(string) tool.Result {
		return func(args string) tool.Result { return own.Call(t.Context(), json.RawMessage(args)) }
	}
	return with(tools[n-2]), with(tools[n-1])
}

// What a command writes without end is kept to a bound, and read by parts.
func TestJobOutput(t *testing.T) {
	var jobs Jobs
	bash, job := background(t, &jobs)
	if r := bash(`{"command":"head -c 3000000 /dev/zero | tr '\\0' x; echo end; exit 3","background":true}`); !r.Success {
		t.Fatalf("%+v", r)
	}
	r := job(`{"job":"1","wait_ms":600000}`)
	got, ok := r.Result.(JobState)
	if !ok || got.Running || *got.ExitCode != 3 || len(got.Output) > MaxOutput+100 || !strings.HasSuffix(got.Output, "xend\n") || got.Bytes != 3000004 {
		t.Errorf("%s %v %d bytes of %d, exit %v", r.Message, got.Running, len(got.Output), got.Bytes, got.ExitCode)
	}
	if got := job(`{"job":"1"}`).Result.(JobState); got.Output != "" || *got.ExitCode != 3 {
		t.Errorf("read again: %+v", got)
	}
	if len(jobs.List()[0].Output) > jobTail+100 || jobs.Ended(false) != nil || jobs.Running() != 0 {
		t.Errorf("%d bytes for a person, %d run, and the model knows the end", len(jobs.List()[0].Output), jobs.Running())
	}
}

// The user learns at once how a command ended, unless they stopped it.
func TestJobNote(t *testing.T) {
	ended := make(chan []string, 10)
	var jobs Jobs
	jobs.Note = func() { ended <- jobs.Ended(true) }
	bash, _ := background(t, &jobs)
	for _, test := range []struct{ command, want string }{{"true", "exit code 0."}, {"exit 3", "exit code 3."}} {
		bash(`{"command":"` + test.command + `","background":true}`)
		if lines := <-ended; len(lines) != 1 || !strings.HasSuffix(lines[0], test.want) {
			t.Errorf("%s: got %q", test.command, lines)
		}
	}
	bash(`{"command":"sleep 1000","background":true}`)
	if err := jobs.Stop("3"); err != nil {
		t.Fatal(err)
	}
	if lines := <-ended; lines != nil {
		t.Errorf("stopped by the user: got %q", lines)
	}
}

// Commands are counted, stopped from several sides at once, and all ended by Close, with what they started.
func TestJobsAtOnce(t *testing.T) {
	var jobs Jobs
	bash, job := background(t, &jobs)
	for range mostRunning {
		bash(`{"command":"sleep 1000 & sleep 1000","background":true}`)
	}
	if r := bash(`{"command":"sleep 1000","background":true}`); r.Success || r.Reason != "busy" {
		t.Errorf("one too many: %+v", r)
	}
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { job(`{"job":"2","stop":true}`) })
		all.Go(func() { _ = jobs.Stop("2") })
	}
	all.Wait()
	if lines := jobs.Ended(true); len(lines) > 1 || jobs.Ended(true) != nil {
		t.Errorf("told of the ends: %q", lines)
	}
	if !strings.Contains(jobs.Text(), "Background command 2 (sleep 1000 & sleep 1000): The command was stopped.") {
		t.Error(jobs.Text())
	}
	if n := jobs.Close(); n != mostRunning-1 || jobs.List() != nil {
		t.Errorf("Close ended %d, and %d are left", n, len(jobs.List()))
	}
	if err := jobs.Stop("2"); err == nil {
		t.Error("a command that was forgotten was stopped")
	}
}

// A server that is older than a hundred others that ended is still known.
func TestJobsForgotten(t *testing.T) {
	var jobs Jobs
	bash, job := background(t, &jobs)
	bash(`{"command":"sleep 1000","background":true}`)
	for range mostJobs + 1 {
		r := bash(`{"command":"true","background":true}`)
		started, ok := r.Result.(JobStarted)
		if !ok {
			t.Fatalf("%+v", r)
		}
		job(`{"job":"` + started.Job + `","wait_ms":600000}`)
	}
	if list := jobs.List(); len(list) != mostJobs || list[0].ID != "1" {
		t.Errorf("%d commands are remembered, the first is %s", len(list), list[0].ID)
	}
}
