// Command docgen writes the pages of docs/ that are generated from tables in the code: cli.md, config.md, models.md and problems.md.
// Run it with `go generate ./...`. Its test fails if a page is not current. It reads no files and writes only those pages.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../../../docs

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: docgen DIR")
		os.Exit(2)
	}
	if err := writePages(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "docgen:", err)
		os.Exit(1)
	}
}

// page is a generated page.
type page struct {
	file string
	make func() (string, error)
}

// text returns the page as it is written.
func (p *page) text() (string, error) {
	text, err := p.make()
	return wrap(text), err
}

// pages lists the generated pages.
var pages = [...]page{
	{"cli.md", cliPage},
	{"config.md", configPage},
	{"models.md", modelsPage},
	{"problems.md", problemsPage},
}

func writePages(dir string) error {
	for _, p := range pages {
		text, err := p.text()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// made returns the first line of a page.
func made(from string) string {
	return "<!-- Made by go generate from " + from + ": do not edit. -->\n"
}
