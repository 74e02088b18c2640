package program

import (
	"cmp"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// Manager is a version manager whose programs lie in a PATH: each starts the version that the manager has chosen for it.
type Manager struct {
	Folder string   // with the versions, absolute
	Env    []string // NAME=value, that say where Folder and File are; without them the programs look below HOME
	File   string   // the user's own choice of versions, absolute; "" for none

	// Untold is the file of the user's choice in place of File, if it sets variables, too, which may be secrets, or cannot be read.
	Untold string
}

// manager is a row of the table of version managers.
type manager struct {
	name     string // of its folder, without a dot
	programs string // the folder in it that is in a PATH
	variable string // that says where the folder is
	file     string // of the user's choice of versions, below the home
	named    string // the variable that names this file; "" if there is none
}

// managers is the table. The programs of rustup lie in the folder of cargo, beside which it has its own.
func managers() []manager {
	return []manager{
		{name: "asdf", programs: "shims", variable: "ASDF_DATA_DIR", file: ".tool-versions"},
		{name: "goenv", programs: "shims", variable: "GOENV_ROOT"},
		{name: "jenv", programs: "shims", variable: "JENV_ROOT"},
		{name: "mise", programs: "shims", variable: "MISE_DATA_DIR", file: ".config/mise/config.toml", named: "MISE_GLOBAL_CONFIG_FILE"},
		{name: "nodenv", programs: "shims", variable: "NODENV_ROOT"},
		{name: "plenv", programs: "shims", variable: "PLENV_ROOT"},
		{name: "pyenv", programs: "shims", variable: "PYENV_ROOT"},
		{name: "rbenv", programs: "shims", variable: "RBENV_ROOT"},
		{name: "volta", programs: "bin", variable: "VOLTA_HOME"},
		{name: "cargo", programs: "bin", variable: "CARGO_HOME"},
	}
}

// User is whose programs they are.
type User struct {
	Home   string                   // absolute, "" for none
	Getenv func(name string) string // nil is an empty environment
}

func (u *User) getenv(name string) string {
	if u.Getenv == nil {
		return ""
	}
	return u.Getenv(name)
}

// Managers returns the version managers whose programs lie in folders of a PATH. Those that have a folder of another name are known by
// the variables of the user.
func Managers(dirs []string, u *User) []Manager {
	var out []Manager
	for _, dir := range dirs {
		for _, row := range managers() {
			if m, ok := row.at(dir, u); ok {
				out = append(out, m)
			}
		}
	}
	return out
}

// at returns the manager whose programs lie in a folder of a PATH.
func (r *manager) at(dir string, u *User) (Manager, bool) {
	root, variable := filepath.Dir(dir), r.variable
	named := u.getenv(variable)
	if filepath.Base(dir) != r.programs || strings.TrimPrefix(filepath.Base(root), ".") != r.name && root != filepath.Clean(named) {
		return Manager{}, false
	}
	if r.name == "cargo" {
		dot := strings.TrimSuffix(filepath.Base(root), r.name)
		variable, root = "RUSTUP_HOME", filepath.Join(filepath.Dir(root), dot+"rustup")
		if own := u.getenv(variable); filepath.IsAbs(own) {
			root = filepath.Clean(own)
		}
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return Manager{}, false
	}
	m := Manager{Folder: root, Env: []string{variable + "=" + root}}
	r.choice(&m, u)
	return m, true
}

const maxChoice = 1 << 20 // bytes

// choice notes the file of the user's choice.
func (r *manager) choice(m *Manager, u *User) {
	if r.file == "" || u.Home == "" {
		return
	}
	file := filepath.Join(u.Home, filepath.FromSlash(r.file))
	if below, ok := strings.CutPrefix(r.file, ".config/"); ok {
		if config := u.getenv("XDG_CONFIG_HOME"); filepath.IsAbs(config) {
			file = filepath.Join(config, filepath.FromSlash(below))
		}
	}
	if own := u.getenv(cmp.Or(r.named, "-")); filepath.IsAbs(own) {
		file = filepath.Clean(own)
	}
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxChoice {
		return
	}
	if r.named == "" {
		m.File = file
		return
	}
	text, err := os.ReadFile(file)
	if err != nil || envKey().Match(text) {
		m.Untold = file
		return
	}
	m.File, m.Env = file, append(m.Env, r.named+"="+file)
}

// envKey matches a table or a key called env in TOML.
var envKey = lazyregexp.New(`(?i)(?:^|[\s\[{,."'])env["']?\s*[\].=]`)
