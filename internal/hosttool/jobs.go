package hosttool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/tool"
)

// JobTool is the name of the tool that reads and ends commands in the background.
const JobTool = "bash_job"

// Bounds of commands in the background.
const (
	mostRunning = 8   // at the same time
	mostJobs    = 100 // that are remembered
	maxJobTime  = 24 * time.Hour
	jobTail     = 4 << 10 // bytes of a command's output that a person sees
)

// Jobs has the commands of one conversation that run in the background. The zero value has none. It is safe for concurrent use.
type Jobs struct {
	Note func() // called after a command has ended, see Ended; set before the first command; may be nil

	mu   sync.Mutex
	last int
	jobs []*job
}

// job is one command. Jobs.mu guards what changes.
type job struct {
	id      string
	command string
	stop    context.CancelFunc
	done    chan struct{} // closed at its end

	unread  headTail // what the model has not read
	tail    headTail // what a person sees
	ended   string   // how it ended; "" while it runs
	code    int
	told    bool // the model knows that it ended
	shown   bool // the user does
	stopped bool // by the model or the user
}

// Job is a command in the background as a person sees it. Its texts come from a model and from programs.
type Job struct {
	ID      string
	Command string
	Ended   string // how it ended; "" while it runs
	Output  string // the beginning and the end of it
}

// Write takes a piece of a command's output.
func (w *jobWriter) Write(p []byte) (int, error) {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.job.unread.add(p)
	w.job.tail.add(p)
	return len(p), nil
}

type jobWriter struct {
	of  *Jobs
	job *job
}

// jobKey has the jobWriter of a command in the background.
type jobKey struct{}

// start runs a command in the background, until it ends, is stopped, or Close ends it.
func (j *Jobs) start(ctx context.Context, command string, run func(context.Context) (tool.Result, string, error)) (string, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	running := 0
	for _, other := range j.jobs {
		if other.ended == "" {
			running++
		}
	}
	if running >= mostRunning {
		return "", failed("busy", "%d commands run in the background already; end one with %s", running, JobTool)
	}
	j.last++
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	one := &job{id: strconv.Itoa(j.last), command: command, stop: cancel, done: make(chan struct{}), unread: headTail{max: MaxOutput}, tail: headTail{max: jobTail}}
	if j.jobs = append(j.jobs, one); len(j.jobs) > mostJobs {
		n := slices.IndexFunc(j.jobs, func(o *job) bool { return o.ended != "" }) // fewer run than are remembered
		j.jobs = slices.Delete(j.jobs, n, n+1)
	}
	ctx = context.WithValue(ctx, jobKey{}, &jobWriter{j, one})
	go func() {
		defer cancel()
		r, _, err := run(ctx)
		j.end(one, r, err)
		if j.Note != nil {
			j.Note()
		}
	}()
	return one.id, nil
}

// end notes how a command ended.
func (j *Jobs) end(one *job, r tool.Result, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if ran, ok := r.Result.(Ran); ok {
		one.code = ran.ExitCode
	}
	switch one.ended = r.Message; {
	case one.stopped:
		one.ended = "The command was stopped"
	case err != nil:
		one.ended, one.code = err.Error(), 1
	case r.Success:
		one.ended = "The command ended with exit code 0"
	}
	close(one.done)
}

// Stop ends a command for the user and waits for its end. The user does not hear of the end again.
func (j *Jobs) Stop(id string) error {
	one := j.find(id)
	if one == nil {
		return fmt.Errorf("no command %q in the background", id)
	}
	j.mu.Lock()
	one.shown = true
	j.mu.Unlock()
	j.halt(one)
	return nil
}

func (j *Jobs) halt(one *job) {
	j.mu.Lock()
	one.stopped = one.stopped || one.ended == ""
	j.mu.Unlock()
	one.stop()
	<-one.done
}

// Close ends all commands, waits for their ends, and forgets them. It returns how many ran.
func (j *Jobs) Close() (ran int) {
	j.mu.Lock()
	jobs := j.jobs
	j.jobs = nil
	for _, one := range jobs {
		if one.ended == "" {
			ran++
			one.stopped = true
			one.stop()
		}
	}
	j.mu.Unlock()
	for _, one := range jobs {
		<-one.done
	}
	return ran
}

func (j *Jobs) find(id string) *job {
	j.mu.Lock()
	defer j.mu.Unlock()
	if n := slices.IndexFunc(j.jobs, func(o *job) bool { return o.id == id }); n >= 0 {
		return j.jobs[n]
	}
	return nil
}

// List returns the commands, the first started being first.
func (j *Jobs) List() []Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	var out []Job
	for _, one := range j.jobs {
		out = append(out, Job{one.id, one.command, one.ended, one.tail.text()})
	}
	return out
}

// Running returns how many commands run.
func (j *Jobs) Running() (n int) {
	for _, one := range j.List() {
		if one.Ended == "" {
			n++
		}
	}
	return n
}

// Ended returns a line for each command that has ended since Ended was last called for the user, or else for the model.
func (j *Jobs) Ended(user bool) (lines []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, one := range j.jobs {
		known := &one.told
		if user {
			known = &one.shown
		}
		if one.ended != "" && !*known {
			*known = true
			lines = append(lines, fmt.Sprintf("Background command %s (%s): %s.", one.id, brief(one.command), one.ended))
		}
	}
	return lines
}

// Text lists the commands for a model, "" if there are none.
func (j *Jobs) Text() string {
	var lines []string
	for _, one := range j.List() {
		state := one.Ended
		if state == "" {
			state = "it runs"
		}
		lines = append(lines, fmt.Sprintf("Background command %s (%s): %s.", one.ID, brief(one.Command), state))
	}
	return strings.Join(lines, "\n")
}

// brief returns the beginning of a command.
func brief(command string) string {
	command = strings.Join(strings.Fields(command[:min(len(command), 1000)]), " ")
	if len(command) > 100 {
		command = command[:100] + "…"
	}
	return strings.ToValidUTF8(command, "\ufffd")
}

// JobState is the result of bash_job about one command.
type JobState struct {
	Job      string `json:"job"`
	Running  bool   `json:"running"`
	Output   string `json:"output"`              // since the last call
	ExitCode *int   `json:"exit_code,omitempty"` // of one that has ended
	Bytes    int64  `json:"bytes,omitempty"`     // size of what came since the last call, if Output was cut
}

// JobStarted is the result of bash for a command in the background.
type JobStarted struct {
	Job string `json:"job"`
}

var jobSchema = json.RawMessage(`{"type":"object","properties":{"job":{"type":"string","description":"Leave it out to list all"},` +
	`"wait_ms":{"type":"integer","description":"Wait that long for its end; at most 600000"},"stop":{"type":"boolean"}}}`)

func (h *host) jobTool() tool.Tool {
	return tool.Tool{Name: JobTool, Input: jobSchema, Call: call(h.job),
		Description: "Read what a background command of bash wrote since the last call, and how it ended; or stop it."}
}

type jobArguments struct {
	Job  string
	Wait int64 `json:"wait_ms"`
	Stop bool
}

func (h *host) job(ctx context.Context, a *jobArguments) (tool.Result, string, error) {
	j := h.o.Jobs
	switch {
	case a.Wait < 0 || a.Wait > maxTimeout.Milliseconds():
		return tool.Result{}, "", unusable("wait_ms must be between 0 and %d", maxTimeout.Milliseconds())
	case a.Job == "":
		text := j.Text()
		if text == "" {
			text = "No commands in the background"
		}
		return tool.Success(nil, text), "", nil
	}
	one := j.find(a.Job)
	if one == nil {
		return tool.Result{}, "", &refusal{tool.NotFound, "", fmt.Sprintf("no command %q in the background; leave job out to list them", a.Job)}
	}
	if a.Stop {
		j.halt(one)
	}
	if a.Wait > 0 {
		timer := time.NewTimer(time.Duration(a.Wait) * time.Millisecond)
		defer timer.Stop()
		select {
		case <-one.done:
		case <-timer.C:
		case <-ctx.Done():
			return tool.Interruption(ctx, "The wait"), "", nil
		}
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	state, text := JobState{Job: one.id, Running: one.ended == "", Output: one.unread.text()}, "It runs"
	if one.unread.cut() {
		state.Bytes = one.unread.total
	}
	if one.unread = (headTail{max: MaxOutput}); one.ended != "" {
		state.ExitCode, text, one.told, one.shown = &one.code, one.ended, true, true
	}
	return tool.Success(state, text), "", nil
}
