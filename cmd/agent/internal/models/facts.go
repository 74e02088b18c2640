package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/llm"
)

//go:generate go run ./genfacts

// Facts are what is known of a model. The zero value is a model of which nothing is known.
type Facts struct {
	Name    string // as its provider calls it
	Window  int    // tokens of a request and its answer
	Answer  int    // tokens of the longest answer
	Prices  Prices
	Form    Form
	Usual   string // the effort of a request without one; "" if it does not think then, or it is not known
	Efforts string // the efforts that it has, from low to high, with a space between them; "" with a Form: not known
	Images  bool   // it reads images
	PDF     bool   // it reads PDF files
	Source  string // where the facts are from
	Date    string // when they were written down, as 2026-11-20
}

// Prices are in US dollars for a million tokens. 0 for the cache means that it is not priced apart.
type Prices struct{ Input, Output, CacheRead, CacheWrite float64 }

// Of returns the price of what was used, in US dollars.
func (p Prices) Of(u llm.Usage) float64 {
	read, write := cmp.Or(p.CacheRead, p.Input), cmp.Or(p.CacheWrite, p.Input)
	plain := u.Input - u.CacheRead - u.CacheWrite
	return (float64(plain)*p.Input + float64(u.CacheRead)*read + float64(u.CacheWrite)*write + float64(u.Output)*p.Output) / 1e6
}

// Form is how a model is asked for effort. "" means that it has none.
type Form string

// The forms. A model with Budget takes a number of tokens to think; the others take the word.
const (
	Adaptive Form = "adaptive" // Anthropic: adaptive thinking with an effort
	Budget   Form = "budget"   // Anthropic and Gemini, older models
	Effort   Form = "effort"   // OpenAI
	Level    Form = "level"    // Gemini
)

// All returns the facts of all models that are known.
func All() []Facts { return slices.Clone(table) }

// FactsOf returns the facts of a model, by the name that its provider gives it, also with a date at its end. ok is false if
// nothing is known.
func FactsOf(name string) (f Facts, ok bool) {
	name = strings.TrimPrefix(name, "models/")
	for _, f := range table {
		if rest, found := strings.CutPrefix(name, f.Name); found && isDate(rest) {
			return f, true
		}
	}
	return Facts{}, false
}

// isDate reports whether the end of a name is nothing, or the date of a version: -20260131 or -2026-01-31.
func isDate(end string) bool {
	digits := strings.ReplaceAll(end, "-", "")
	return end == "" || strings.HasPrefix(end, "-") && len(digits) == 8 && strings.Trim(digits, "0123456789") == ""
}

// efforts are the words that models of any provider know, from low to high.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// Efforts returns the words for efforts, from low to high. Which of them a model has is among its Facts.
func Efforts() []string { return slices.Clone(efforts) }

// budgets are the tokens to think that stand for an effort, where a model takes a number.
var budgets = map[string]int{"low": 1024, "medium": 8192, "high": 24576}

// WithEffort returns the effort of requests to the model for a word. "" is the zero Effort: the provider chooses. The error is a
// *NameError that says which efforts the model has. A model that is not known gets each of Efforts.
func (f *Found) WithEffort(word string) (llm.Effort, error) {
	if word == "" {
		return llm.Effort{}, nil
	}
	has := strings.Fields(f.Facts.Efforts)
	known := len(has) > 0 || f.Facts.Name != "" && f.Facts.Form == ""
	switch {
	case f.Provider == "replay":
		return llm.Effort{}, nil
	case known && len(has) == 0:
		return llm.Effort{}, &NameError{Name: f.String(), Problem: "it has no effort to choose", Cure: "leave out --effort, and the setting effort"}
	case known && !slices.Contains(has, word):
		return llm.Effort{}, &NameError{Name: f.String(), Problem: "it has no effort " + word, Cure: "its efforts are " + strings.Join(has, ", ")}
	case !slices.Contains(efforts, word):
		return llm.Effort{}, &NameError{Name: f.String(), Problem: "unknown effort " + word, Cure: "an effort is " + strings.Join(efforts, ", ")}
	case f.Facts.Form == Budget:
		return llm.Effort{Budget: budgets[word]}, nil
	}
	return llm.Effort{Level: word}, nil
}
