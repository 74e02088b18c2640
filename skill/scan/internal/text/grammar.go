package text

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
	"sync"
)

//go:embed data/english.txt
var english string

// grammar is what a data file says: lists of phrases and patterns of sayings.
type grammar struct {
	words  map[string]int32 // the words of all phrases and patterns, from 1
	lists  map[string]class
	single map[int32]class    // lists by phrases of one word
	phrase map[int32][]phrase // longer ones by their first word
	forms  map[class][]phrase // longer ones by the form of their first word
	saying map[int32][]saying // by their first word
	listed [64][]saying       // by the list that their first word is of
	said   []saying
}

// class is a set of lists and forms.
type class uint64

// The forms of words.
const (
	formURL class = 1 << iota
	formAddress
	formMail
	formSecret
	formAgent
	formDoor
	formPath
)

var formNames = [...]string{"url", "address", "mail", "secretfile", "agentfile", "doorfile", "path"}

type phrase struct {
	of    class
	parts []part
}

type saying struct {
	name  string
	parts []part
}

// part is what one place of a phrase may have.
type part struct {
	words    []int32
	lists    class
	gap      int // any words, up to so many, before the next part
	optional bool
	order    bool // it is an order to the model
	not      bool // it does not follow
}

var spoken = sync.OnceValue(func() *grammar {
	g, err := parseGrammar(english)
	if err != nil {
		panic(err)
	}
	return g
})

// parseGrammar reads a data file. An error says its line.
func parseGrammar(text string) (*grammar, error) {
	g := &grammar{words: map[string]int32{}, lists: map[string]class{}, single: map[int32]class{}, phrase: map[int32][]phrase{}, forms: map[class][]phrase{}, saying: map[int32][]saying{}}
	for i, name := range formNames {
		g.lists[name] = 1 << i
	}
	name, n := "", 0
	for line := range strings.SplitSeq(text, "\n") {
		n++
		var err error
		switch list, phrases, isList := strings.Cut(line, " = "); {
		case line == "" || line[0] == '#':
		case line[0] == '>':
			name = strings.TrimSpace(line[1:])
		case isList:
			err = g.list(list, phrases)
		case name == "":
			err = fmt.Errorf("a pattern without a saying")
		default:
			err = g.pattern(name, line)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
	}
	return g, nil
}

func (g *grammar) list(name, phrases string) error {
	if g.lists[name] != 0 || len(g.lists) == 64 {
		return fmt.Errorf("the list %q is there twice, or is one too many", name)
	}
	of := class(1) << len(g.lists)
	for text := range strings.SplitSeq(phrases, ",") {
		parts, err := g.parts(text)
		if err != nil {
			return err
		}
		if len(parts) == 0 {
			continue
		}
		first := parts[0]
		if first.gap > 0 || first.optional {
			return fmt.Errorf("the phrase %q begins with what need not be there", text)
		}
		for _, w := range first.words {
			if len(parts) == 1 {
				g.single[w] |= of
			} else {
				g.phrase[w] = append(g.phrase[w], phrase{of, parts})
			}
		}
		for i := range formNames {
			if form := class(1) << i; first.lists&form != 0 {
				g.forms[form] = append(g.forms[form], phrase{of, parts})
			}
		}
	}
	g.lists[name] = of
	return nil
}

func (g *grammar) pattern(name, text string) error {
	parts, err := g.parts(text)
	if err != nil {
		return err
	}
	for len(parts) > 0 && parts[0].optional {
		parts = parts[1:]
	}
	if len(parts) == 0 || parts[0].gap > 0 || parts[0].not {
		return fmt.Errorf("the pattern %q begins with nothing", text)
	}
	s := saying{name, parts}
	g.said = append(g.said, s)
	for _, w := range parts[0].words {
		g.saying[w] = append(g.saying[w], s)
	}
	for i := range g.listed {
		if parts[0].lists&(1<<i) != 0 {
			g.listed[i] = append(g.listed[i], s)
		}
	}
	return nil
}

// parts reads a phrase or a pattern.
func (g *grammar) parts(text string) ([]part, error) {
	var out []part
	for field := range strings.FieldsSeq(text) {
		var p part
		if n, ok := strings.CutPrefix(field, "~"); ok {
			gap, err := strconv.Atoi(n)
			if err != nil || gap < 1 || gap > 20 {
				return nil, fmt.Errorf("%q is no number of words", field)
			}
			out = append(out, part{gap: gap})
			continue
		}
		if in, ok := strings.CutPrefix(field, "["); ok {
			field, p.optional = strings.TrimSuffix(in, "]"), true
		}
		if in, ok := strings.CutPrefix(field, "-"); ok && !strings.HasPrefix(in, "-") {
			field, p.not = in, true
		}
		field, p.order = strings.CutSuffix(field, "!")
		if strings.Contains(field, "!") {
			return nil, fmt.Errorf("%q has an exclamation mark that is not at its end", field)
		}
		for one := range strings.SplitSeq(field, "|") {
			if name, ok := strings.CutPrefix(one, "{"); ok {
				list := g.lists[strings.TrimSuffix(name, "}")]
				if list == 0 {
					return nil, fmt.Errorf("there is no list %q above", one)
				}
				p.lists |= list
				continue
			}
			p.words = append(p.words, g.word(one))
		}
		out = append(out, p)
	}
	return out, nil
}

func (g *grammar) word(text string) int32 {
	id, ok := g.words[text]
	if !ok {
		id = int32(len(g.words) + 1)
		g.words[text] = id
	}
	return id
}
