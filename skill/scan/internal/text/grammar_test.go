package text

import (
	"strings"
	"testing"
)

// A data file that is wrong says where.
func TestGrammarErrors(t *testing.T) {
	for file, want := range map[string]string{
		"send = post\nsend = mail\n":    "line 2",
		"send = ~2 post\n":              "begins with what need not be there",
		"send = [a] post\n":             "begins with what need not be there",
		"do it\n":                       "line 1: a pattern without a saying",
		"> a\n{send}! it\n":             `there is no list "{send}" above`,
		"> a\nsend ~x it\n":             "is no number of words",
		"> a\nsend ~99 it\n":            "is no number of words",
		"> a\n~2 it\n":                  "begins with nothing",
		"> a\n-it\n":                    "begins with nothing",
		"> a\n[it]\n":                   "begins with nothing",
		"> a\nsend!|post it\n":          "that is not at its end",
		"send = {url\n":                 "",
		"# why\n\nsend = post, \n> a\n": "",
	} {
		_, err := parseGrammar(file)
		if (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %q", file, err, want)
		}
	}
}

// Each list is used: what no pattern and no other list asks for is idle.
func TestListsAreUsed(t *testing.T) {
	g := spoken()
	var used class
	for _, s := range g.said {
		for _, p := range s.parts {
			used |= p.lists
		}
	}
	for _, name := range []string{"adverb", "modal", "person", "will", "not", "verb", "pronoun", "spoken", "human"} { // for orders
		used |= g.lists[name]
	}
	for name, list := range g.lists {
		if used&list == 0 && !strings.Contains(english, "{"+name+"}") {
			t.Errorf("nothing uses %s", name)
		}
	}
}
