package runner

import (
	"bytes"
	"path/filepath"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"
)

// Told remembers which hidden paths a model knows of. Nil remembers nothing. It is safe for concurrent use.
type Told struct {
	mu    sync.Mutex
	known map[string]bool
}

// refusals are what programs say about what they may not read.
var refusals = [][]byte{[]byte("ermission denied"), []byte("not permitted"), []byte("EACCES"), []byte("PermissionError")}

// Tell returns those of the hidden paths of a command that its result has to name: those that nobody was told of, because a program can
// pass over them in silence, and those that it met, because it failed or was refused something, and its output names them. A nil out has
// no output.
func (t *Told) Tell(hidden []string, out *Output) []string {
	if t == nil {
		return hidden
	}
	var said [][]byte
	if out != nil {
		said = [][]byte{out.Stdout, out.Stderr}
	}
	refused := func(text []byte) bool {
		return slices.ContainsFunc(refusals, func(r []byte) bool { return bytes.Contains(text, r) })
	}
	if out != nil && out.ExitCode == 0 && !slices.ContainsFunc(said, refused) {
		said = nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var tell []string
	for _, path := range hidden {
		name := []byte(filepath.Base(path))
		if !t.known[path] || slices.ContainsFunc(said, func(text []byte) bool { return hasName(text, name) }) {
			tell = append(tell, path)
		}
		if t.known == nil {
			t.known = map[string]bool{}
		}
		t.known[path] = true
	}
	return tell
}

// hasName reports whether a text has a name that is no part of a longer word.
func hasName(text, name []byte) bool {
	for {
		i := bytes.Index(text, name)
		if i < 0 {
			return false
		}
		before, _ := utf8.DecodeLastRune(text[:i])
		text = text[i+len(name):]
		after, _ := utf8.DecodeRune(text)
		if !inWord(before) && !inWord(after) {
			return true
		}
	}
}

func inWord(c rune) bool { return unicode.IsLetter(c) || unicode.IsDigit(c) || c == '_' || c == '-' }
