// Command requirements writes docs/requirements.md and docs/attacks.md from the text files next to them and from the tests that
// name a row. It is part of `go generate ./...`. Its tests fail if a page is not current or a row that needs a test has none.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

//go:generate go run . ../../..

// page is a file that is made from a list of rows.
type page struct {
	source, file string
	header       *regexp.Regexp // a row's id and, in a second group, its status
	names        func(line string) []string
	markdown     func([]section, proofs) string
}

var pages = []*page{&requirements, &attacks}

var requirements = page{
	source: "docs/requirements.txt", file: "docs/requirements.md",
	header: regexp.MustCompile(`^([RC]\d+)(?: (built|partly|planned))?$`), names: rowsIn, markdown: requirementsPage,
}

var attacks = page{
	source: "docs/attacks.txt", file: "docs/attacks.md",
	header: regexp.MustCompile(`^((?:#|UV|SB|IX)\d+)(?: (tiers|untested))?$`), names: casesIn, markdown: attacksPage,
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: requirements ROOT")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "requirements:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	for _, p := range pages {
		sections, proofs, err := p.load(root)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(root, p.file), []byte(p.markdown(sections, proofs)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// load returns the rows of a page and the tests that name them, for the module in the folder root.
func (p *page) load(root string) ([]section, proofs, error) {
	src, err := os.ReadFile(filepath.Join(root, p.source))
	if err != nil {
		return nil, nil, err
	}
	sections, err := p.parse(string(src))
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", p.source, err)
	}
	proofs, err := findProofs(root, p.names)
	return sections, proofs, err
}
