// Command requirements writes docs/requirements.md from docs/requirements.txt and from the tests that name a row. It is
// part of `go generate ./...`. Its tests fail if the page is not current or a built row has no test.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

//go:generate go run . ../../..

const (
	source = "docs/requirements.txt"
	page   = "docs/requirements.md"
)

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
	text, err := render(root)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, page), []byte(text), 0o644)
}

// render returns the page for the module in the folder root.
func render(root string) (string, error) {
	src, err := os.ReadFile(filepath.Join(root, source))
	if err != nil {
		return "", err
	}
	sections, err := parse(string(src))
	if err != nil {
		return "", fmt.Errorf("%s: %w", source, err)
	}
	proofs, err := findProofs(root)
	if err != nil {
		return "", err
	}
	return markdown(sections, proofs), nil
}
