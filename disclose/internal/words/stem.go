package words

import "bytes"

// Stem cuts the common endings of an English word in lower case, so that "merging", "merged" and "merges" are one term. It
// changes only ASCII words of four letters and more, and may write into w. It is the same for the words of skills and of
// queries, so a stem need not be a word.
func Stem(w []byte) []byte {
	if len(w) < 4 || !ASCII(string(w)) {
		return w
	}
	w = singular(w)
	for _, s := range verbal {
		if rest, ok := bytes.CutSuffix(w, []byte(s)); ok && len(rest) >= 4 {
			return rest
		}
	}
	for _, s := range []string{"ing", "ed"} {
		if rest, ok := bytes.CutSuffix(w, []byte(s)); ok && len(rest) >= 3 && bytes.ContainsAny(rest, "aeiouy") {
			w = single(rest)
			break
		}
	}
	for _, s := range endings {
		if rest, ok := bytes.CutSuffix(w, []byte(s)); ok && len(rest) >= 4 {
			w = single(rest)
			break
		}
	}
	if n := len(w); n > 3 {
		switch w[n-1] {
		case 'e':
			w = w[:n-1]
		case 'y':
			w[n-1] = 'i'
		}
	}
	return w
}

// verbal are the endings of verbs that end in -ate, and of what is made of them: "translate", "translation", "translator".
var verbal = []string{"ate", "ated", "ating", "ation", "ator"}

// endings are cut from what is then at least four letters, the first that fits.
var endings = []string{"ment", "ness", "ion", "er", "or", "ive", "al", "ly"}

// singular cuts the s of a plural or of a verb.
func singular(w []byte) []byte {
	n := len(w)
	switch {
	case n > 4 && bytes.HasSuffix(w, []byte("ies")):
		return append(w[:n-3], 'y')
	case bytes.HasSuffix(w, []byte("sses")):
		return w[:n-2]
	case w[n-1] != 's' || w[n-2] == 's' || w[n-2] == 'u':
		return w
	}
	return w[:n-1]
}

// single undoes the doubling of a letter before an ending: "planned", but not "missed".
func single(w []byte) []byte {
	n := len(w)
	if c := w[n-1]; n > 3 && c == w[n-2] && c != 'l' && c != 's' && c != 'z' {
		return w[:n-1]
	}
	return w
}
