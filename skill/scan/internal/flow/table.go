package flow

import (
	"embed"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// The languages that a scan reads.
const (
	Python     = "python"
	JavaScript = "javascript" // also TypeScript
	Shell      = "shell"
	Loose      = "loose" // any other, as package loose reads it
)

//go:embed data
var data embed.FS

// effect is one thing that a call does: a verb with what it is done to.
type effect struct {
	verb string
	kind string  // what the verb needs besides: the name of an encoding, a registry, a host
	at   []where // the arguments, the first that is there; none if the verb needs none
}

// where says which argument is meant.
type where struct {
	name     string // of a keyword argument or an option, "self", "in", "*" for all operands
	position int    // if name is ""
	rest     bool   // and all that follow
}

// row is what is known about a function, a variable or a program.
type row struct {
	effects []effect
	takes   map[string]bool // options of a program that have a value
	long    bool            // its options are words after one dash
	stop    bool            // its options end before the first operand
	bundle  bool            // its first word may be options without a dash
	anycase bool            // its options are in any case
}

func (r *row) has(verb string) bool {
	for _, e := range r.effects {
		if e.verb == verb {
			return true
		}
	}
	return false
}

// tables has the rows of each language by their names. The files say in their first lines how they are written.
var tables = sync.OnceValue(func() map[string]map[string]*row {
	out := map[string]map[string]*row{}
	for _, language := range []string{Python, JavaScript, Shell, Loose} {
		text, err := data.ReadFile("data/" + language + ".txt")
		if err != nil {
			panic(err) // it is part of the program
		}
		out[language] = parseTable(string(text))
	}
	return out
})

// parseTable reads lines of "NAME, NAME = EFFECT EFFECT". A line that begins with a space goes on.
func parseTable(text string) map[string]*row {
	out := map[string]*row{}
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\n ", " "), "\n") {
		names, effects, ok := strings.Cut(line, " = ")
		if !ok || strings.HasPrefix(line, "#") {
			continue
		}
		r := &row{}
		for word := range strings.FieldsSeq(effects) {
			r.add(word)
		}
		for name := range strings.SplitSeq(names, ",") {
			name = strings.TrimSpace(name)
			if before := out[name]; before != nil {
				both := *before
				both.effects = append(both.effects[:len(both.effects):len(both.effects)], r.effects...)
				both.takes = maps.Clone(both.takes)
				for k := range r.takes {
					both.take(k)
				}
				out[name] = &both
				continue
			}
			out[name] = r
		}
	}
	return out
}

func (r *row) take(option string) {
	if r.takes == nil {
		r.takes = map[string]bool{}
	}
	r.takes[option] = true
}

// add reads one effect: VERB, VERB:PLACES or VERB:KIND:PLACES.
func (r *row) add(word string) {
	parts := strings.Split(word, ":")
	e := effect{verb: parts[0]}
	switch e.verb {
	case "takes":
		for o := range strings.SplitSeq(parts[1], ",") {
			r.take(o)
		}
		return
	case "long":
		r.long = true
		return
	case "stop":
		r.stop = true
		return
	case "bundle":
		r.bundle = true
		return
	case "anycase":
		r.anycase, r.long = true, true
		return
	case "loose":
		e.verb, e.kind = "interpret", Loose
	case "host", "decode", "give", "fold", "need", "store", "is", "word", "interpreter":
		e.kind, parts = parts[1], parts[1:]
	}
	if len(parts) > 1 {
		for place := range strings.SplitSeq(parts[1], ",") {
			w := where{name: place}
			if digits, rest := strings.CutSuffix(place, "+"); digits != "" {
				if n, err := strconv.Atoi(digits); err == nil {
					w = where{position: n, rest: rest}
				}
			}
			if strings.HasPrefix(place, "-") && !slices.Contains([]string{"decode", "save", "listen"}, e.verb) {
				r.take(place)
			}
			e.at = append(e.at, w)
		}
	}
	r.effects = append(r.effects, e)
}

// Unknown stands in a text for what is not known.
const Unknown = hole

// IsProgram reports whether a word is the name of a program that the table knows, or two words a program and what it is to do.
func IsProgram(word string) bool {
	e := engine{tables: tables()}
	if e.tables[Shell][word] != nil {
		return !e.tables[Shell][word].has("builtin")
	}
	r, _ := e.rowOf(path.Base(word))
	return r != nil && !r.has("builtin")
}

// Host returns the host of an address, "" if it has none.
func Host(address string) string { return hostOf(address) }

// Registry returns the registry from which a program installs packages, "" for another program.
func Registry(program string) string {
	for _, name := range []string{program + " install", program + " add", program} {
		if r := tables()[Shell][name]; r != nil {
			for _, x := range r.effects {
				if x.verb == "need" {
					return x.kind
				}
			}
		}
	}
	return map[string]string{"node": "npm"}[program]
}
