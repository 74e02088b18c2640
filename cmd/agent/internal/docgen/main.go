// Command docgen writes the pages of docs/ that the code's own tables say: cli.md, config.md and problems.md. It is run
// by `go generate ./...`; its test fails when a page is not current. It reads no file, and writes those pages alone.
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

// pages are the generated ones.
var pages = [...]struct {
	file string
	make func() (string, error)
}{
	{"cli.md", cliPage},
	{"config.md", configPage},
	{"problems.md", problemsPage},
}

func writePages(dir string) error {
	for _, p := range pages {
		text, err := p.make()
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, p.file), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// made is the first line of every page.
func made(from string) string {
	return "<!-- Made by go generate from " + from + ": do not edit. -->\n"
}
