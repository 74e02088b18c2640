package program

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/variable"
)

// MaxAnswer is the most bytes of an answer that are kept.
const MaxAnswer = 4096

// choosing is what shims (pyenv, asdf, mise, rbenv, nodenv, plenv) and uv find their versions by.
var choosing = []string{
	"PATH", "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA", "TEMP", "TMP",
	"PYENV_*", "ASDF_*", "RBENV_*", "NODENV_*", "PLENV_*", "MISE_DATA_DIR", "MISE_CONFIG_DIR", "MISE_*_VERSION", "UV_PYTHON_INSTALL_DIR",
}

// system is what programs of Windows cannot do without.
var system = []string{"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE"}

// NeededBySystem reports whether programs of this system cannot do without a variable.
func NeededBySystem(name string) bool {
	return runtime.GOOS == "windows" && slices.Contains(system, strings.ToUpper(name))
}

// NeededToFind reports whether a variable says where programs of the operator are, or which version of them is meant.
func NeededToFind(name string) bool { return variable.Matches(choosing, name) || NeededBySystem(name) }

// Question is one program to start: no shell, empty standard input, and nothing of the environment but Env.
type Question struct {
	Path string   // absolute path of the program
	Args []string // the whole argument list; the first is the program's path
	Dir  string   // working directory
	Env  []string

	Write []string // folders that it may write to
}

// Asker asks programs. Fill it in before its first use.
type Asker struct {
	Dir string   // absolute folder in which programs are asked, and answers are kept
	Env []string // the operator's environment
	Run func(context.Context, *Question) (string, error)

	mu    sync.Mutex
	known map[string]string // answers by question
}

// Ask runs a program and returns the text that it prints. The answer is kept, in memory and on disk, as long as the
// program stays unchanged. The error is that of Run.
func (a *Asker) Ask(ctx context.Context, program string, args ...string) (string, error) {
	key := answerKey(program, args, a.Env)
	known := ondisk.Digest(append([]string{key, program}, args...)...)
	a.mu.Lock()
	said, ok := a.known[known]
	a.mu.Unlock()
	if ok {
		return said, nil
	}
	note := filepath.Join(a.Dir, key)
	if key != "" {
		if b, err := os.ReadFile(note); err == nil && len(b) < MaxAnswer {
			return string(b), nil
		}
	}
	said, err := a.ask(ctx, &Question{Path: program, Args: args})
	if err != nil {
		return "", err
	}
	if key != "" {
		_ = ondisk.WriteFile(note, []byte(said)) // without it the program is asked again
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known = map[string]string{}
	}
	a.known[known] = said
	return said, nil
}

// AskNow is Ask for a question whose answer is not kept, to a program that may write in Dir.
func (a *Asker) AskNow(ctx context.Context, program string, args ...string) (string, error) {
	return a.ask(ctx, &Question{Path: program, Args: args, Write: []string{a.Dir}})
}

// ask runs the program of a question, whose arguments do not have its path yet.
func (a *Asker) ask(ctx context.Context, q *Question) (string, error) {
	if err := os.MkdirAll(a.Dir, 0o700); err != nil {
		return "", err
	}
	q.Args, q.Dir, q.Env = append([]string{q.Path}, q.Args...), a.Dir, a.environment()
	said, err := a.Run(ctx, q)
	return strings.TrimSpace(said), err
}

// Real returns the program behind a shim: the path that it prints for the arguments. It returns the shim itself when
// that is not one, or does not say.
func (a *Asker) Real(ctx context.Context, program string, where []string) string {
	if len(where) == 0 || !IsShim(program) {
		return program
	}
	said, err := a.Ask(ctx, program, where...)
	if err != nil {
		return program
	}
	first, _, _ := strings.Cut(said, "\n")
	if info, err := os.Stat(first); err != nil || !filepath.IsAbs(first) || !info.Mode().IsRegular() {
		return program
	}
	return first
}

func (a *Asker) environment() []string {
	env := map[string]string{"PATH": FixedPath, "LANG": "C.UTF-8", "NO_COLOR": "1", "UV_CACHE_DIR": filepath.Join(a.Dir, "uv")}
	for _, kv := range a.Env {
		name, value, _ := strings.Cut(kv, "=")
		if NeededToFind(name) {
			env[name] = value
		}
	}
	return Pairs(env)
}

// Pairs is an environment as a process takes it, in a stable order.
func Pairs(env map[string]string) []string {
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

// answerKey names an answer by everything that it depends on. It is "" if that is not known.
func answerKey(program string, args, env []string) string {
	parts := append([]string{Identity(program)}, args...)
	if IsShim(program) {
		// pyenv keeps its choice in a file above its shims, or in a variable.
		choice := filepath.Join(filepath.Dir(filepath.Dir(program)), "version")
		if filepath.Base(filepath.Dir(program)) != "shims" || Identity(choice) == "" {
			return ""
		}
		parts = append(parts, Identity(choice))
		for _, kv := range env {
			if strings.HasPrefix(kv, "PYENV_") {
				parts = append(parts, kv)
			}
		}
	}
	return ondisk.Digest(parts...)
}

// Failed is the error of a program that ended with an exit code in place of an answer.
func Failed(q *Question, code int, tail string) error {
	return fmt.Errorf("%s %s: exit code %d%s", q.Path, q.Args[1], code, tail)
}

// network is what a program with a network needs of the operator's environment.
var network = []string{
	"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY",
	"http_proxy", "https_proxy", "all_proxy", "no_proxy",
}

// NeededByNetwork reports whether a variable says how to reach the network.
func NeededByNetwork(name string) bool { return slices.Contains(network, name) }
