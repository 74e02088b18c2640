package pyenv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
)

// maxBlock is the most bytes of a block, without its comment signs.
const maxBlock = 16 << 10

// ParseBlock returns the script block of a Python source, nil without one. LF and CR LF both end a
// line. A block that is not closed, two blocks, one inside another, and one over 16 KiB are errors, as
// are tables that configure a tool: a script does not choose where packages come from.
func ParseBlock(src []byte) (*Needs, error) {
	content, line, err := findBlock(src)
	if err != nil || line == 0 {
		return nil, err
	}
	if len(content) > maxBlock {
		return nil, fmt.Errorf("line %d: the script block has %d bytes (max %d): name only the packages that the script imports", line, len(content), maxBlock)
	}
	b, err := decodeBlock(content)
	if err != nil {
		return nil, fmt.Errorf("the script block at line %d: %w", line, err)
	}
	return b, nil
}

// findBlock returns the content of the only script block and the line where it starts, 0 for none.
func findBlock(src []byte) (content string, start int, err error) {
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	number := 0
	var open *strings.Builder // the block that is being read
	last := -1                // length of its content before the latest closing line
	for l := range bytes.Lines(src) {
		number++
		line := strings.TrimSuffix(strings.TrimSuffix(string(l), "\n"), "\r")
		inside := open != nil && (line == "#" || strings.HasPrefix(line, "# "))
		switch {
		case open != nil && !inside:
			if last < 0 {
				return "", 0, fmt.Errorf("line %d: the script block is not closed: end it with a line # ///", start)
			}
			content, open = open.String()[:last], nil
		case inside && line == "# ///":
			last = open.Len()
		case inside && opens(line):
			return "", 0, fmt.Errorf("line %d: a second script block (the first is at line %d): keep one", number, start)
		}
		switch {
		case open != nil:
			open.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " ") + "\n")
		case opens(line) && start > 0:
			return "", 0, fmt.Errorf("line %d: a second script block (the first is at line %d): keep one", number, start)
		case opens(line):
			open, start, last = &strings.Builder{}, number, -1
		}
	}
	if open != nil {
		if last < 0 {
			return "", 0, fmt.Errorf("line %d: the script block is not closed: end it with a line # ///", start)
		}
		content = open.String()[:last]
	}
	return content, start, nil
}

// opens reports whether a line begins a script block. It may end with spaces, which an editor may leave.
func opens(line string) bool { return strings.TrimRight(line, " \t") == "# /// script" }

func decodeBlock(content string) (*Needs, error) {
	var all map[string]any
	if err := readTOML(content, &all); err != nil {
		return nil, fmt.Errorf("it is no valid TOML, correct it: %w", err)
	}
	if _, ok := all["tool"]; ok {
		return nil, errors.New("a [tool] table is not allowed: a script does not configure what installs its dependencies; the operator does")
	}
	b := &Needs{From: inBlock}
	if v, ok := all["requires-python"]; ok {
		if b.RequiresPython, ok = v.(string); !ok {
			return nil, errors.New("requires-python is not a string: write it as in requires-python = \">=3.11\"")
		}
		b.RequiresPython = strings.TrimSpace(b.RequiresPython)
		if _, err := parseSpecifiers(b.RequiresPython); err != nil {
			return nil, fmt.Errorf("requires-python: %w", err)
		}
	}
	list, ok := all["dependencies"].([]any)
	if _, there := all["dependencies"]; there && !ok {
		return nil, errors.New("dependencies is not a list of strings: write it as in dependencies = [\"httpx>=0.27\"]")
	}
	for _, v := range list {
		dep, ok := v.(string)
		if !ok {
			return nil, errors.New("dependencies is not a list of strings: write it as in dependencies = [\"httpx>=0.27\"]")
		}
		dep = strings.TrimSpace(dep)
		if err := checkDependency(dep); err != nil {
			return nil, fmt.Errorf("dependency %q: %w", dep, err)
		}
		b.Dependencies = append(b.Dependencies, dep)
	}
	return b, nil
}
