package cure

import (
	"strings"
	"unicode"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
	"github.com/agent-base/agent-base/want"
)

// AllHosts is the value of the flag for the whole network.
const AllHosts = "all"

// Grant is the command that gives a skill wants for which there are flags.
func Grant(name string, wants want.Set) string { return withFlags("agent skill grant "+name, wants) }

func withFlags(command string, wants want.Set) string {
	for _, k := range want.Kinds() {
		if k.Usage() == "" {
			continue
		}
		names := wants.Named(k)
		if k.Lists() && len(names) > 0 {
			names = []string{strings.Join(names, ",")}
		}
		for _, name := range names {
			command += " --" + k.Title(want.User)
			switch {
			case k.Single():
			case k == want.Host && name == want.Any:
				command += " " + AllHosts
			default:
				command += " " + homeWord(name)
			}
		}
	}
	return command
}

// Repeat is the command that gives the same as a grant again; two, joined by &&, if packages were added. What the grant withholds
// does not lapse.
func Repeat(t *trust.Grant) string {
	var commands []string
	packages, given := t.Given.Split(func(w want.Want) bool { return w.Kind == want.Package })
	if len(given) > 0 {
		commands = append(commands, Grant(t.Name, given))
	}
	if len(packages) > 0 {
		commands = append(commands, Prepare(t.Name, packages))
	}
	return strings.Join(commands, " && ")
}

// Prepare is the command that adds packages to a skill. It names no package that is only a guess: somebody may have published it for
// those who guess.
func Prepare(name string, packages want.Set) string {
	_, known := packages.Split(func(w want.Want) bool { return w.From == want.Seen })
	names := known.Named(want.Package)
	if len(names) == 0 {
		names = []string{"PACKAGE"}
	}
	command := "agent skill prepare " + name
	for _, p := range names {
		command += " --with " + Word(p)
	}
	return command
}

// Run returns the command that runs a script of a skill.
func Run(skillName, scriptName string, args []string) string {
	line := "agent script run " + Word(skillName) + " " + Word(scriptName) + " --"
	for _, arg := range args {
		line += " " + Word(arg)
	}
	return line
}

// Trust is the command that approves the present content of a skill.
func Trust(name string) string { return "agent skill trust " + name }

// TrustRoot is the command that trusts everything below a folder.
func TrustRoot(dir string) string { return "agent skill trust --root " + Word(dir) }

// Untrust is the command that takes the approval of a skill back.
func Untrust(name string) string { return "agent skill untrust " + name }

// UntrustRoot is the command that no longer trusts everything below a folder.
func UntrustRoot(dir string) string { return "agent skill untrust --root " + Word(dir) }

// Add is the command that installs a skill of a source. ref and name may be "".
func Add(source, ref, name string) string {
	command := "agent skill add " + Word(source)
	if ref != "" {
		command += " --ref " + Word(ref)
	}
	if name != "" {
		command += " --skill " + Word(name)
	}
	return command
}

// Lock is the command that installs a skill of a source and records it in the lock file of the project. as is the name that it gets, if
// that is another one.
func Lock(source, ref, name, as string) string {
	command := Add(source, ref, name)
	if as != "" && as != name {
		command += " --name " + Word(as)
	}
	return command + " --lock"
}

// Repair is the command that puts back what was installed of some skills.
func Repair(names ...string) string { return "agent skill repair " + strings.Join(names, " ") }

// Enable is the command that brings back a skill that is not enabled, or that explains why it is not.
func Enable(e skill.Entry) string {
	switch {
	case e.Cause() == skill.CauseTrust:
		return Trust(e.Canonical())
	case e.State() == skill.StateDisabled && (e.Cause() == skill.CauseWish || e.Cause() == skill.CauseManifest):
		return "agent skill enable " + e.Canonical()
	}
	return "agent skill why " + e.Canonical()
}

// TrustServer is the command that approves a server of tools that the project proposes.
func TrustServer(label string) string { return "agent mcp trust " + label }

// UntrustServer is the command that takes the approval of such a server back.
func UntrustServer(label string) string { return "agent mcp untrust " + label }

// GrantServer is the command that opens something to a server of tools in the sandbox.
func GrantServer(label string, wants want.Set) string {
	return withFlags("agent mcp grant "+label, wants)
}

// LoginServer is the command that logs in to a server of tools. Without scopes it asks for those that the server names.
func LoginServer(label string, scopes ...string) string {
	command := "agent mcp login " + label
	for _, scope := range scopes {
		command += " --scope " + Word(scope)
	}
	return command
}

// Word returns a text as a shell reads it back, in quotes where it needs any.
func Word(text string) string {
	plain := func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("/._-+,:@%", r)
	}
	if text != "" && strings.IndexFunc(text, func(r rune) bool { return !plain(r) }) < 0 {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// homeWord is Word, but leaves "~/" at the beginning to the shell.
func homeWord(text string) string {
	if below, ok := strings.CutPrefix(text, "~/"); ok {
		return "~/" + Word(below)
	}
	return Word(text)
}
