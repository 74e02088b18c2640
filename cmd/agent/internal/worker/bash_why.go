package worker

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/script/runner"
)

// whyFailed has what a command prints that failed because of the sandbox, with what that was: what Sandbox.Missing says about something,
// or else a text.
var whyFailed = []struct {
	says    []string
	missing string
	text    string
}{
	{says: []string{"not a git repository"}, missing: "git"},
	{says: []string{"command not found", ": not found"}, missing: "path"},
	{says: []string{"failed to sign the data", "error: Load key ", "error: Couldn't load public key", "error: Couldn't get agent socket", "signing failed"},
		missing: "socket", text: noKeys},
	{says: []string{"ermission denied", "EACCES"}, missing: "write"},
	{says: []string{"Could not resolve host", "ssh: connect to host", "Temporary failure in name resolution", "Name or service not known", "no servers could be reached",
		"dial udp", "socket: Operation not permitted", "socket: operation not permitted", "socket: permission denied", "Network is unreachable"}, text: noDirect},
	{says: []string{"Failed to connect to localhost", "Failed to connect to 127.0.0.1", "Failed to connect to ::1", "ECONNREFUSED 127.0.0.1", "ECONNREFUSED ::1",
		"dial tcp 127.0.0.1", "dial tcp [::1]"}, text: noHere},
}

// Why a command does not sign, and what helps.
const (
	noDirect  = "nobody can be asked about this connection: a command in the sandbox reaches hosts over HTTP and HTTPS through the proxy in its environment, not over ssh, other sockets or DNS of its own; use an https address, or set outside, and the user is asked"
	noHere    = "a command in the sandbox has a localhost of its own, where only what it started itself answers; for a service of this machine the user's setting bashNetwork can name it, as localhost:8080"
	noKeys    = "keys that sign are out of reach in the sandbox: commit with git -c commit.gpgsign=false, or set outside, and the user is asked; the user's setting bashSockets lets commands sign"
	noSockets = "the sandbox of this machine has no unix sockets, so no command can use the agents of bashSockets: commit with git -c commit.gpgsign=false, or set outside, and the user is asked"
	noWrite   = "only a command with write set can use the keys of the user, who is asked"
)

// mostLacks is how much of what a command lacked is said when it failed.
const mostLacks = 3

// why says what of the sandbox may have made a command fail, as a clause: what its output shows, or else what it was not given. It
// is "" if nothing is known.
func (w *worker) why(c *hosttool.Command, cmd *runner.Command, out *runner.Output) string {
	text := why(out)
	switch {
	case text == noHere && cmd.Network.All:
		return ""
	case text == "" && (out.ExitCode != 0 || len(out.Undone) > 0):
		return strings.Join(cmd.Missing[:min(len(cmd.Missing), mostLacks)], "; ")
	case text != noKeys || len(w.s.Settings.Config().Agent.BashSockets) == 0:
		return text
	case !hasSockets(out.Sandbox):
		return noSockets
	case !c.Signs:
		return noWrite
	}
	return "" // what it says is about the keys
}

// hasSockets reports whether commands have unix sockets in a sandbox.
func hasSockets(s *runner.Sandbox) bool { return len(s.Lacks("namespaces")) == 0 }

func why(out *runner.Output) string {
	if out.ExitCode == 0 {
		return ""
	}
	text := string(out.Stdout)
	for _, w := range whyFailed {
		if !slices.ContainsFunc(w.says, func(part string) bool { return strings.Contains(text, part) }) {
			continue
		}
		if lacks := out.Sandbox.Lacks(w.missing); w.missing != "" && len(lacks) > 0 {
			return strings.Join(lacks[:min(len(lacks), mostLacks)], "; ")
		} else if w.text != "" {
			return w.text
		}
	}
	return ""
}
