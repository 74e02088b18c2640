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
	if err := readTOML(string(b), &p); err != nil {
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
		return fmt.Errorf("%s: more than %d packages are named: name those that the scripts import", name, maxDependencies)
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

// maxLevels is how many names a key may have, and how deep values may be inside each other. The time to read more grows with
// its third power.
const maxLevels = 50

// readTOML reads a document of a skill.
func readTOML(text string, into any) error {
	if tooDeep(text) {
		return fmt.Errorf("a key or a value has more than %d levels: write it with fewer", maxLevels)
	}
	return toml.Unmarshal([]byte(text), into)
}

// tooDeep reports whether a document has more than maxLevels levels somewhere.
func tooDeep(text string) bool {
	depth, dots := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '#':
			for i+1 < len(text) && text[i+1] != '\n' {
				i++
			}
		case '"', '\'':
			i = endOfString(text, i)
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '.':
			dots++
		case '=', ',', '\n':
			dots = 0
		}
		if depth > maxLevels || dots > maxLevels {
			return true
		}
	}
	return false
}

// endOfString returns the index of the last byte of the string that begins at i, or of the text.
func endOfString(text string, i int) int {
	quote, long := text[i:i+1], false
	if triple := strings.Repeat(quote, 3); strings.HasPrefix(text[i:], triple) {
		quote, long = triple, true
	}
	for i += len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote[0] == '"':
			i++
		case strings.HasPrefix(text[i:], quote):
			i += len(quote) - 1
			for long && i+1 < len(text) && text[i+1] == quote[0] { // a long string may end in quotes of its own
				i++
			}
			return i
		case text[i] == '\n' && !long:
			return i
		}
	}
	return len(text) - 1
}
