package runner

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/proc"
)

// Runner executes one command. It returns an error only if the command cannot be started or ctx is done; the result of a
// started command is in the Output. It must be safe for concurrent use, must end the command and its group when ctx is done
// or the timeout is over, and must keep no more output than the command allows. One that cannot do what Command.Layer asks for starts nothing
// and returns ErrNoLayer; the script then runs in a copy of its folder.
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

// MaxStdin is how many bytes of standard input a command can have.
const MaxStdin = 1 << 20

// SystemTemp is where programs of most systems keep temporary files, whatever TMPDIR says. Where a sandbox has a view of its own, it is
// Command.Temp.
const SystemTemp = "/tmp"

// Command is one process to run: no shell, an argument list.
type Command struct {
	Phase Phase
	Path  string   // absolute path of the program
	Args  []string // the whole argument list; Args[0] is the name of the program
	Dir   string   // absolute working directory; Exec refuses "", which would be the program's own
	Env   []string // the whole environment; nothing is added, even if it is nil
	Stdin []byte   // standard input, at most MaxStdin bytes; nil is empty

	// In, Out and Err are for a conversation with the process while it runs. In is its standard input in place of Stdin; the runner
	// closes it before Run returns, so that a reader or writer of its other end does not wait for ever. Out gets its standard
	// output as it comes, in addition to Output.Stdout, and is closed when no process can write there any more, which may be before the
	// process ends; Err gets its standard error, in addition to Output.Stderr. A Write or Close that blocks holds the process up.
	// Each may be nil.
	In  io.ReadCloser
	Out io.WriteCloser
	Err io.Writer

	// Started is called once when the process runs, with what confines it, by a Runner that confines files or the network. It must not
	// wait. It may be nil.
	Started func(*Sandbox)

	Timeout   time.Duration // of wall clock time, without what Clock stood still; needed
	Clock     *Clock        // stands still while the command waits for a person; may be nil
	Grace     time.Duration // between asking the process to end and killing it; 0 kills it at once
	MaxStdout int64         // bytes kept of stdout; more is drained and dropped; 0 keeps none
	StopAtMax bool          // end the process when stdout passes MaxStdout
	Limits    Limits

	// What a sandbox lets it reach in addition to the system's programs and libraries: Reach sets it. Exec ignores all of it but Own,
	// Stored and Layer.
	Read      []string    // files and folders that it may read. No path of these lists leads through a symbolic link
	Installed []string    // those of Read that hold installed programs: nobody puts anything else there
	Write     []string    // files and folders that it may write, and read
	Own       []string    // folders among Write that count for Limits.Disk and Limits.Files, also without a sandbox
	Temp      string      // a folder of Own that it also has as /tmp, where the sandbox has a view of its own; "" for an empty /tmp
	Stored    []string    // folders among Write that count for Limits.Disk alone, such as the caches of package managers
	Keep      []string    // paths below Write that stay as they are, whether they exist or not: see Undone for a sandbox that only puts them back
	Absent    []string    // paths below Write that do not come to be: what the command makes there is moved aside when it has ended
	Seen      []*Seen     // folders below Write in which nothing comes to be that other programs obey: it is moved aside, too
	Denied    []string    // those of Hide that rules deny to read, for whoever tells what the command did
	Hide      []string    // paths below Read and Write that it does not see; of all these lists the longest path decides, at the same length this one
	Sockets   []string    // sockets of programs outside that it uses, where it has unix sockets
	Missing   []string    // what could not be asked for, as lines for Sandbox.Missing
	Links     []Link      // symbolic links that it sees, where the sandbox has a view of its own: they lead to what it reads and writes
	Mounts    []Mount     // folders that it also reads at another path, where the sandbox has a view of its own
	Network   Network     // the zero value is none
	Layer     *Layer      // a folder that it writes without changing it; nil for none. Exec returns ErrNoLayer
	Confine   Confinement // "" means ConfineAuto
}

// Input returns a reader of Stdin, for os/exec: nil, which stands for an empty one, if there is none.
func (c *Command) Input() io.Reader {
	if c.Stdin == nil {
		return nil
	}
	return bytes.NewReader(c.Stdin)
}

// CloseIn closes In if there is one. Runners call it before Run returns.
func (c *Command) CloseIn() {
	if c.In != nil {
		_ = c.In.Close()
	}
}

// Watched returns w as a Command.Out that is watched while the command runs: closing it does nothing.
func Watched(w io.Writer) io.WriteCloser { return watched{w} }

type watched struct{ io.Writer }

func (watched) Close() error { return nil }

// Mount is a folder that a command reads at another path. What Command.Hide hides in Dir is hidden at Path, too. Nothing is there for
// other programs, but for the time of the command there may be an empty folder.
type Mount struct {
	Path string // absolute; below a path that the command reads or writes
	Dir  string // absolute
}

// Network is what a command may reach. The zero value is nothing.
type Network struct {
	All   bool     // everything, as without a sandbox
	OrAll bool     // everything where the sandbox cannot tell hosts apart; else Hosts
	Hosts []string // HOST, HOST:PORT or *.HOST, through the engine's proxy; without a port 443 and 80

	// Private are those of Hosts that may have a private or loopback address, because the operator named them.
	Private []string

	// Denied reports whether it never reaches a host, HOST or HOST:PORT as Hosts has it. It comes before Hosts and Ask, and is called from several
	// goroutines at once. Nil denies none.
	Denied func(host string) bool

	// Ask decides about another host, HOST or HOST:PORT as Hosts has it, while the command waits. It is called once for each host of a run,
	// from several goroutines at once, and never about a host that shows by itself that it is on this machine or in its network. Its context is
	// done when the command has ended. Nil refuses every other host.
	Ask func(ctx context.Context, host string) Verdict

	Waits bool // Ask may wait for a person: installers get the time for that
}

// Some reports whether there may be hosts that a command reaches, but not the whole network.
func (n *Network) Some() bool { return !n.All && (len(n.Hosts) > 0 || n.Ask != nil) }

// Verdict is the answer to a question about a host.
type Verdict int

// The verdicts.
const (
	Unanswered Verdict = iota // nobody was there, or the command ended before
	Yes
	No // a person said no
)

// Clock counts the time for which a command was held up, see Command.Clock. The zero value is ready for use; it is safe for concurrent use.
type Clock = proc.Clock

// Asking returns a command like c whose clock stands still while Network.Ask is asked. A Runner runs it in place of c.
func (c *Command) Asking() *Command {
	if c.Network.Ask == nil {
		return c
	}
	out := *c
	if out.Clock == nil {
		out.Clock = &Clock{}
	}
	out.Network.Holds(out.Clock)
	return &out
}

// Holds has a clock stand still while Ask is asked.
func (n *Network) Holds(c *Clock) {
	ask := n.Ask
	n.Ask = func(ctx context.Context, host string) Verdict {
		defer c.Hold()()
		return ask(ctx, host)
	}
}

// Refusal is a host that a command was not let to reach.
type Refusal struct {
	Host    string // HOST:PORT
	Private bool   // it is allowed, but its address is on this machine or in its own network
	Said    bool   // a person said no
}

// Limits are the resource limits of a process and each of its children. Zero leaves one alone.
type Limits struct {
	FileSize  uint64        // bytes of one file
	OpenFiles uint64        // descriptors
	CPU       time.Duration // processor time of all its threads, in whole seconds
	Memory    uint64        // bytes of all its processes together, for a sandbox; Exec ignores it
	Processes uint64        // at the same time, for a sandbox; Exec ignores it

	// Bytes and files of Command.Own and Layer.Upper together, bytes with those of Command.Stored. A command that passes one is killed.
	// They are counted about every 50 ms, so more can be there for a moment. Files that were deleted and are still open do not count.
	Disk, Files uint64
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
	Filled    bool          // ended because of Limits.Disk or Limits.Files
	Crowded   bool          // a process was refused it because of Limits.Processes
	Outgrown  bool          // it, or one of its processes, was ended because of Limits.Memory
	Truncated bool          // stdout passed MaxStdout
	Duration  time.Duration // from start to end, without what Command.Clock stood still
	Sandbox   *Sandbox      // what confined it; nil if nothing did
	Reached   []string      // HOST:PORT that it reached through the engine's proxy, the first 20
	Failed    []string      // HOST:PORT that it may reach, and the proxy could not, the first 20
	Refused   []Refusal     // what the proxy refused it, the first 20
	Late      []string      // hosts that Network.Ask allowed when the command had given them up, as it was asked: they are of use if it runs again
	Undone    []Undone      // what it changed and was put back
}

// Layer is a folder that a command may write although nothing in it changes: what the command writes there goes elsewhere.
type Layer struct {
	Dir   string // absolute; what lies there is read, and never changed
	Upper string // absolute; what the command writes in Dir. What lies there before takes the place of what Dir has
	Work  string // absolute and empty, on the file system of Upper; nobody but the sandbox uses it
}

// ErrNoLayer is returned by a Runner that cannot do what Command.Layer asks for. Nothing has run then.
var ErrNoLayer = errors.New("there are no private layers")

// Undone is a path that a command changed and may not: one of Command.Keep or Command.Absent, or something new in one of Command.Seen. It
// is again what it was before, unless Err is set.
type Undone struct {
	Path  string
	Why   string // why something new is not left there, as a clause; "" for what was there before, or must not be there
	IsDir bool   // something new is a folder
	Moved string // the folder in which there is now what the command made of it; "" for nothing
	Err   error  // why it could not be put back
}

// Text says what became of a change, as a clause: "it is as before …".
func (u *Undone) Text() string {
	switch {
	case u.Err != nil && u.Why != "":
		return fmt.Sprintf("it could not be moved away: %v", u.Err)
	case u.Err != nil:
		return fmt.Sprintf("it could not be put back: %v", u.Err)
	case u.Why != "":
		return "it is now in " + u.Moved
	case u.Moved != "":
		return "it is as before, and what was made of it is in " + u.Moved
	}
	return "it is as before"
}

// mostUndone is how many changed paths a text names.
const mostUndone = 5

// Sentence says what a command changed that stays as it is, and what became of it. who is the command, as "Script". It returns "" for no
// changes.
func Sentence(who string, undone []Undone) string {
	var texts []string
	for _, u := range undone[:min(len(undone), mostUndone)] {
		what := "changed %s, which has to stay as it is"
		if u.Why != "" {
			what = "made %s, and " + strings.ReplaceAll(u.Why, "%", "%%")
		}
		texts = append(texts, fmt.Sprintf(who+" "+what+": %s", u.Path, u.Text()))
	}
	if more := len(undone) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("so for %d more", more))
	}
	return strings.Join(texts, "; ")
}
