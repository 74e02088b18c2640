package scan

import (
	_ "embed"
	"path"
	"strings"
	"sync"
)

//go:embed names.txt
var namesText string

// names has the values of names.txt by their sections and names, and its patterns of files that have commands.
var names = sync.OnceValues(func() (values map[string]string, patterns []string) {
	values = map[string]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(namesText, "\n ", " "), "\n") {
		section, list, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		list, value, _ := strings.Cut(list, " = ")
		for name := range strings.FieldsSeq(list) {
			if values[section+" "+name] = value; section == "started" {
				patterns = append(patterns, name)
			}
		}
	}
	return values, patterns
})

// named returns the value of a name in a section of names.txt, and whether the name is there.
func named(section, name string) (value string, ok bool) {
	values, _ := names()
	value, ok = values[section+" "+name]
	return value, ok
}

// isNamed reports whether a section of names.txt has a name.
func isNamed(section, name string) bool {
	_, ok := named(section, name)
	return ok
}

// commandKeys returns the keys of a file whose values are commands, nil for a file without.
func commandKeys(name string) []string {
	_, patterns := names()
	for _, pattern := range patterns {
		end := name
		for n := strings.Count(name, "/") - strings.Count(pattern, "/"); n > 0; n-- {
			_, end, _ = strings.Cut(end, "/")
		}
		if ok, err := path.Match(pattern, end); ok && err == nil {
			keys, _ := named("started", pattern)
			return strings.Fields(keys)
		}
	}
	return nil
}
