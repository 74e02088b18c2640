package nodeenv

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// lock is the lock of a project. file is "" if it has none.
type lock struct {
	file string // slash path in the skill
	text []byte
	plan plan
}

// lockFormat is one kind of lock. Those without a reader are known, but not read.
type lockFormat struct {
	manager, name string
	read          func(pkg *packageJSON, file string, b []byte, pf platform) (plan, error)
	cure          string
}

// lockFormats are in the order in which locks are followed.
func lockFormats() []lockFormat {
	return []lockFormat{
		{"npm", "npm-shrinkwrap.json", readNPM, ""},
		{"npm", "package-lock.json", readNPM, ""},
		{"pnpm", "pnpm-lock.yaml", readPNPM, ""},
		{"bun", "bun.lock", readBun, ""},
		{"yarn", "yarn.lock", readYarn, ""},
		{"bun", "bun.lockb", nil, "write bun.lock with `bun install --save-text-lockfile` in its folder"},
	}
}

// findLock reads the lock next to a package.json. If there are several, that of the packageManager comes first, then the
// order of the formats; one that does not belong to the package.json is passed over if another does.
func findLock(fsys fs.FS, pkg *packageJSON, pf platform) (lock, error) {
	manager, _, _ := strings.Cut(pkg.PackageManager, "@")
	var fault error
	for _, first := range []bool{true, false} {
		for _, f := range lockFormats() {
			if (f.manager == manager) != first {
				continue
			}
			file := path.Join(path.Dir(pkg.file), f.name)
			text, err := readFile(fsys, file, maxLock)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			var p plan
			switch {
			case err != nil:
			case f.read == nil:
				err = refuse("%s cannot be read: %s", file, f.cure)
			default:
				p, err = f.read(pkg, file, text, pf)
			}
			if err == nil {
				return lock{file, text, p}, nil
			}
			if fault == nil {
				fault = err
			}
		}
	}
	return lock{}, fault
}

// facts are the parts of an installed package.json that are read.
type facts struct {
	OS, CPU, Libc words
	Scripts       map[string]json.RawMessage

	gyp bool
}

// readFacts reads the package.json of an installed package. It is not an error if there is none.
func readFacts(root *os.Root, place string) *facts {
	out := &facts{}
	if b, err := readFile(root.FS(), place+"/package.json", maxPackageJSON); err == nil {
		_ = json.Unmarshal(b, out)
	}
	_, err := root.Stat(place + "/binding.gyp")
	out.gyp = err == nil
	return out
}

// installs reports whether npm would run something of the package after it was unpacked.
func (f *facts) installs() bool {
	return f.gyp || f.Scripts["preinstall"] != nil || f.Scripts["install"] != nil || f.Scripts["postinstall"] != nil
}
