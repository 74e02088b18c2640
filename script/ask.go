package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Programs of the operator's are asked what they are: where the real one lies behind a script that
// chooses among versions (pyenv, asdf, mise), and which version it is. They run through the Host's
// Runner, in a folder of the engine's, and never see anything of a skill. Of the operator's environment
// they see what such programs choose by, and nothing else: see choosing.

const askTimeout = 10 * time.Second

// ask runs a program and returns the text that it prints. The answer is kept: in the Host, and on disk
// as long as the program stays as it is.
func (h *Host) ask(ctx context.Context, path string, args ...string) (string, error) {
	key := askKey(path, args, h.Env)
	known := digest(append([]string{key, path}, args...)...)
	h.mu.Lock()
	said, ok := h.told[known]
	h.mu.Unlock()
	if ok {
		return said, nil
	}
	note := filepath.Join(h.programs(), key)
	if key != "" {
		if b, err := os.ReadFile(note); err == nil && len(b) < saidMax {
			return string(b), nil
		}
	}
	said, err := h.askNow(ctx, path, args)
	if err != nil {
		return "", err
	}
	if key != "" {
		_ = writeFile(note, []byte(said)) // without it the program is asked again
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.told == nil {
		h.told = map[string]string{}
	}
	h.told[known] = said
	return said, nil
}

// programs is the folder for what programs said about themselves, in which they are asked.
func (h *Host) programs() string { return filepath.Join(h.Cache, "programs") }

func (h *Host) askNow(ctx context.Context, path string, args []string) (string, error) {
	dir := h.programs()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	out, err := h.runner().Run(ctx, &Command{
		Phase: Prepare, Path: path, Args: append([]string{path}, args...), Dir: dir, Write: []string{dir},
		Env: h.questionEnvironment(dir), Timeout: askTimeout, Grace: grace, MaxStdout: saidMax,
	})
	if err != nil {
		return "", err
	}
	if out.ExitCode != 0 || out.TimedOut {
		return "", fmt.Errorf("%s %s: exit code %d%s", path, args[0], out.ExitCode, failureTail(out))
	}
	return strings.TrimSpace(text(out.Stdout)), nil
}

// askKey names an answer by everything that it depends on; "" where that is not known.
func askKey(path string, args, env []string) string {
	parts := append([]string{identity(path)}, args...)
	if isShim(path) {
		// pyenv keeps its choice in a file above its shims, or in a variable.
		choice := filepath.Join(filepath.Dir(filepath.Dir(path)), "version")
		if filepath.Base(filepath.Dir(path)) != "shims" || identity(choice) == "" {
			return ""
		}
		parts = append(parts, identity(choice))
		for _, kv := range env {
			if strings.HasPrefix(kv, "PYENV_") {
				parts = append(parts, kv)
			}
		}
	}
	return digest(parts...)
}

// digest is a short name for a list of strings, each with its length so that they cannot run together.
func digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s;", len(p), p)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

// identity is a program as it is now: its real path and what changes with its content. "" when it
// cannot be looked at.
func identity(path string) string {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	info, err := os.Stat(real)
	if err != nil {
		return ""
	}
	return real + " " + facts(info)
}

// isShim reports whether a program is itself a script that starts another.
func isShim(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	b := make([]byte, 2)
	n, _ := f.Read(b)
	return n == 2 && string(b) == "#!"
}

// real returns the program behind a shim, the path itself when it is none or does not say.
func (h *Host) real(ctx context.Context, path string, where []string) string {
	if len(where) == 0 || !isShim(path) {
		return path
	}
	said, err := h.ask(ctx, path, where...)
	if err != nil {
		return path
	}
	first, _, _ := strings.Cut(said, "\n")
	if info, err := os.Stat(first); err != nil || !filepath.IsAbs(first) || !info.Mode().IsRegular() {
		return path
	}
	return first
}

// writeFile replaces a file at once, so that a reader sees the old content or the new one.
func writeFile(name string, b []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(name), ".new-")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}
