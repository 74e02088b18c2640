package nodeenv

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/program"
)

const npmOutput = 1500 // bytes of what npm printed, in a message

// resolve has npm choose versions for the dependencies and returns the lock that it writes. npm sees a package.json with
// the dependencies alone, in a folder of its own with an empty home. It installs nothing and runs no script.
func (j *job) resolve(ctx context.Context, work string) (string, error) {
	npm, err := j.s.o.LookPath("npm")
	if err != nil {
		return "", fmt.Errorf("%s has no lock, and %w; or add a package-lock.json to the skill", j.pkg.file, ErrNoNPM)
	}
	dir, home := filepath.Join(work, "resolve"), filepath.Join(work, "home")
	for _, d := range []string{dir, home} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return "", err
		}
	}
	for file, content := range map[string]string{filepath.Join(dir, "package.json"): string(j.pkg.canonical()),
		filepath.Join(home, ".npmrc"): strings.Join(j.s.from.lines, "\n") + "\n"} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			return "", err
		}
	}
	out, err := j.s.o.Run(ctx, &Command{
		Path: npm, Dir: dir, Env: program.Pairs(j.npmEnvironment(npm, home)), Timeout: j.s.o.MaxTime, MaxStdout: 64 << 10, Write: []string{work},
		Args: []string{npm, "install", "--package-lock-only", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier",
			"--loglevel=error", "--lockfile-version=3", "--git=" + os.DevNull},
	})
	switch {
	case err != nil:
		return "", err
	case out.TimedOut:
		return "", fmt.Errorf("npm took more than %gs", j.s.o.MaxTime.Seconds())
	case out.ExitCode != 0:
		return "", fmt.Errorf("npm failed with exit code %d: %s", out.ExitCode, said(out.Stderr, work))
	}
	b, err := readFile(os.DirFS(dir), "package-lock.json", maxLock)
	return string(b), err
}

// npmEnvironment returns the environment of npm: the programs that it needs, and what the network needs.
func (j *job) npmEnvironment(npm, home string) map[string]string {
	folders := []string{filepath.Dir(npm)}
	if node, err := j.s.o.LookPath("node"); err == nil {
		folders = append(folders, filepath.Dir(node))
	}
	env := map[string]string{
		"PATH": strings.Join(append(folders, program.FixedPath), string(filepath.ListSeparator)),
		"HOME": home, "USERPROFILE": home, "TMPDIR": home, "LANG": "C.UTF-8", "NO_COLOR": "1",
		"npm_config_cache": filepath.Join(home, "cache"), "npm_config_userconfig": filepath.Join(home, ".npmrc"), "npm_config_globalconfig": os.DevNull,
	}
	for _, kv := range j.s.o.Env {
		name, value, _ := strings.Cut(kv, "=")
		if program.NeededByNetwork(name) || program.NeededBySystem(name) || name == "NODE_EXTRA_CA_CERTS" {
			env[name] = value
		}
	}
	return env
}

// said returns the end of what npm printed, without the paths of this preparation.
func said(b []byte, work string) string {
	b = bytes.TrimSpace(bytes.ToValidUTF8(b, []byte("\ufffd")))
	if len(b) > npmOutput {
		b = b[len(b)-npmOutput:]
	}
	return strings.ReplaceAll(string(bytes.ToValidUTF8(b, nil)), work+string(filepath.Separator), "")
}
