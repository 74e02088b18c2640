package confine

import (
	"context"
	"fmt"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/script/runner"
)

type machine struct{}

// Run executes c in a job object, which limits it and ends all its processes. Files and network are not confined: with c.Confine
// ConfineRequired it returns a *runner.SandboxError instead.
func (r *Runner) Run(ctx context.Context, c *runner.Command) (*runner.Output, error) {
	defer c.CloseIn()
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Layer != nil {
		return nil, runner.ErrNoLayer
	}
	if c.Confine == runner.ConfineRequired {
		return nil, &runner.SandboxError{Layer: "confinement of files and network on Windows", Cure: "Use Linux, for example in WSL."}
	}
	begun := time.Now()
	streams := proc.NewStreams(c.MaxStdout, c.StopAtMax)
	j, err := startJob(c, streams)
	if err != nil {
		return nil, err
	}
	defer windows.CloseHandle(j.handle)
	j.input.Begin()
	defer j.input.End()
	end, err := proc.Supervise(ctx, j, &proc.Bounds{
		Timeout: c.Timeout, Grace: c.Grace, Full: streams.Full,
		Room: proc.Room{Folders: c.Own, Stored: c.Stored, Bytes: c.Limits.Disk, Files: c.Limits.Files},
	})
	return &runner.Output{
		Stdout: streams.Stdout.Bytes(), Total: streams.Stdout.Total(), Truncated: streams.Stdout.Truncated(), Stderr: streams.Stderr.Bytes(),
		TimedOut: end.TimedOut, Stopped: end.Stopped, Filled: end.Filled, Duration: time.Since(begun), ExitCode: j.cmd.ProcessState.ExitCode(), Sandbox: jobSandbox(c),
	}, err
}

func jobSandbox(c *runner.Command) *runner.Sandbox {
	s := &runner.Sandbox{Tier: "E", Layers: []string{wholeTree}, Missing: []string{"files and network are not confined on Windows"}}
	if c.Confine == runner.ConfineOff {
		s.Tier, s.Missing = "off", []string{}
	}
	if c.Limits.Memory > 0 {
		s.Layers = append(s.Layers, memory)
	}
	if c.Limits.Processes > 0 {
		s.Layers = append(s.Layers, processes)
	}
	return s
}

// Report says what confines a command on this machine.
func (r *Runner) Report(context.Context) runner.Sandbox { return *jobSandbox(&runner.Command{}) }

// job is a command in a job object.
type job struct {
	cmd    *exec.Cmd
	input  *proc.Input
	handle windows.Handle
}

// startJob starts a command that stands still until it is in its job.
func startJob(c *runner.Command, streams *proc.Streams) (*job, error) {
	handle, err := newJob(&c.Limits)
	if err != nil {
		return nil, err
	}
	env := c.Env
	if env == nil {
		env = []string{} // nil would mean the environment of this process
	}
	cmd := &exec.Cmd{
		Path: c.Path, Args: c.Args, Dir: c.Dir, Env: env, Stdin: c.Input(), Stdout: streams.Into(c.Out), Stderr: streams.ErrInto(c.Err), WaitDelay: proc.WaitDelay,
		SysProcAttr: &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_SUSPENDED, HideWindow: true},
	}
	input := proc.NewInput(cmd, c.In)
	if err := cmd.Start(); err != nil {
		_ = windows.CloseHandle(handle)
		return nil, err
	}
	j := &job{cmd: cmd, input: input, handle: handle}
	if err := j.enter(); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = windows.CloseHandle(handle)
		return nil, err
	}
	return j, nil
}

// newJob returns a job object that ends its processes when it is closed, also because the engine ended.
func newJob(l *runner.Limits) (windows.Handle, error) {
	handle, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job object: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	flags := uint32(windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE)
	if l.Memory > 0 {
		flags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = uintptr(l.Memory)
	}
	if l.Processes > 0 {
		flags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		info.BasicLimitInformation.ActiveProcessLimit = uint32(l.Processes)
	}
	if l.CPU > 0 {
		flags |= windows.JOB_OBJECT_LIMIT_PROCESS_TIME
		info.BasicLimitInformation.PerProcessUserTimeLimit = l.CPU.Nanoseconds() / 100
	}
	info.BasicLimitInformation.LimitFlags = flags
	_, err = windows.SetInformationJobObject(handle, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(handle)
		return 0, fmt.Errorf("limit a job object: %w", err)
	}
	return handle, nil
}

// enter puts the process into the job and lets it run.
func (j *job) enter() error {
	pid := uint32(j.cmd.Process.Pid)
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, pid)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(process)
	if err := windows.AssignProcessToJobObject(j.handle, process); err != nil {
		return fmt.Errorf("enter a job object: %w", err)
	}
	return resume(pid)
}

// resume lets the threads of a process run.
func resume(pid uint32) error {
	all, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return err
	}
	defer windows.CloseHandle(all)
	entry := windows.ThreadEntry32{}
	entry.Size = uint32(unsafe.Sizeof(entry))
	for err = windows.Thread32First(all, &entry); err == nil; err = windows.Thread32Next(all, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return err
		}
		_, err = windows.ResumeThread(thread)
		_ = windows.CloseHandle(thread)
		if err != nil {
			return err
		}
	}
	return nil
}

// Wait waits for the command and ends what it left behind.
func (j *job) Wait() {
	_ = j.cmd.Wait() // how it ended is in its ProcessState
	j.Kill()
}

// Terminate ends the job: there is no other way to ask.
func (j *job) Terminate() { j.Kill() }

// Kill ends all processes of the job.
func (j *job) Kill() { _ = windows.TerminateJobObject(j.handle, 1) }
