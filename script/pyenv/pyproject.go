package pyenv

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
)

// pyproject holds the parts of pyproject.toml that are read.
type pyproject struct {
	Project struct {
		RequiresPython string   `toml:"requires-python"`
		Dependencies   []string `toml:"dependencies"`
		Dynamic        []string `toml:"dynamic"`
	} `toml:"project"`
	Tool struct {
		UV struct {
			Sources map[string]any `toml:"sources"`
		} `toml:"uv"`
	} `toml:"tool"`
}

// readProject reads the project table of a pyproject.toml. It returns nil if the file is missing or declares nothing.
func readProject(files fs.FS, name string) (*Needs, error) {
	b, err := readFile(files, name, maxDeclaration)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var p pyproject
	if err := toml.Unmarshal(b, &p); err != nil {
		return nil, fmt.Errorf("%s is not valid: %w", name, err)
	}
	n := &Needs{RequiresPython: strings.TrimSpace(p.Project.RequiresPython), From: name}
	if !slices.Contains(p.Project.Dynamic, "dependencies") {
		n.Dependencies = p.Project.Dependencies
	}
	if n.RequiresPython == "" && len(n.Dependencies) == 0 {
		return nil, nil
	}
	if _, err := parseSpecifiers(n.RequiresPython); err != nil {
		return nil, fmt.Errorf("%s: requires-python: %w", name, err)
	}
	return n, p.checkDependencies(name, n.Dependencies)
}

// checkDependencies refuses a dependency that has an address: the index may have another package of that name.
func (p *pyproject) checkDependencies(name string, all []string) error {
	if len(all) > maxDependencies {
		return fmt.Errorf("%s: more than %d packages are named", name, maxDependencies)
	}
	for i, d := range all {
		all[i] = strings.TrimSpace(d)
		if err := checkDependency(all[i]); err != nil {
			return fmt.Errorf("%s: dependency %.80q: %w", name, d, err)
		}
		for source := range p.Tool.UV.Sources {
			if normalName(source) == packageName(d) {
				return fmt.Errorf("%s: %s comes from an address in [tool.uv.sources], which is not allowed: name a version that the index has", name, source)
			}
		}
	}
	return nil
}
