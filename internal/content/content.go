// Package content says which files in a folder belong to the skill there.
//
// Leftovers belong to no skill: what tools, editors, systems and version control leave in any folder. They are not hashed, copied,
// packed or listed, and a sealed copy has none, so no interpreter loads them from there. Whatever is not known as a leftover
// belongs to the skill.
//
// Files with secrets belong to the folder of their user. They are hashed, because scripts read them, but they are not handed on.
//
// Functions are safe for concurrent use.
package content

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
)

// ByteCode is what Leftover says of what interpreters made of sources, and would load in place of them.
const ByteCode = "byte code"

const editor = "of an editor"

// always has what is a leftover wherever it lies, a file, a folder or a link, by its name.
var always = map[string]string{
	"__pycache__": ByteCode,

	".cache": "a cache", ".pytest_cache": "a cache", ".mypy_cache": "a cache", ".ruff_cache": "a cache", ".pytype": "a cache",
	".hypothesis": "a cache", ".tox": "a cache", ".nox": "a cache", ".ipynb_checkpoints": "a cache", ".parcel-cache": "a cache",
	".turbo": "a cache", ".nyc_output": "a cache", ".sass-cache": "a cache", ".eslintcache": "a cache", ".coverage": "a cache",

	".idea": editor, ".vscode": editor, ".vs": editor, ".fleet": editor, ".history": editor,

	".DS_Store": "of the system", ".AppleDouble": "of the system", ".LSOverride": "of the system", ".Spotlight-V100": "of the system",
	".Trashes": "of the system", ".fseventsd": "of the system", "__MACOSX": "of the system", "Thumbs.db": "of the system",
	"ehthumbs.db": "of the system", "desktop.ini": "of the system", "Desktop.ini": "of the system", ".directory": "of the system",

	".venv": "a virtual environment",
}

// environments are names of folders that are virtual environments if they have environmentFile.
var environments = [...]string{"venv", "env", "virtualenv", ".virtualenv"}

const environmentFile = "pyvenv.cfg"

// packages is the folder of installed npm packages. It is a leftover beside a lock, from which the packages are installed anew;
// without one nothing else says what they are.
const packages = "node_modules"

// locks are the locks from which npm packages are installed.
var locks = [...]string{"npm-shrinkwrap.json", "package-lock.json", "pnpm-lock.yaml", "bun.lock", "yarn.lock"}

// Made reports whether programs make files and folders of this name while they build, test and edit, and leave them in any folder.
func Made(name string) bool {
	kind := always[name]
	return kind != "" && kind != editor || isBackup(name) || isDouble(name)
}

// Leftover returns what the file, folder or link at a slash path is if it is a leftover, such as ByteCode, and "" if it belongs to
// the skill in fsys. It looks at the last part of the path alone, and asks fsys what lies beside it or in it.
func Leftover(fsys fs.FS, name string) string { return onDisk(fsys).leftover(name) }

// lookup reports whether there is a regular file, not a link to one.
type lookup func(name string) bool

func onDisk(fsys fs.FS) lookup {
	return func(name string) bool {
		info, err := fs.Lstat(fsys, name)
		return err == nil && info.Mode().IsRegular()
	}
}

func (has lookup) leftover(name string) string {
	dir, base := path.Split(name)
	if kind := always[base]; kind != "" {
		return kind
	}
	switch {
	case filename.IsRepository(base):
		return "of version control"
	case base == packages && slices.ContainsFunc(locks[:], func(lock string) bool { return has(dir + lock) }):
		return "installed packages, which its lock names"
	case slices.Contains(environments[:], base) && has(name+"/"+environmentFile):
		return "a virtual environment"
	case isBackup(base):
		return editor
	case isDouble(base):
		return "of the system"
	}
	stem, pyc := strings.CutSuffix(base, ".pyc")
	if !pyc {
		stem, pyc = strings.CutSuffix(base, ".pyo")
	}
	if pyc && has(dir+stem+".py") { // alone it is a module, which Python loads
		return ByteCode
	}
	return ""
}

// isBackup reports whether an editor has named a copy, an unsaved text or a lock so: "a~", "#a#", ".#a", ".a.swp".
func isBackup(base string) bool {
	switch {
	case len(base) > 1 && strings.HasSuffix(base, "~"), strings.HasPrefix(base, ".#"), len(base) > 2 && base[0] == '#' && strings.HasSuffix(base, "#"):
		return true
	case base[0] != '.':
		return false
	}
	end := path.Ext(base)
	return len(base) > len(end) && (end == ".swp" || end == ".swo" || end == ".swx")
}

// isDouble reports whether macOS has named a file so, which holds what a file system cannot store with another one.
func isDouble(base string) bool { return strings.HasPrefix(base, "._") && len(base) > 2 }

// Within returns what Leftover does for a path or the first folder above it that is a leftover. A text that is no path has none.
func Within(fsys fs.FS, name string) string { return onDisk(fsys).within(name) }

func (has lookup) within(name string) string {
	if name == "." || !fs.ValidPath(name) {
		return ""
	}
	for i := range len(name) {
		if name[i] != '/' {
			continue
		}
		if kind := has.leftover(name[:i]); kind != "" {
			return kind
		}
	}
	return has.leftover(name)
}

// Own returns those of the regular files of a folder that belong to the skill there. names are slash paths of all its files.
func Own(names []string) map[string]bool {
	all, own := make(map[string]bool, len(names)), make(map[string]bool, len(names))
	for _, name := range names {
		all[name] = true
	}
	has := lookup(func(name string) bool { return all[name] })
	for _, name := range names {
		if has.within(name) == "" {
			own[name] = true
		}
	}
	return own
}

// secretFolders and secretFiles are the names of what holds keys and passwords of a user.
var (
	secretFolders = [...]string{".ssh", ".aws", ".gnupg", ".kube", ".password-store"}
	secretFiles   = [...]string{".env", ".envrc", ".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".git-credentials", ".htpasswd", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"}
	samples       = [...]string{"example", "sample", "template", "dist", "defaults"}
)

// Keys returns the names of the files and folders of a home that have its user's keys or passwords.
func Keys() []string {
	return append(secretFolders[:len(secretFolders):len(secretFolders)], ".netrc", "_netrc")
}

// Secret reports whether a slash path is, by the name of one of its parts, that of a file or folder with a user's keys or passwords:
// .env and .env.local but not .env.example, .ssh, .netrc and the like.
func Secret(name string) bool {
	for part := range strings.SplitSeq(strings.ToLower(name), "/") {
		if slices.Contains(secretFolders[:], part) || slices.Contains(secretFiles[:], part) {
			return true
		}
		if kind, ok := strings.CutPrefix(part, ".env."); ok && !slices.Contains(samples[:], kind) {
			return true
		}
	}
	return false
}

// Unshared says why a file or folder of a user's own folder is not packed, and not installed from there: "is byte code", "can hold
// secrets". It returns "" for what is.
func Unshared(fsys fs.FS, name string) string {
	if kind := Leftover(fsys, name); kind != "" {
		return "is " + kind
	}
	if Secret(path.Base(name)) {
		return "can hold secrets"
	}
	return ""
}
