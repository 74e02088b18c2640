package script

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// prepare returns the python of an environment with the block's dependencies, made once.
func (h *Host) prepare(ctx context.Context, b *Block, python string) (string, error) {
	env := filepath.Join(h.Cache, "python", key(b, python))
	exe := filepath.Join(env, "bin", "python")
	marker := filepath.Join(env, ".ready")
	if _, err := os.Stat(marker); err == nil {
		return exe, nil
	}
	uv, err := h.LookPath("uv")
	if err != nil {
		return "", unavailable("uv is not installed: pip install uv", err)
	}
	if err := os.RemoveAll(env); err != nil {
		return "", unavailable("the environment's folder cannot be cleared", err)
	}
	if err := h.build(ctx, b, uv, python, env); err != nil {
		_ = os.RemoveAll(env)
		return "", err
	}
	return exe, os.WriteFile(marker, nil, 0o600)
}

func unavailable(msg string, err error) error {
	return &Error{Code: ExecutionFailed, Reason: "dependencies_unavailable", Err: err, Message: "Dependencies are not available: " + msg}
}

func key(b *Block, python string) string {
	h := sha256.New()
	for _, s := range append([]string{"1", b.RequiresPython, python}, b.Dependencies...) {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}

func (h *Host) build(ctx context.Context, b *Block, uv, python, env string) error {
	work, err := os.MkdirTemp(h.Cache, "prepare-")
	if err != nil {
		return unavailable("no work directory", err)
	}
	defer os.RemoveAll(work)
	stub, req := filepath.Join(work, "stub.py"), filepath.Join(work, "requirements.txt")
	if err := os.WriteFile(stub, []byte(b.stub()), 0o600); err != nil {
		return unavailable("no work directory", err)
	}
	for _, args := range [][]string{
		{uv, "lock", "--script", stub, "--python", python},
		{uv, "export", "--script", stub, "--locked", "--no-header", "-o", req, "--python", python},
		{uv, "venv", "--no-project", "--python", python, env},
		{uv, "pip", "sync", "--python", filepath.Join(env, "bin", "python"), "--require-hashes", "--only-binary", ":all:", "--no-compile-bytecode", "--link-mode", "copy", req},
		{python, "-I", "-S", "-m", "compileall", "-q", "-f", "--invalidation-mode", "unchecked-hash", filepath.Join(env, "lib")},
	} {
		out, err := Exec{}.Run(ctx, &Command{Path: args[0], Args: args, Dir: work, Env: h.uvEnv(work), Timeout: 10 * time.Minute, Grace: grace, MaxStdout: 64 << 10})
		if err != nil {
			return unavailable(args[0]+" cannot be started", err)
		}
		if out.ExitCode != 0 {
			return unavailable(fmt.Sprintf("%s %s: %s", filepath.Base(args[0]), args[1], lastBytes(out.Stderr)), nil)
		}
	}
	return nil
}

func (b *Block) stub() string {
	var s strings.Builder
	s.WriteString("# /// script\n")
	if b.RequiresPython != "" {
		fmt.Fprintf(&s, "# requires-python = %q\n", b.RequiresPython)
	}
	s.WriteString("# dependencies = [\n")
	for _, d := range b.Dependencies {
		fmt.Fprintf(&s, "#   %q,\n", d)
	}
	s.WriteString("# ]\n# ///\n")
	return s.String()
}

// uvEnv is uv's environment (security 1.3).
func (h *Host) uvEnv(work string) []string {
	env := []string{
		"PATH=/usr/bin:/bin", "HOME=" + work, "TMPDIR=" + work, "NETRC=/dev/null", "UV_CACHE_DIR=" + filepath.Join(h.Cache, "uv"),
		"UV_NO_CONFIG=1", "UV_NO_ENV_FILE=1", "UV_NO_BUILD=1", "UV_PYTHON_DOWNLOADS=never", "UV_KEYRING_PROVIDER=disabled", "UV_SYSTEM_CERTS=1",
	}
	for _, kv := range h.Env {
		name, _, _ := strings.Cut(kv, "=")
		if slices.Contains(network, name) || name == "UV_DEFAULT_INDEX" || name == "UV_INDEX" || strings.HasPrefix(name, "UV_INDEX_") || name == "UV_FIND_LINKS" || name == "UV_OFFLINE" {
			env = append(env, kv)
		}
	}
	return env
}
