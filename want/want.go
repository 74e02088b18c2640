// Package want has one value for a thing that a skill may want, such as a variable, a host or a folder, and sets of them. What a
// manifest declares, what the texts of scripts name, what a user gave, and what a run was refused are sets that can be compared:
//
//	given := want.Set{want.HostOf("*.example.com"), want.WriteOf("/data")}
//	lacks := asked.Minus(given)
//
// A Want says nothing about whether it is given: that is said by the set it stands in. The package runs nothing and asks nobody.
// Its functions are safe for concurrent use, and none changes the sets that it gets.
package want

import (
	"cmp"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/hostname"
)

// Kind says what is wanted.
type Kind string

// The kinds.
const (
	Variable Kind = "env"     // an environment variable; the name may have wildcards, as path.Match reads them
	Host     Kind = "host"    // HOST, HOST:PORT, *.HOST, or Any
	Socket   Kind = "socket"  // an agent that holds the user's keys: SSH or GPG
	Read     Kind = "read"    // a file or folder to be read: absolute, below the user's home as ~/x, or Here
	Write    Kind = "write"   // likewise, to be written and read
	Home     Kind = "home"    // the user's own home as HOME; it has no name
	Unasked  Kind = "unasked" // no question for each command that runs one of its own scripts as its allowed-tools says; it has no name
	Around   Kind = "around"  // the files around the skill's folder, which it shares with other skills: an absolute folder
	Package  Kind = "package" // a requirement of Python, or NPM and a name
	Command  Kind = "command" // a program that its scripts start, by its name
	Model    Kind = "model"   // a model for its work
	Agent    Kind = "agent"   // a conversation of its own: "fork"
	Server   Kind = "server"  // a toolset, by its name, with the command that starts it if that is known
	Tool     Kind = "tool"    // a rule about the tools that a model may call while the skill is active, or Any
	Hook     Kind = "hook"    // a command that runs at an event: "PreToolUse Bash: check.sh"
	Limit    Kind = "limit"   // a limit of its scripts in place of the usual one: "timeout=2m0s"
	Trust    Kind = "trust"   // that its present content runs at all; it has no name
)

// Here is the name of a Read or Write for the folder that a script is started for, whichever that is.
const Here = "."

// The names of a Socket.
const (
	SSH = "ssh"
	GPG = "gpg"
)

// Any is the name of a Host or Tool for all of them.
const Any = "*"

// NPM begins the name of a Package that is one of npm.
const NPM = "npm:"

// Origin says who named a want.
type Origin string

// The origins. The zero value is that of a want which nobody has said anything about.
const (
	Declared Origin = "declared" // by the skill's manifest
	Seen     Origin = "seen"     // by the text of a script, or by what it printed: nobody vouches for it
	User     Origin = "user"     // by the user
	Refused  Origin = "refused"  // by what kept a run from it, such as the sandbox
)

var origins = []Origin{Declared, Seen, User, Refused}

// Want is one thing that a skill may want.
type Want struct {
	Kind Kind
	Name string // "" for a kind without names
	From Origin
}

// kind is what is known about a Kind.
type kind struct {
	kind   Kind
	title  string                       // what people call what a manifest declares of it; "" if nothing can be declared
	seen   string                       // what they call what only the texts of scripts name; "" if that is not looked for
	given  string                       // what they call what a user gives of it; "" if nobody can give it to a skill
	usage  string                       // what a flag gives that is called so; "" if there is none
	sample string                       // a name of it
	single bool                         // it has no names
	files  bool                         // its names are files and folders
	held   bool                         // something keeps scripts from what of it they were not given
	opens  bool                         // the sandbox opens it to a program that is no script of a skill, too
	local  bool                         // it is about one machine and its user
	list   bool                         // its names have no commas, so that one text may list several
	covers func(have, want string) bool // nil compares names
	check  func(name string) error      // nil takes any name
}

// kinds has a row for each kind, in the order in which a set has them.
var kinds = []kind{
	{kind: Trust, single: true, held: true},
	{kind: Agent, title: "context", sample: "fork", held: true},
	{kind: Model, title: "model", sample: "small", held: true},
	{kind: Variable, title: "env", seen: "reads", given: "env", sample: "GITHUB_TOKEN", held: true, list: true, covers: matches, check: checkVariable,
		usage: "the variable with exactly this `NAME`; separate several with commas"},
	{kind: Home, single: true, given: "home", held: true, local: true,
		usage: "your real home as HOME, instead of a private one"},
	{kind: Unasked, single: true, given: "scripts", held: true,
		usage: "no question for each command in the sandbox that runs one of its own scripts as its allowed-tools says, while it is active"},
	{kind: Host, title: "network", seen: "contacts", given: "net", sample: "api.example.com", held: true, opens: true, list: true, covers: reaches, check: checkHost,
		usage: "network access to `HOST`: api.example.com, HOST:PORT, *.example.com, or all"},
	{kind: Socket, given: "socket", sample: SSH, held: true, local: true, list: true, check: checkSocket,
		usage: "the `AGENT` that holds your keys, ssh or gpg: a script then signs and logs in as you"},
	{kind: Write, title: "write", seen: "writes files", given: "write", sample: "/data", files: true, held: true, local: true, opens: true, covers: holds, check: checkFolder,
		usage: "write access to `DIR` or to one file; \".\" is where a script is started"},
	{kind: Read, title: "read", seen: "reads files", given: "read", sample: "/data", files: true, held: true, local: true, opens: true, covers: holds, check: checkFolder,
		usage: "read access to `DIR` or to one file"},
	{kind: Around, sample: "/skills", files: true, held: true, local: true, covers: holds, check: checkFolder},
	{kind: Limit, title: "limits", sample: "timeout=2m0s", held: true},
	{kind: Command, title: "commands", seen: "starts", sample: "git", held: true},
	{kind: Package, seen: "installs", given: "with", sample: "npm:left-pad", held: true},
	{kind: Tool, title: "allowed-tools", sample: "Bash(git:*)", held: true, covers: matchesAny},
	{kind: Hook, title: "hook", sample: "Stop: check.sh", held: true},
	{kind: Server, title: "toolsets", sample: "tools:Hello", held: true},
}

// Kinds returns all kinds, in the order in which a set has them.
func Kinds() []Kind {
	out := make([]Kind, len(kinds))
	for i := range kinds {
		out[i] = kinds[i].kind
	}
	return out
}

// Title returns what people call the wants of a kind that one has named: "network" for hosts that a manifest declares, "contacts" for
// those that only the texts of scripts name, "net" for those that a user gives. It returns "" if there are no such wants.
func (k Kind) Title(from Origin) string {
	row, _ := k.row()
	switch from {
	case Seen:
		return row.seen
	case User:
		return row.given
	}
	return row.title
}

// Usage says what a flag means that is called Title(User) and gives wants of the kind, with its value in backquotes; "" if there is no
// such flag.
func (k Kind) Usage() string {
	row, _ := k.row()
	return row.usage
}

// Single reports whether there is one want of the kind, which has no name.
func (k Kind) Single() bool {
	row, _ := k.row()
	return row.single
}

// Lists reports whether the names of a kind have no commas, so that one text may list several.
func (k Kind) Lists() bool {
	row, _ := k.row()
	return row.list
}

// Sample returns a name of the kind, as an example; "" for a kind without names.
func (k Kind) Sample() string {
	row, _ := k.row()
	return row.sample
}

// Opens reports whether the sandbox opens wants of the kind to a program that is not a script of a skill, such as a server of tools.
func (k Kind) Opens() bool {
	row, _ := k.row()
	return row.opens
}

// Local reports whether wants of the kind are about one machine and its user: on another machine they mean something else.
func (k Kind) Local() bool {
	row, _ := k.row()
	return row.local
}

// Files reports whether the names of a kind are files and folders.
func (k Kind) Files() bool {
	row, _ := k.row()
	return row.files
}

// Enforced reports whether something keeps scripts from what of the kind they were not given.
func (k Kind) Enforced() bool {
	row, _ := k.row()
	return row.held
}

// Granted reports whether a user can give a want of the kind to a skill.
func (k Kind) Granted() bool {
	row, _ := k.row()
	return row.given != ""
}

// Permitted reports whether a manifest can declare a want of the kind that a skill is then given.
func (k Kind) Permitted() bool { return k.Granted() && k.Title(Declared) != "" }

// row returns what is known about a kind, and its place in the order; nothing, and the end, for one that there is not.
func (k Kind) row() (kind, int) {
	for i := range kinds {
		if kinds[i].kind == k {
			return kinds[i], i
		}
	}
	return kind{}, len(kinds)
}

// Of returns a want of one kind.
func Of(k Kind, name string) Want { return Want{Kind: k, Name: name} }

// VariableOf returns the want of an environment variable.
func VariableOf(name string) Want { return Of(Variable, name) }

// HostOf returns the want of a host.
func HostOf(name string) Want { return Of(Host, name) }

// ReadOf returns the want of a file or folder to be read.
func ReadOf(dir string) Want { return Of(Read, dir) }

// WriteOf returns the want of a file or folder to be written.
func WriteOf(dir string) Want { return Of(Write, dir) }

// Check returns an error for a want that names nothing, or whose text form Parse would not read: an unknown kind or origin, no name, or
// one that is not of the kind.
func (w Want) Check() error {
	row, i := w.Kind.row()
	switch {
	case w.From != "" && !slices.Contains(origins, w.From):
		return fmt.Errorf("%q is nobody who names a want", string(w.From))
	case i == len(kinds):
		return fmt.Errorf("%q is not a kind of thing that a skill may want", string(w.Kind))
	case row.single && w.Name != "":
		return fmt.Errorf("%s has no name, not %q", w.Kind, w.Name)
	case row.single:
		return nil
	case w.Name == "":
		return fmt.Errorf("%s needs a name", w.Kind)
	case strings.ContainsRune(w.Name, 0) || !utf8.ValidString(w.Name):
		return fmt.Errorf("%s %q holds NUL, or is not UTF-8", w.Kind, w.Name)
	case row.check == nil:
		return nil
	}
	return row.check(w.Name)
}

// Covers reports whether having w is having the other too: the same thing, or one that includes it, as a pattern includes a variable,
// a folder its files, and writing a file reading it. Who named them does not count.
func (w Want) Covers(other Want) bool {
	same := w.Kind == other.Kind || w.Kind == Write && other.Kind == Read
	if !same || w.Name == other.Name {
		return same
	}
	row, _ := w.Kind.row()
	return row.covers != nil && row.covers(w.Name, other.Name)
}

// by returns the same want, named by another.
func (w Want) by(o Origin) Want {
	w.From = o
	return w
}

func compare(a, b Want) int {
	_, i := a.Kind.row()
	_, j := b.Kind.row()
	return cmp.Or(cmp.Compare(i, j), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.From, b.From))
}

// matches compares variables.
func matches(have, want string) bool {
	ok, err := path.Match(have, want)
	return err == nil && ok && !strings.ContainsAny(want, `*?[\`)
}

// matchesAny compares rules about tools, of which only Any includes another.
func matchesAny(have, _ string) bool { return have == Any }

// reaches compares hosts.
func reaches(have, want string) bool {
	if have == Any {
		return true
	}
	h, err := hostname.Parse(have)
	w, wrong := hostname.Parse(want)
	if err != nil || wrong != nil || want == Any {
		return false
	}
	if w.Below { // a pattern lies within another only if all its names do
		return h.Below && h.Port == w.Port && (h.Host == w.Host || strings.HasSuffix(w.Host, "."+h.Host))
	}
	return h == w || h.Matches(w.Host, cmp.Or(w.Port, httpsPort))
}

const httpsPort = 443

// holds compares folders. Here is no other folder, wherever that is.
func holds(have, want string) bool {
	absolute := filepath.IsAbs(have) && filepath.IsAbs(want)
	inHome := strings.HasPrefix(have, "~/") && strings.HasPrefix(want, "~/")
	if !absolute && !inHome {
		return false
	}
	below, err := filepath.Rel(have, want)
	return err == nil && filepath.IsLocal(below)
}

func checkVariable(name string) error {
	if strings.ContainsAny(name, "= \t\r\n") {
		return fmt.Errorf("%q is not the name of a variable", name)
	}
	return nil
}

func checkHost(name string) error {
	if name == Any {
		return nil
	}
	if _, err := hostname.Parse(name); err != nil {
		return fmt.Errorf("%q is not a host: %w", name, err)
	}
	return nil
}

func checkSocket(name string) error {
	if name != SSH && name != GPG {
		return fmt.Errorf("%q is not an agent that holds keys: it can be %s or %s", name, SSH, GPG)
	}
	return nil
}

func checkFolder(name string) error {
	if name == Here || strings.HasPrefix(name, "~/") || filepath.IsAbs(name) {
		return nil
	}
	return fmt.Errorf("folder %q is not an absolute path", name)
}
