package script

import (
	"context"
	"time"
)

// Runner executes one command. It returns an error only if the command cannot be started or ctx is done; the result of a
// started command is in the Output. It must be safe for concurrent use, must end the command and its group when ctx is done
// or the timeout is over, and must keep no more output than the command allows.
//
// A sandbox, an audit or a remote worker is middleware: a func(Runner) Runner.
type Runner interface {
	Run(context.Context, *Command) (*Output, error)
}

// RunnerFunc is a function that is a Runner.
type RunnerFunc func(context.Context, *Command) (*Output, error)

// Run calls f.
func (f RunnerFunc) Run(ctx context.Context, c *Command) (*Output, error) { return f(ctx, c) }

// Phase is the purpose of a command. A sandbox decides by it what to allow.
type Phase uint8

// The phases. A script's dependencies are prepared with the network and without the skill's files; a
// script runs with them. A command that asks an interpreter for its version needs neither and has ten seconds at most.
const (
	Execute Phase = iota // the script itself
	Prepare              // uv or python, preparing dependencies; an interpreter or uv, asked which version it is and where it lies
)

// String returns "execute" or "prepare".
func (p Phase) String() string { return [...]string{"execute", "prepare"}[p] }

// Command is one process to run: no shell, an argument list, empty standard input.
type Command struct {
	Phase Phase
	Path  string   // absolute path of the program
	Args  []string // the whole argument list; Args[0] is the name of the program
	Dir   string   // absolute working directory; Exec refuses "", which would be the program's own
	Env   []string // the whole environment; nothing is added, even if it is nil

	Timeout   time.Duration // of wall clock time; needed
	Grace     time.Duration // between asking the process to end and killing it; 0 kills it at once
	MaxStdout int64         // bytes kept of stdout; more is drained and dropped; 0 keeps none
	StopAtMax bool          // end the process when stdout passes MaxStdout
	Limits    Limits

	Read, Write []string // folders that it may read and write in addition to the system's, for a sandbox; Exec ignores them
}

// Limits are the resource limits of a process and each of its children. Zero leaves one alone.
type Limits struct {
	FileSize  uint64        // bytes of one file
	OpenFiles uint64        // descriptors
	CPU       time.Duration // processor time of all its threads, in whole seconds
}

// Output is what a command did.
type Output struct {
	Stdout    []byte
	Total     int64         // bytes that stdout had, with those dropped
	Stderr    []byte        // its last 64 KiB
	ExitCode  int           // 128 + the signal's number when a signal ended it
	Signal    string        // that ended it, such as "killed"; "" for none
	TimedOut  bool          // ended because of Timeout
	Stopped   bool          // ended because of StopAtMax
	Truncated bool          // stdout passed MaxStdout
	Duration  time.Duration // from start to end
}
