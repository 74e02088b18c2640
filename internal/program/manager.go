package program

import (
	"os"
	"path/filepath"
	"strings"
)

// Manager is a version manager whose programs lie in a PATH: each starts the version that the manager has chosen for it.
type Manager struct {
	Variable string // that says where Folder is; without it the programs look below HOME
	Folder   string // with the versions, absolute
}

// managers are the variables of version managers, by the name of their folder and the folder in it that is in a PATH.
var managers = map[string]string{
	"asdf/shims": "ASDF_DATA_DIR", "goenv/shims": "GOENV_ROOT", "jenv/shims": "JENV_ROOT", "mise/shims": "MISE_DATA_DIR",
	"nodenv/shims": "NODENV_ROOT", "plenv/shims": "PLENV_ROOT", "pyenv/shims": "PYENV_ROOT", "rbenv/shims": "RBENV_ROOT", "volta/bin": "VOLTA_HOME",
}

// Managers returns the version managers whose programs lie in folders of a PATH. Those of rustup lie in the folder of cargo, beside which
// it has its own.
func Managers(dirs []string) []Manager {
	var out []Manager
	for _, dir := range dirs {
		root := filepath.Dir(dir)
		dot, name := "", filepath.Base(root)
		if plain, ok := strings.CutPrefix(name, "."); ok {
			dot, name = ".", plain
		}
		v := managers[name+"/"+filepath.Base(dir)]
		if name == "cargo" {
			v, root = "RUSTUP_HOME", filepath.Join(filepath.Dir(root), dot+"rustup")
		}
		if info, err := os.Stat(root); v != "" && err == nil && info.IsDir() {
			out = append(out, Manager{v, root})
		}
	}
	return out
}
