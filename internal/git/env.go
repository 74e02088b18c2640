package git

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/variable"
)

// setting is a line of a git configuration.
type setting struct{ key, value string }

// hardening are the settings of every run. They come after those of the operator, so they hold.
var hardening = []setting{
	{"core.hooksPath", os.DevNull},
	{"core.fsmonitor", "false"},
	{"core.fsync", "none"}, // what is fetched is gone after the run: package install writes to the disk what is kept
	{"core.symlinks", "false"},
	{"core.protectNTFS", "true"},
	{"core.protectHFS", "true"},
	{"core.alternateRefsCommand", ""},
	{"core.bigFileThreshold", "16m"}, // larger objects are not held in memory
	{"protocol.version", "2"},
	{"submodule.recurse", "false"},
	{"fetch.recurseSubmodules", "false"},
	{"fetch.fsckObjects", "true"},
	{"transfer.fsckObjects", "true"},
	{"transfer.bundleURI", "false"},
	{"transfer.unpackLimit", "1"}, // one pack, not a file for each object
	{"fetch.unpackLimit", "1"},
	{"fetch.negotiationAlgorithm", "noop"}, // nothing that is here says what is needed
	{"fetch.writeCommitGraph", "false"},
	{"http.followRedirects", "false"},
	{"http.sslVerify", "true"},
	{"credential.interactive", "false"},
	{"gc.auto", "0"},
	{"maintenance.auto", "false"},
	{"uploadpack.packObjectsHook", ""},
}

// quietKey is the operator's setting of how long a server may be silent, in seconds; slowest is the least number of bytes a second
// that is more than silence.
const (
	quietKey = "http.lowspeedtime"
	slowest  = "1000"
)

// patience returns the settings for a server that sends nothing for a time.
func patience(quiet time.Duration) []setting {
	return []setting{{"http.lowSpeedLimit", slowest}, {"http.lowSpeedTime", wholeSeconds(quiet)}}
}

func wholeSeconds(d time.Duration) string {
	return strconv.Itoa(int((d + time.Second - 1) / time.Second))
}

// sshOptions forbid questions and what a host could be configured to do on this machine.
const sshOptions = " -oBatchMode=yes -oStrictHostKeyChecking=yes -oPermitLocalCommand=no -oClearAllForwardings=yes" +
	" -oServerAliveInterval=15 -oServerAliveCountMax=3 -oConnectTimeout="

// passed are the variables of the operator that ssh, credential helpers and TLS need.
var passed = []string{
	"HOME", "USER", "LOGNAME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "PROGRAMDATA", "TEMP", "TMP", "TMPDIR", "XDG_*", "SSH_AUTH_SOCK", "SSH_AGENT_PID",
	"GIT_SSL_CAINFO", "GIT_SSL_CAPATH", "GIT_SSL_CERT", "GIT_SSL_KEY", "GIT_SSL_CERT_PASSWORD_PROTECTED", "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY",
	"GNUPGHOME", "PASSWORD_STORE_DIR", "KRB5CCNAME", "KRB5_CONFIG", "GH_*", "GITHUB_TOKEN", "GITLAB_TOKEN", "AWS_*", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_*",
}

// environment returns the environment of a run.
func (c *Client) environment(k *call) []string {
	env := map[string]string{
		"LC_ALL":  "C", // errors are recognised by their words
		"PATH":    strings.Join(c.o.Path, string(filepath.ListSeparator)),
		"GIT_DIR": os.DevNull, // no repository, wherever this process is
	}
	if k.operator {
		c.passOperator(env)
		return program.Pairs(env)
	}
	harden(env)
	if k.dir != "" {
		env["GIT_DIR"] = k.dir
	}
	if k.trace {
		env["GIT_TRACE_CURL"], env["GIT_TRACE_CURL_NO_DATA"], env["GIT_TRACE_REDACT"] = "1", "1", "1"
	}
	env["GIT_ALLOW_PROTOCOL"] = strings.Join(k.protocols, ":")
	if len(k.protocols) > 0 {
		env["GIT_SSH_COMMAND"], env["GIT_SSH_VARIANT"] = c.o.SSH+sshOptions+wholeSeconds(k.quiet), "ssh"
	}
	if c.o.AskPass != "" && slices.Contains(k.protocols, "https") {
		env["GIT_ASKPASS"] = c.o.AskPass
	}
	settings := hardening
	if k.own {
		settings = slices.Concat(c.own, hardening)
	}
	if k.send && k.token != nil {
		settings = append(slices.Clip(settings), k.token.setting())
	}
	if k.quiet > 0 {
		settings = slices.Concat(settings, patience(k.quiet))
	}
	if env["GIT_ASKPASS"] != "" { // a program is no terminal
		settings = append(slices.Clip(settings), setting{"credential.interactive", "true"})
	}
	for i, s := range settings { // variables, because other users see the arguments of a process
		n := strconv.Itoa(i)
		env["GIT_CONFIG_KEY_"+n], env["GIT_CONFIG_VALUE_"+n] = s.key, s.value
	}
	env["GIT_CONFIG_COUNT"] = strconv.Itoa(len(settings))
	c.pass(env, len(k.protocols) > 0)
	return program.Pairs(env)
}

// harden sets the variables that keep configuration, questions and what git does by itself away.
func harden(env map[string]string) {
	env["GIT_CONFIG_GLOBAL"] = os.DevNull
	env["GIT_CONFIG_NOSYSTEM"] = "1"
	env["GIT_ATTR_NOSYSTEM"] = "1"
	env["GIT_TERMINAL_PROMPT"] = "0"
	env["GIT_ASKPASS"] = "" // none, which git does not replace by another
	env["GCM_INTERACTIVE"] = "never"
	env["GIT_PROTOCOL_FROM_USER"] = "0"
	env["GIT_NO_LAZY_FETCH"] = "1"
	env["GIT_NO_REPLACE_OBJECTS"] = "1"
	env["GIT_OPTIONAL_LOCKS"] = "0"
	env["GIT_LFS_SKIP_SMUDGE"] = "1"
	env["GIT_ADVICE"] = "0"
}

// pass adds variables of the operator that are not set yet: what the system needs and, for a run that reaches a server, what
// the way to it needs.
func (c *Client) pass(env map[string]string, remote bool) {
	for _, kv := range c.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if _, set := env[name]; set {
			continue
		}
		if program.NeededBySystem(name) || remote && (variable.Matches(passed, name) || program.NeededByNetwork(name)) {
			env[name] = value
		}
	}
}

// passOperator adds what git needs to read the operator's configuration.
func (c *Client) passOperator(env map[string]string) {
	c.pass(env, true)
	for _, kv := range c.o.Env {
		switch name, value, _ := strings.Cut(kv, "="); name {
		case "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM":
			env[name] = value
		}
	}
}

// configuration returns the content of the configuration of a repository with ids of a length. It names no remote, so git gets
// no object by itself.
func configuration(id string) string {
	if len(id) == sha256Length {
		return "[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectFormat = sha256\n"
	}
	return "[core]\n\trepositoryformatversion = 0\n\tbare = true\n"
}

// prepare writes an empty bare repository into a folder. Git would copy templates and read settings for it.
func prepare(dir, id string) error {
	for _, name := range []string{"objects", "refs"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o700); err != nil {
			return fmt.Errorf("making a repository: %w", err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "HEAD"), []byte("ref: refs/heads/none\n"), 0o600); err != nil {
		return fmt.Errorf("making a repository: %w", err)
	}
	return configure(dir, id)
}

// configure writes the configuration of a repository anew: git notes there where it has fetched from.
func configure(dir, id string) error {
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(configuration(id)), 0o600); err != nil {
		return fmt.Errorf("configuring a repository: %w", err)
	}
	return nil
}
