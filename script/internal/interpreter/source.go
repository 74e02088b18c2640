package interpreter

import (
	"cmp"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/internal/envs"
	"github.com/agent-base/agent-base/script/internal/fail"
	"github.com/agent-base/agent-base/script/internal/plan"
)

// source is a script for which a command is built, or a program that serves a skill.
type source struct {
	*envs.Of
	*plan.Start
}

// nearest returns the absolute path of the first file of one of these names in the script's folder or one above it in the
// skill, "" without one.
func (src *source) nearest(names ...string) string {
	root := strings.TrimSuffix(src.File, filepath.FromSlash(src.Script.File))
	for dir := path.Dir(src.Script.File); ; dir = path.Dir(dir) {
		for _, name := range names {
			at := path.Join(dir, name)
			if info, err := fs.Stat(src.Skill.FS(), at); err == nil && info.Mode().IsRegular() {
				return filepath.Join(root, filepath.FromSlash(at))
			}
		}
		if dir == "." {
			return ""
		}
	}
}

func (src *source) fail(reason string, err error, format string, args ...any) error {
	return fail.OfScript(src.Script.Name, reason, err, format, args...)
}

// bunGuards keep bun from installing packages and from reading .env and bunfig.toml in the working directory.
var bunGuards = []string{"--no-install", "--env-file=" + os.DevNull, "--config=" + os.DevNull}

// own returns the options of a program that depend on the skill's files.
func (src *source) own(name string) []string {
	switch name {
	case "bun":
		return append(slices.Clone(bunGuards), bunConfig(src)...)
	case "deno":
		return denoConfig(src)
	case "php": // by itself it looks for included files in the working directory first
		return []string{"-d", "include_path=" + filepath.Dir(src.File)}
	}
	return nil
}

// bunConfig has bun read the skill's tsconfig.json, or none: by itself it reads the one of the working directory too.
func bunConfig(src *source) []string {
	return []string{"--tsconfig-override=" + cmp.Or(src.nearest("tsconfig.json"), os.DevNull)}
}

// denoConfig has deno read the skill's configuration, or none, and take packages from node_modules if they were prepared:
// by itself it fetches them.
func denoConfig(src *source) []string {
	args := []string{"--no-config"}
	if file := src.nearest("deno.json", "deno.jsonc"); file != "" {
		args = []string{"--config=" + file}
	}
	if src.Packages != "" {
		args = append(args, "--node-modules-dir=manual", "--no-lock")
	}
	return args
}

// isolated returns the beginning of the command of a Python that takes nothing from its surroundings.
func (src *source) isolated(exe string, mode ...string) []string {
	argv := append(append([]string{exe}, mode...), "-B", "-X", "utf8")
	if src.Uncached {
		argv = append(argv, "-X", "pycache_prefix="+plan.NoCache)
	}
	return argv
}
