package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// placeOf has the layouts: where a skill lies below the root.
var placeOf = map[string]func(name string, number int) string{
	"flat":   func(name string, _ int) string { return name },
	"nested": func(name string, _ int) string { return domain(name) + "/" + name },
	"clone": func(name string, number int) string {
		switch number % 4 {
		case 0:
			return ".claude/skills/" + name
		case 1:
			return "skills/.curated/" + name
		}
		return "plugins/" + domain(name) + "/skills/" + name
	},
}

func domain(name string) string { return strings.Split(name, "-")[1] }

// writeSources writes the files of a repository that belong to no skill: three folders with three files each.
func writeSources(dir string) error {
	for _, sub := range []string{"lib", "lib/internal", "test"} {
		at := filepath.Join(dir, filepath.FromSlash(sub))
		if err := os.MkdirAll(at, 0o755); err != nil {
			return err
		}
		for i := range 3 {
			if err := os.WriteFile(filepath.Join(at, fmt.Sprintf("file%d.go", i)), []byte("package lib\n"), 0o644); err != nil {
				return err
			}
		}
	}
	return nil
}
