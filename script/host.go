package script

import (
	"cmp"
	"context"
	"time"

	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/interpreter"
	"github.com/agent-base/agent-base/script/internal/output"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
	"github.com/agent-base/agent-base/script/internal/run"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

// Limits of a call.
const (
	MaxArgs       = 100            // arguments, without --json
	MaxArgBytes   = 4096           // of all arguments together, without separators and without --json
	DefaultOutput = 1 << 20        // bytes of stdout: more JSON is an error, more text is cut
	StderrTail    = output.MaxTail // bytes of stderr in a message
)

// DefaultTimeout is a script's time when Options.Timeout is 0, and the most that Help takes.
const DefaultTimeout = 60 * time.Second

// Conversation says where the commands of one conversation keep temporary files, and what its model knows: all of its commands, and the
// scripts of skills that may write in folders of the user, in Temp, the other skills each in a folder of Other; at most Disk bytes and Files
// files and folders in Temp; which hidden paths its model was Told of. Who holds it makes the folders and removes them.
type Conversation = places.Conversation

// Options configures a Host. LookPath and Cache are required; the zero values of the others are useful.
type Options struct {
	Runner   runner.Runner                // executes all commands of the host; nil means runner.Exec
	LookPath func(string) (string, error) // finds interpreters and uv
	Env      []string                     // the operator's environment, as NAME=value; the package comment lists the variables that pass

	// Path is the PATH of scripts and of the programs that are asked for their version, without folders in which others choose
	// the programs; "" means /usr/local/bin:/usr/bin:/bin.
	Path string

	Cache string // absolute folder for environments, uv's cache and the skills' own caches
	Homes string // absolute folder for the private homes of skills, which Sweep never touches; "" means one in Cache

	// Conversation says where scripts keep temporary files with the other commands of a conversation: it is asked for each run. Nil means that
	// the host belongs to none. Then a skill's folder for temporary files is kept for KeepTemp after a run of it; 0 means that each run has
	// its own.
	Conversation func(context.Context) (*Conversation, error)
	KeepTemp     time.Duration

	// Hosts decides, for each run of a script, about hosts that it was not granted. Nil refuses them.
	Hosts HostsFunc

	// FormerHome returns the folder that named the home of a skill in former versions of this program, by its place, see skill.Entry.Place:
	// that of a version of an installed skill or of a skill of a server, "" for others. A home with that name is renamed. Nil renames none.
	FormerHome func(place string) string

	Workspace string // absolute folder that AGENT_WORKSPACE names; "" means none

	UserDir  string // absolute folder where the user stands; "" means that none is known
	Cwd      string // where a script starts, one of the constants CwdUser and so on; "" means CwdUser with a UserDir, else CwdScript
	FixedCwd bool   // Cwd holds also for a skill that asks for another with metadata.agent-base.cwd

	// Confine says whether scripts, and the programs that prepare for them, may run without a sandbox; "" means runner.ConfineAuto.
	// Runner is what confines them.
	Confine runner.Confinement
	Memory  uint64 // most bytes of memory of a script and its processes, in a sandbox; 0 means no limit
	Tasks   uint64 // most processes and threads of a script, in a sandbox; 0 means no limit
	Disk    uint64 // most bytes in the folders that are a script's own: work, temporary, home and cache together; 0 means no limit
	Files   uint64 // most files and folders in them; 0 means no limit

	// Private and Keep are absolute paths of files and folders in the folders that scripts may read or write, such as the
	// user's. Scripts do not see those in Private, and do not change those in Keep, unless they were granted by name.
	Private, Keep []string

	// Denied are the rules that say which files in the folders of a user scripts do not see and do not change.
	Denied runner.Denied

	JSON       JSONMode // of a run that does not say; "" means JSONAuto
	AlwaysHelp bool     // Help runs every script with --help, also one that does not show that it knows it

	Timeout        time.Duration // of a run, without preparing; 0 means DefaultTimeout
	MaxOutput      int64         // bytes of stdout; 0 means DefaultOutput
	MaxEnvironment int64         // bytes that a script's dependencies may add to the disk; 0 means 1 GiB

	// PackageHosts are further hosts that preparing packages may reach, besides those of the operator's package indexes and registries:
	// HOST, HOST:PORT or *.HOST; "all" means every host.
	PackageHosts []string

	NPMRC []byte // the operator's npmrc: which registries have npm packages

	// Granted returns what the user gave a skill's scripts. It is asked for each run, with the skill that runs. nil means only
	// the variables that the manifest names.
	Granted func(context.Context, *skill.Skill) (Grant, error)

	// Seen returns what the texts of a skill's scripts want, to explain why a run failed. Nil means that nobody knows.
	Seen func(context.Context, *skill.Skill) Seen

	PrepareTimeout time.Duration // to prepare a script's dependencies; 0 means 10 minutes
	FetchPython    bool          // uv may download a Python if none that is installed will do

	Progress func(string) // says what is done, again and again, if preparing takes more than a second; may be nil

	// Chosen is asked, each time a script needs packages that nothing locks, for the versions that another Host has chosen: its method
	// Chosen has them by the same key. Those that were chosen last count, so several machines have the same. Nil: the Host chooses alone.
	Chosen func(ctx context.Context, key string) ([]byte, error)
	Trace  trace.Tracer // may be nil
}

// HostsFunc sets what Network has to decide about hosts during one run of a script: Denied, Ask and Waits. The function that it returns is
// called with what became of the run; it may be nil.
type HostsFunc func(ctx context.Context, s *skill.Skill, sc Script, args []string, n *runner.Network) (done func(*runner.Output))

// Host runs scripts of skills. New makes one.
type Host struct {
	o            Options
	places       *places.Store
	envs         *envs.Store
	interpreters *interpreter.Chooser
	engine       *run.Engine
	helps        helps
}

// timeout returns the time of a run: the caller's, else what the manifest requests, else the host's.
func (h *Host) timeout(s *skill.Skill, own time.Duration) time.Duration {
	return cmp.Or(max(own, 0), s.Manifest().Permissions.Limits.Timeout, h.o.Timeout)
}

// maxOutput returns how much output of a skill's scripts is kept: what the manifest requests, else the host's.
func (h *Host) maxOutput(s *skill.Skill) int64 {
	return cmp.Or(s.Manifest().Permissions.Limits.Output, h.o.MaxOutput)
}

// asked returns what is asked for when a script runs, for some time; 0 means the usual.
func (h *Host) asked(s *skill.Skill, sc Script, own time.Duration) plan.Asked {
	return plan.Asked{Skill: s, Script: sc, Timeout: h.timeout(s, own), MaxStdout: h.maxOutput(s)}
}

// Where a script starts: the values of Options.Cwd and of metadata.agent-base.cwd in a manifest.
const (
	CwdUser      = plan.CwdUser      // Options.UserDir, or without one the folder of the run that AGENT_SKILL_WORK_DIR names
	CwdWorkspace = plan.CwdWorkspace // Options.Workspace
	CwdSkill     = plan.CwdSkill     // the skill's folder
	CwdScript    = plan.CwdScript    // the script's own folder
)

// Version returns the first line that a program prints for --version. path is absolute. The answer is kept as long as the program
// stays unchanged.
func (h *Host) Version(ctx context.Context, path string) (string, error) {
	return h.interpreters.Version(ctx, path)
}
