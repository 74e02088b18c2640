package nodeenv

import (
	"bytes"
	"fmt"
	"strings"
)

// readYarn reads a yarn.lock of Yarn 1. Its keys are the patterns that packages are asked for by, such as "a@^1.0.0"; several may
// have one entry. The format is like YAML, but is not: keys and values are words or JSON strings.
func readYarn(r *lockReader) error {
	patterns := map[string]bool{}
	var out [][]byte
	var entries []yarnEntry
	var e *yarnEntry
	var needed []string // "name@range", of the packages of the lock
	needs := false      // the lines that follow are what a package needs
	bad := func(line int) error {
		return refuse("%s cannot be read: line %d is not of the form of Yarn 1: write the lock again, or add a package-lock.json", r.file, line)
	}
	for line := range bytes.Lines(r.text) {
		out = append(out, line)
		text := strings.TrimRight(string(line), " \r\n")
		words := yarnWords(strings.TrimLeft(text, " "))
		section := strings.HasSuffix(text, ":")
		switch indent := len(text) - len(strings.TrimLeft(text, " ")); {
		case strings.ContainsAny(text, "\\\r"): // for Yarn an escaped name is another one, and a line may end there
			return bad(len(out))
		case text == "" || text[indent] == '#':
		case text == "__metadata:":
			return refuse("%s is of Yarn 2 or later, whose checksums are not those of the registry: add a package-lock.json with `npm install --package-lock-only` in its folder", r.file)
		case indent == 0 && section && len(words) > 0:
			for _, key := range words {
				patterns[key] = true
			}
			entries = append(entries, yarnEntry{entry: entry{name: yarnName(words[0])}})
			e = &entries[len(entries)-1]
		case e != nil && indent == 2 && section && len(words) == 1: // the names of other packages follow
			needs = words[0] == "dependencies" || words[0] == "optionalDependencies"
		case e == nil || len(words) != 2 || indent != 2 && indent != 4:
			return bad(len(out))
		case indent == 2 && words[0] == "version":
			e.version = words[1]
			e.after = len(out)
		case indent == 2 && words[0] == "integrity":
			e.integrity = words[1]
		case indent == 2 && words[0] == "resolved":
			e.resolved, _, _ = strings.Cut(words[1], "#")
			e.line = len(out)
		case indent == 4 && needs:
			needed = append(needed, words[0]+"@"+words[1])
		}
	}
	for _, key := range needed { // Yarn would ask the registry for it, or take a folder
		if !patterns[key] {
			return refuse("%s has no %q, which one of its packages needs: write the lock again", r.file, clip(key))
		}
	}
	for _, ours := range []map[string]string{r.pkg.Dependencies, r.pkg.OptionalDependencies} {
		for _, name := range sortedKeys(ours) {
			if key := name + "@" + ours[name]; !patterns[key] {
				return r.disagrees(fmt.Sprintf("it has no %q", clip(key)))
			}
		}
	}
	for _, e := range entries {
		address, err := r.take(e.entry)
		if err != nil {
			return err
		}
		resolved := fmt.Appendf(nil, "  resolved %q\n", address)
		if e.line > 0 {
			out[e.line-1] = resolved
		} else { // without one Yarn asks the registry, and does not look at the checksum
			out[e.after-1] = append(bytes.TrimRight(out[e.after-1], "\n"), append([]byte("\n"), resolved...)...)
		}
	}
	r.out = bytes.Join(out, nil)
	return nil
}

type yarnEntry struct {
	entry
	line  int // that has its address, from 1; 0 for none
	after int // that has its version
}

// yarnName returns the name in the registry of the package that a pattern asks for: NAME@RANGE, or ALIAS@npm:NAME@RANGE for one
// that has another name there.
func yarnName(pattern string) string {
	name, spec := cutVersion(pattern)
	if alias, ok := strings.CutPrefix(spec, "npm:"); ok {
		name, _ = cutVersion(alias)
	}
	return name
}

// cutVersion splits "name@range". The "@" of a scope is not that of the range.
func cutVersion(text string) (name, spec string) {
	at := strings.IndexByte(text[min(1, len(text)):], '@') + 1
	if at <= 0 {
		return text, ""
	}
	return text[:at], text[at+1:]
}

// yarnWords returns the words of a line without their quotes. Words are separated by spaces and commas; a colon may follow the
// last one.
func yarnWords(text string) []string {
	var out []string
	for text = strings.TrimSuffix(text, ":"); text != ""; text = strings.TrimLeft(text, ", ") {
		if text[0] == '"' {
			word, rest, _ := strings.Cut(text[1:], `"`)
			out, text = append(out, word), rest
			continue
		}
		n := strings.IndexAny(text, ", ")
		if n < 0 {
			n = len(text)
		}
		out, text = append(out, text[:n]), text[n:]
	}
	return out
}
