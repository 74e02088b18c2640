package script

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// scriptRun is what the command of one run is made of.
type scriptRun struct {
	argv      []string          // up to the script's own arguments
	by        *language.Program // what argv runs it with; nil if that reads no arguments of the script
	dir, file string            // the skill's folder, and the script in it
	cwd       string            // where it starts; "" means where scripts do
	read      []string          // what it may read in addition
	grant     *Grant
	passes    *passing
	given     map[string]string // variables of the caller
	place     *workplace
	layer     *layer // may be nil
	copied    bool   // dir is a copy of the skill's folder, for this run
}

// scriptCommand returns the command that runs a script.
func (h *Host) scriptCommand(c *call, r *scriptRun) (*runner.Command, error) {
	if err := r.checkArgs(c); err != nil {
		return nil, err
	}
	env := h.environment(r.passes, r.place.variables(h, c.s, r.dir))
	env["PATH"] = withPython(h.withCommands(env["PATH"], commands(c.s.Manifest())), c.python)
	for name, value := range r.given {
		env[name] = value
	}
	if c.hook != nil || c.serve != nil {
		maps.Copy(env, h.hookVariables(r.dir))
	}
	cwd := r.cwd
	if cwd == "" {
		cwd = h.start(c, r)
	}
	r.cwd = cwd
	cmd := &runner.Command{
		Args: append(slices.Clone(r.argv), c.args...), Dir: cwd, Env: program.Pairs(env),
		Stdin: c.stdin, Timeout: c.timeout - c.waited, Grace: grace, MaxStdout: h.maxOutput(c.s), StopAtMax: c.stopAtMax,
		Confine: h.confine(r.grant.Confine),
	}
	cmd.Path = program.Settled(r.argv[0])
	cmd.Args[0] = cmd.Path
	cmd.Limits = runner.Limits{FileSize: 256 << 20, OpenFiles: 1024, CPU: cmd.Timeout + time.Second, Memory: h.o.Memory, Processes: h.o.Tasks, Disk: h.o.Disk, Files: h.o.Files}
	request(&cmd.Limits, &c.s.Manifest().Permissions.Limits)
	if err := h.reach(cmd, c, r, cwd); err != nil {
		return nil, err
	}
	cmd.Network = h.network(r)
	if n := &cmd.Network; !n.All && len(n.Hosts) == 0 && cmd.Confine != runner.ConfineOff {
		cmd.Env = append(cmd.Env, impatient...)
	}
	return cmd, nil
}

// checkArgs returns an error if the program that runs the script would take one of its arguments for an option of its own.
func (r *scriptRun) checkArgs(c *call) error {
	if r.by == nil {
		return nil
	}
	given := c.args
	if c.addedJSON {
		given = given[:len(given)-1]
	}
	arg := r.by.Taken(given)
	if arg == "" {
		return nil
	}
	why := "takes it for an option of its own: choose another argument"
	if !r.by.Known() {
		why = "may take it for an option of its own: let a shell script of the skill call the program"
	}
	return &Error{Code: ExecutionFailed, Reason: ReasonArgument,
		Message: fmt.Sprintf("Script %s is not run with the argument %.200q, because %s, which runs it, %s", c.sc.Name, arg, filepath.Base(r.argv[0]), why)}
}

// impatient makes installers that a script calls fail at once without a network, where they would try for minutes.
var impatient = []string{"npm_config_fetch_retries=0", "PIP_RETRIES=0"}

// confine returns the stricter of the host's confinement and a skill's own. Where the host says off, that holds.
func (h *Host) confine(own runner.Confinement) runner.Confinement {
	if h.o.Confine == runner.ConfineAuto && own == runner.ConfineRequired {
		return own
	}
	return h.o.Confine
}

// reach sets what a script may read and write on disk: its own folders, its interpreter, the commands that it requires, and
// what it was granted, without what rules deny. It may read the folder where the user stands and the workspace in any case.
func (h *Host) reach(cmd *runner.Command, c *call, r *scriptRun, cwd string) error {
	guard := h.guard()
	cmd.Read = append([]string{r.dir}, r.read...)
	cmd.Own = []string{r.place.work, r.place.temp, r.place.cache}
	if r.copied {
		cmd.Own = append(cmd.Own, r.dir)
	}
	if c.packages != "" {
		cmd.Read = append(cmd.Read, c.packages)
	}
	cmd.Read = append(cmd.Read, program.Installation(r.argv[0], guard.Home)...)
	if c.python != "" {
		cmd.Read = append(cmd.Read, program.Installation(c.python, guard.Home)...)
	}
	cmd.Read = append(cmd.Read, h.programFolders(commands(c.s.Manifest()))...)

	read, write := r.grant.Given.Named(want.Read), r.grant.Given.Named(want.Write)
	here := h.here(cwd)
	given := slices.Concat(named(read), named(write))
	cmd.Read = append(cmd.Read, named(read)...)
	if r.grant.ownHome() {
		cmd.Read, given = append(cmd.Read, r.place.home), append(given, r.place.home)
	} else {
		cmd.Own = append(cmd.Own, r.place.home)
	}
	users := named(write)
	if slices.Contains(write, want.Here) {
		users = append(users, guard.Writable(here)...)
	}
	cmd.Write = slices.Concat(cmd.Own, users)
	if opens(h.o.Workspace) {
		here = append(here, h.o.Workspace)
	}
	cmd.Read = append(cmd.Read, paths.Without(here, cmd.Write)...)
	cmd.Read = append(cmd.Read, certificates(cmd.Env, cmd.Write)...)
	cmd.Hide = guard.Hidden(slices.Concat(here, given), given)
	guard.Protect(cmd, users, named(write))
	users = slices.Concat(here, given, users)
	for _, d := range []runner.Denied{h.o.Denied, c.denied} {
		if err := d.Deny(cmd, paths.Unique(users), []string{r.dir}); err != nil {
			return &Error{Code: PermissionDenied, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", c.sc.Name, err)}
		}
	}
	for _, list := range []*[]string{&cmd.Read, &cmd.Write} {
		*list = paths.Unique(*list)
	}
	return nil
}

// guard returns what keeps a script from the user's secrets and from what other programs obey.
func (h *Host) guard() *runner.Guard {
	return &runner.Guard{Home: paths.Real(h.operatorHome()), Private: h.o.Private, Keep: h.o.Keep}
}

// here returns the folders that want.Here stands for.
func (h *Host) here(cwd string) []string {
	var out []string
	if opens(h.o.UserDir) {
		out = append(out, h.o.UserDir)
	}
	if opens(h.o.Workspace) && cwd == h.o.Workspace && h.o.Workspace != h.o.UserDir {
		out = append(out, h.o.Workspace)
	}
	return out
}

// opens reports whether scripts see a folder because the user is in it: there is one, and it is not the root, which holds everything.
func opens(dir string) bool { return dir != "" && filepath.Dir(dir) != dir }

// named returns the entries of a list that are not want.Here.
func named(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return item == want.Here })
}

// programFolders returns what the programs that scripts find need: the folders of PATH, and the installations of the commands
// that a skill requires.
func (h *Host) programFolders(commands []string) []string {
	out := ProgramFolders(filepath.SplitList(h.o.Path), h.guard().Home)
	for _, name := range commands {
		if path, err := h.o.LookPath(name); err == nil && filepath.IsAbs(path) {
			out = append(out, program.Installation(path, h.guard().Home)...)
		}
	}
	return out
}

// ProgramFolders returns what the programs in the folders of a PATH need, outside the system's folders: these folders, and the
// libraries next to them.
func ProgramFolders(path []string, home string) []string {
	var out []string
	for _, dir := range path {
		if filepath.IsAbs(dir) && !program.OfSystem(dir) {
			out = append(out, dir)
			out = append(out, program.Libraries(dir, home)...)
		}
	}
	return paths.Unique(out)
}

// network returns what a script may reach: what it was granted, and the addresses that the operator gave it in a variable
// that it declares or was granted. These may be private ones.
func (h *Host) network(r *scriptRun) runner.Network {
	n := r.grant.network()
	for _, kv := range h.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if fromOperator(name) || !r.passes.allows(name) {
			continue
		}
		if host := hostOf(value); host != "" {
			n.Hosts, n.Private = append(n.Hosts, host), append(n.Private, host)
		}
	}
	n.Hosts, n.Private = paths.Unique(n.Hosts), paths.Unique(n.Private)
	return n
}

// hostOf returns the HOST or HOST:PORT of the address of a web server, "" for another text.
func hostOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return u.Host
}
