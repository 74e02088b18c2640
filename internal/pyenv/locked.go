package pyenv

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// locked holds the parts of uv's lock that are read.
type locked struct {
	Package []lockedPackage
}

type lockedPackage struct {
	Name, Version string
	Wheels        []lockedWheel
}

// lockedWheel has a path in place of an address if the operator's packages lie in a folder. uv then writes neither hash nor
// size; both are computed from the file.
type lockedWheel struct {
	URL, Path, Hash string
	Size            int64
}

// readLock reads a lock and adds the hashes and sizes of local files.
func readLock(name string) (*locked, error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var l locked
	if err := toml.Unmarshal(b, &l); err != nil {
		return nil, fmt.Errorf("uv's lock cannot be read: %w", err)
	}
	for _, p := range l.Package {
		for i := range p.Wheels {
			if err := p.Wheels[i].complete(filepath.Dir(name)); err != nil {
				return nil, err
			}
		}
	}
	return &l, nil
}

func (w *lockedWheel) complete(dir string) error {
	if w.Path == "" {
		return nil
	}
	path := w.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if w.Size, err = io.Copy(h, f); err != nil {
		return err
	}
	if w.Hash == "" {
		w.Hash = "sha256:" + hex.EncodeToString(h.Sum(nil))
	}
	return nil
}

// size returns the packed size of all packages, with the largest wheel of each, or 0 if one is not known.
func (l *locked) size() (sum int64) {
	for _, p := range l.Package {
		var most int64
		for _, w := range p.Wheels {
			most = max(most, w.Size)
		}
		if most == 0 {
			return 0
		}
		sum += most
	}
	return sum
}

// withHashes adds hashes to the lines of a requirements file without one, which are those of local packages. The installed
// packages must be the resolved ones.
func (l *locked) withHashes(requirements string) string {
	hashes := map[string]string{}
	for _, p := range l.Package {
		for _, w := range p.Wheels {
			if w.Path != "" && w.Hash != "" {
				hashes[p.Name+"=="+p.Version] += " --hash=" + w.Hash
			}
		}
	}
	var out strings.Builder
	for line := range strings.Lines(requirements) {
		line = strings.TrimRight(line, "\r\n")
		name, _, _ := strings.Cut(line, " ")
		out.WriteString(line)
		if !strings.HasSuffix(line, `\`) {
			out.WriteString(hashes[name])
		}
		out.WriteString("\n")
	}
	return out.String()
}

// onlyDeclared removes from a requirements file the hashes of packages that the skill limits to other hashes. A package that
// has none left is refused.
func (e *environmentOf) onlyDeclared(requirements string) (string, error) {
	if len(e.needs.Hashes) == 0 {
		return requirements, nil
	}
	var out strings.Builder
	for _, l := range logicalLines(requirements) {
		name, options := cutHashes(strings.TrimSpace(l.text))
		declared := e.needs.Hashes[packageName(name)]
		if len(declared) > 0 {
			options = slices.DeleteFunc(options, func(o string) bool { return !slices.Contains(declared, strings.TrimPrefix(o, "--hash=")) })
			if len(options) == 0 {
				return "", e.unavailable(nil, "%s has no file with a hash that %s names: correct the hashes, or remove them", name, e.needs.From)
			}
		}
		out.WriteString(strings.Join(append([]string{name}, options...), " ") + "\n")
	}
	return out.String(), nil
}
