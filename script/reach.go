package script

import (
	"fmt"
	"maps"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/keyagent"
	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/layer"
	"github.com/agent-base/agent-base/script/internal/places"
	"github.com/agent-base/agent-base/script/internal/plan"
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
	passes    *plan.Passing
	given     map[string]string // variables of the caller
	place     *places.Workplace
	layer     *layer.Layer    // may be nil
	keys      *keyagent.Given // the agents that hold the user's keys, as far as they were granted
	copied    bool            // dir is a copy of the skill's folder, for this run
}

// scriptCommand returns the command that runs a script.
func (h *Host) scriptCommand(c *call, r *scriptRun) (*runner.Command, error) {
	if err := r.checkArgs(c); err != nil {
		return nil, err
	}
	env := plan.Environment(r.passes, h.o.Path, h.o.Env, h.placeVariables(c, r))
	env["PATH"] = withPython(h.withCommands(env["PATH"], commands(c.s.Manifest())), c.python)
	for name, value := range r.given {
		env[name] = value
	}
	if c.uncached {
		env["PYTHONPYCACHEPREFIX"] = noCache // of the Pythons that it starts
	}
	if c.hook != nil || c.serve != nil {
		maps.Copy(env, h.hookVariables(r.dir))
	}
	if plan.Writes(r.grant) && env["GIT_CONFIG_SYSTEM"] == "" {
		file, dir, err := h.identity(r.place.Root)
		if err != nil {
			return nil, err
		}
		if file != "" {
			env["GIT_CONFIG_SYSTEM"] = file
			r.read = append(r.read, dir)
		}
	}
	user := &keyagent.User{Home: plan.UserHome(h.o.Env), Getenv: h.getenv}
	keys, err := user.Give(r.grant.Given.Named(want.Socket), r.place.Work)
	if err != nil {
		return nil, err
	}
	for _, kv := range keys.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	r.keys = keys
	cwd := r.cwd
	if cwd == "" {
		cwd = h.start(c, r)
	}
	r.cwd = cwd
	reach := h.reach(c, r)
	with := runner.Command{
		Path: r.argv[0], Args: append(slices.Clone(r.argv), c.args...), Dir: cwd, Env: program.Pairs(env),
		Stdin: c.stdin, In: c.input.input(), Timeout: c.timeout - c.waited, Grace: grace, MaxStdout: h.maxOutput(c.s), StopAtMax: c.stopAtMax,
	}
	h.watched(c, r, &with)
	cmd, err := reach.Command(with)
	if err != nil {
		return nil, &Error{Code: PermissionDenied, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", c.sc.Name, err)}
	}
	cmd.Args[0] = cmd.Path
	return cmd, nil
}

// placeVariables are the variables that name a script's folders.
func (h *Host) placeVariables(c *call, r *scriptRun) map[string]string {
	env := runner.HomeVariables(r.place.Home, r.place.Temp)
	maps.Copy(env, map[string]string{
		"AGENT_SKILL_DIR": r.dir, "AGENT_SKILL_NAME": c.s.Canonical(), "AGENT_WORKSPACE": h.o.Workspace,
		"AGENT_SKILL_WORK_DIR": r.place.Work, "AGENT_SKILL_CACHE_DIR": r.place.Cache,
	})
	return env
}

// withCommands adds the folders of the commands that the skill requires to PATH: a skill that is available because of a
// command must find it when it runs.
func (h *Host) withCommands(searchPath string, commands []string) string {
	for _, name := range commands {
		p, err := h.o.LookPath(name)
		if err != nil || !filepath.IsAbs(p) {
			continue
		}
		if dir := filepath.Dir(p); !slices.Contains(filepath.SplitList(searchPath), dir) {
			searchPath += string(filepath.ListSeparator) + dir
		}
	}
	return searchPath
}

// withPython puts the folder of an interpreter before a PATH, so that a shell script starts this one.
func withPython(searchPath, exe string) string {
	if exe == "" {
		return searchPath
	}
	return strings.Join(slices.DeleteFunc([]string{filepath.Dir(exe), searchPath}, func(p string) bool { return p == "" }), string(filepath.ListSeparator))
}

// watched has the caller get what the script writes, as it comes and without secrets.
func (h *Host) watched(c *call, r *scriptRun, cmd *runner.Command) {
	if c.out == nil && c.err == nil {
		return
	}
	secrets := plan.Secrets(r.passes, h.o.Env, r.given)
	if c.out != nil {
		cmd.Out = runner.Watched(secrets.Writer(c.out))
	}
	if c.err != nil {
		cmd.Err = secrets.Writer(c.err)
	}
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
	if !r.by.Options() {
		why = "may take it for an option of its own: let a shell script of the skill call the program"
	}
	return &Error{Code: ExecutionFailed, Reason: ReasonArgument,
		Message: fmt.Sprintf("Script %s is not run with the argument %.200q, because %s, which runs it, %s", c.sc.Name, arg, filepath.Base(r.argv[0]), why)}
}

// limits returns the limits of the scripts of a skill.
func (h *Host) limits(c *call) runner.Limits {
	l := runner.Limits{FileSize: 256 << 20, OpenFiles: 1024, CPU: c.timeout - c.waited + time.Second, Memory: h.o.Memory, Processes: h.o.Tasks, Disk: h.o.Disk, Files: h.o.Files}
	request(&l, &c.s.Manifest().Permissions.Limits)
	return l
}

// confine returns the stricter of the host's confinement and a skill's own. Where the host says off, that holds.
func (h *Host) confine(own runner.Confinement) runner.Confinement {
	if h.o.Confine == runner.ConfineAuto && own == runner.ConfineRequired {
		return own
	}
	return h.o.Confine
}

// reach returns what a script gets: its own folders, its interpreter, the commands that it requires, and what it was granted. It may
// read the folder where the user stands and the workspace in any case.
func (h *Host) reach(c *call, r *scriptRun) *runner.Reach {
	here := h.here(r.cwd)
	read, write := r.grant.Given.Named(want.Read), r.grant.Given.Named(want.Write)
	reach := &runner.Reach{
		Sockets: r.keys.Sockets, Lacks: r.keys.Lacks, Guard: h.guard(), Home: r.place.Home, Temp: r.place.Temp, UsersHome: plan.OwnHome(r.grant), Own: []string{r.place.Work, r.place.Cache},
		Read: append([]string{r.dir}, r.read...), Programs: []string{r.argv[0]}, Path: filepath.SplitList(h.o.Path), Getenv: h.getenv,
		Here: slices.Clone(here), GrantRead: named(read), GrantWrite: named(write),
		Denied: []runner.Denied{h.o.Denied, c.denied}, Approved: []string{r.dir},
		Network: h.network(c, r), Confine: h.confine(r.grant.Confine), Limits: h.limits(c),
	}
	if r.copied {
		reach.Own = append(reach.Own, r.dir)
	}
	if c.packages != "" {
		reach.Read = append(reach.Read, c.packages)
	}
	if c.python != "" {
		reach.Programs = append(reach.Programs, c.python)
	}
	for _, name := range commands(c.s.Manifest()) {
		if path, err := h.o.LookPath(name); err == nil && filepath.IsAbs(path) {
			reach.Programs = append(reach.Programs, path)
		}
	}
	if slices.Contains(write, want.Here) {
		reach.WriteHere = here
	}
	if opens(h.o.Workspace) {
		reach.Here = append(reach.Here, h.o.Workspace)
	}
	return reach
}

// guard returns what keeps a script from the user's secrets and from what other programs obey.
func (h *Host) guard() runner.Guard {
	return runner.Guard{Home: plan.UserHome(h.o.Env), Private: h.o.Private, Keep: h.o.Keep}
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

// network returns what a script may reach: what it was granted, and the addresses that the operator gave it in a variable
// that it declares or was granted. These may be private ones.
func (h *Host) network(c *call, r *scriptRun) runner.Network {
	n := plan.Network(r.grant)
	n.Denied, n.Ask, n.Waits = c.network.Denied, c.network.Ask, c.network.Waits
	for _, kv := range h.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if plan.FromOperator(name) || !r.passes.Allows(name) {
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
