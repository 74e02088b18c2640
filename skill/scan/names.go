package scan

import (
	_ "embed"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed names.txt
var namesText string

// names has the names of names.txt by their sections, in their order, and the value of each by SECTION NAME.
var names = sync.OnceValue(func() (out struct {
	lists  map[string][]string
	values map[string]string
}) {
	out.lists, out.values = map[string][]string{}, map[string]string{}
	for line := range strings.SplitSeq(strings.ReplaceAll(namesText, "\n ", " "), "\n") {
		section, list, ok := strings.Cut(line, ": ")
		if !ok || line[0] == '#' {
			continue
		}
		list, value, _ := strings.Cut(list, " = ")
		for name := range strings.FieldsSeq(list) {
			if bytes, err := strconv.Unquote(`"` + name + `"`); err == nil {
				name = bytes
			}
			out.lists[section] = append(out.lists[section], name)
			out.values[section+" "+name] = value
		}
	}
	return out
})

// named returns the value of a name in a section of names.txt, and whether the name is there.
func named(section, name string) (value string, ok bool) {
	value, ok = names().values[section+" "+name]
	return value, ok
}

// isNamed reports whether a section of names.txt has a name.
func isNamed(section, name string) bool {
	_, ok := named(section, name)
	return ok
}

// commandKeys returns the keys of a file whose values are commands, nil for a file without.
func commandKeys(name string) []string {
	for _, pattern := range names().lists["started"] {
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
