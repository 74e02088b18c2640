package plan

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/want"
)

// Grace is the time that a command has to end when it is told to.
const Grace = 2 * time.Second

// NoCache is where Python is told to look for byte code if what lies beside its sources is not to be loaded: no folder, so there is
// none. The packages of an environment then load from their sources, too.
const NoCache = os.DevNull

// Command returns the command of a run that knows where it starts, see Settle. It returns a *fail.Error if the program would take an
// argument of the script for an option of its own, or if the command may not have what it needs.
func (r *Run) Command(o *Operator) (*runner.Command, error) {
	if err := r.checkArgs(); err != nil {
		return nil, err
	}
	env := r.Environment(o)
	required := r.required(o)
	env["PATH"] = withPython(withCommands(env["PATH"], required), r.Python)
	maps.Copy(env, r.Given)
	if r.Uncached {
		env["PYTHONPYCACHEPREFIX"] = NoCache // of the Pythons that it starts
	}
	if r.GitConfig != "" {
		env["GIT_CONFIG_SYSTEM"] = r.GitConfig
	}
	for _, kv := range r.Keys.Env {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	cmd, err := r.reach(o, required).Command(runner.Command{
		Path: r.Argv[0], Args: append(slices.Clone(r.Argv), r.Args...), Dir: r.Cwd, Env: program.Pairs(env),
		Stdin: r.Stdin, In: r.In, Timeout: r.Timeout, Grace: Grace, MaxStdout: r.MaxStdout, StopAtMax: r.StopAtMax,
	})
	if err != nil {
		return nil, &fail.Error{Code: fail.PermissionDenied, Err: err, Message: fmt.Sprintf("Script %s is not run: %v", r.Script.Name, err)}
	}
	cmd.Args[0] = cmd.Path
	return cmd, nil
}

// required returns the programs that the skill's scripts start, as far as they are installed: those that it requires, and those that its
// permissions name.
func (r *Run) required(o *Operator) []string {
	m := r.Skill.Manifest()
	var out []string
	for _, name := range slices.Concat(m.Requires, m.Permissions.Asked.Named(want.Command)) {
		if path, err := o.LookPath(name); err == nil && filepath.IsAbs(path) {
			out = append(out, path)
		}
	}
	return out
}

// withCommands adds the folders of the commands that the skill requires to PATH: a skill that is available because of a
// command must find it when it runs.
func withCommands(searchPath string, commands []string) string {
	for _, path := range commands {
		if dir := filepath.Dir(path); !slices.Contains(filepath.SplitList(searchPath), dir) {
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

// checkArgs returns an error if the program that runs the script would take one of its arguments for an option of its own.
func (r *Run) checkArgs() error {
	if r.By == nil {
		return nil
	}
	given := r.Args
	if r.AddedJSON {
		given = given[:len(given)-1]
	}
	arg := r.By.Taken(given)
	if arg == "" {
		return nil
	}
	why := "takes it for an option of its own: choose another argument"
	if !r.By.Options() {
		why = "may take it for an option of its own: let a shell script of the skill call the program"
	}
	return &fail.Error{Code: fail.ExecutionFailed, Reason: fail.ReasonArgument,
		Message: fmt.Sprintf("Script %s is not run with the argument %.200q, because %s, which runs it, %s", r.Script.Name, arg, filepath.Base(r.Argv[0]), why)}
}

// limits returns the limits of the scripts of a skill.
func (r *Run) limits(o *Operator) runner.Limits {
	l, wanted := o.Limits, &r.Skill.Manifest().Permissions.Limits
	l.CPU = r.Timeout + time.Second
	l.Memory = cmp.Or(uint64(wanted.Memory), l.Memory)
	l.Processes = cmp.Or(uint64(wanted.Processes), l.Processes)
	return l
}

// reach returns what a script gets: its own folders, its interpreter, the commands that it requires, and what it was granted. It may
// read the folder where the user stands and the workspace in any case.
func (r *Run) reach(o *Operator, required []string) *runner.Reach {
	here := o.Here(r.Cwd)
	read, write := r.Grant.Given.Named(want.Read), r.Grant.Given.Named(want.Write)
	reach := &runner.Reach{
		Sockets: r.Keys.Sockets, Lacks: r.Keys.Lacks, Guard: o.Guard, Home: r.Home, Temp: r.Temp, UsersHome: OwnHome(r.Grant), Own: []string{r.Work, r.Cache},
		Read: append([]string{r.Dir}, r.Read...), Programs: []string{r.Argv[0]}, Path: filepath.SplitList(o.Path), Getenv: o.Getenv,
		Here: slices.Clone(here), GrantRead: named(read), GrantWrite: named(write),
		Denied: []runner.Denied{o.Denied, r.Denied}, Approved: []string{r.Dir},
		Network: r.network(o), Confine: o.Confined(r.Grant.Confine), Limits: r.limits(o),
	}
	if r.Copied {
		reach.Own = append(reach.Own, r.Dir)
	}
	if r.GitConfig != "" {
		reach.Read = append(reach.Read, filepath.Dir(r.GitConfig))
	}
	if r.Packages != "" {
		reach.Read = append(reach.Read, r.Packages)
	}
	if r.Python != "" {
		reach.Programs = append(reach.Programs, r.Python)
	}
	reach.Programs = append(reach.Programs, required...)
	if slices.Contains(write, want.Here) {
		reach.WriteHere = here
	}
	if opens(o.Workspace) {
		reach.Here = append(reach.Here, o.Workspace)
	}
	return reach
}

// named returns the entries of a list that are not want.Here.
func named(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return item == want.Here })
}

// network returns what a script may reach: what it was granted, and the addresses that the operator gave it in a variable
// that it declares or was granted. These may be private ones.
func (r *Run) network(o *Operator) runner.Network {
	n := Network(r.Grant)
	n.Denied, n.Ask, n.Waits = r.Network.Denied, r.Network.Ask, r.Network.Waits
	for _, kv := range o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if FromOperator(name) || !r.Passes.Allows(name) {
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
