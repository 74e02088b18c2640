package chat

import (
	"slices"
	"strings"
)

// maxPast is the number of prompts that are kept.
const maxPast = 1000

// past holds what was typed before, for the keys Up and Down: each text once, the newest last.
type past struct {
	entries []string
	at      int    // the entry that is shown; len(entries) for what is being typed
	draft   string // what is being typed, while an entry is shown
}

func newPast(entries []string) *past {
	p := &past{entries: join(nil, entries...)}
	p.at = len(p.entries)
	return p
}

// join returns entries followed by more: each once at its newest position, and at most maxPast.
func join[T comparable](entries []T, more ...T) []T {
	seen := map[T]bool{}
	var kept []T
	for _, e := range slices.Backward(append(slices.Clone(entries), more...)) {
		if seen[e] {
			continue
		}
		seen[e] = true
		if kept = append(kept, e); len(kept) == maxPast {
			break
		}
	}
	slices.Reverse(kept)
	return kept
}

func (p *past) add(entry string) {
	p.entries = join(p.entries, entry)
	p.at, p.draft = len(p.entries), ""
}

// whole returns the newest entry that is a text when it is written as one line. Of a text that was cut only the beginning counts.
func (p *past) whole(line string) string {
	begins, cut := strings.CutSuffix(line, "…")
	for _, entry := range slices.Backward(p.entries) {
		if one := strings.Join(strings.Fields(entry), " "); one == line || cut && strings.HasPrefix(one, begins) {
			return entry
		}
	}
	return ""
}

// move shows an older or newer entry in the editor. It reports whether there was one.
func (p *past) move(by int, e *editor) bool {
	to := p.at + by
	if to < 0 || to > len(p.entries) {
		return false
	}
	if p.at == len(p.entries) {
		p.draft = e.text
	}
	p.at = to
	if to == len(p.entries) {
		e.set(p.draft)
	} else {
		e.set(p.entries[to])
	}
	return true
}
