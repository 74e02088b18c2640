package grants

import (
	"strings"

	"github.com/agent-base/agent-base/want"
)

// ownWord is a word of a choice that is not the name of what is wanted.
type ownWord struct {
	Word string
	Want want.Want
}

// OwnWords returns these words, in the order in which a question has them.
func OwnWords() []ownWord {
	return []ownWord{{"write", WritesHere()}, {"net", EveryHost()}, {"home", User(want.Of(want.Home, ""))},
		{"scripts", User(want.Of(want.Unasked, ""))}}
}

// WritesHere is what lets a script write in the directory where it is started.
func WritesHere() want.Want { return User(want.WriteOf(want.Here)) }

// EveryHost is what lets it reach the whole network.
func EveryHost() want.Want { return User(want.HostOf(want.Any)) }

const WordClear = "clear-home" // its private home is emptied first

// User returns a want as one that the user named.
func User(w want.Want) want.Want {
	w.From = want.User
	return w
}

// WordOf returns the word for a want: its name, or its text form where the name alone would be read as something else.
func WordOf(w want.Want) string {
	for _, own := range OwnWords() {
		if (want.Set{own.Want}).Has(w) {
			return own.Word
		}
	}
	if read := ReadWord(w.Name); w.Kind == read.Kind && w.Name == read.Name && w.Name != WordClear {
		return w.Name
	}
	return want.Of(w.Kind, w.Name).String()
}

// WordsOf returns the words for wants.
func WordsOf(set want.Set) []string {
	out := make([]string, len(set))
	for i, w := range set {
		out[i] = WordOf(w)
	}
	return out
}

// ReadWord returns the want that a word of a choice names.
func ReadWord(word string) want.Want {
	for _, own := range OwnWords() {
		if own.Word == word {
			return own.Want
		}
	}
	for _, kind := range want.Kinds() {
		if name, ok := strings.CutPrefix(word, string(kind)+":"); ok && kind.Granted() && !kind.Single() {
			return User(want.Of(kind, name))
		}
	}
	if strings.ContainsAny(word, ".:") || word == "localhost" {
		return User(want.HostOf(word))
	}
	return User(want.VariableOf(word))
}
