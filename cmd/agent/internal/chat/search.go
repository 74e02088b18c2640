package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// search looks for earlier input while its beginning or middle is typed, as Ctrl-R of a shell does.
type search struct {
	query string
	at    int    // of the entry that is shown; the number of entries if none is
	draft string // the input before
}

// startSearch begins a search, or looks further back in one.
func (s *state) startSearch() {
	if s.search == nil {
		s.search = &search{at: len(s.past.entries), draft: s.input.text}
	}
	s.find(s.search.at - 1)
}

// find shows the newest entry that has the query, at the latest the one at from.
func (s *state) find(from int) {
	q := strings.ToLower(s.search.query)
	for i := min(from, len(s.past.entries)-1); i >= 0 && q != ""; i-- {
		if strings.Contains(strings.ToLower(s.past.entries[i]), q) {
			s.search.at = i
			s.input.set(s.past.entries[i])
			return
		}
	}
}

// searchKey handles a key of a search. It reports whether the search took it: another key ends the search, and does what it does.
func (s *state) searchKey(k keyEvent) bool {
	switch k.key {
	case "ctrl+r":
		s.startSearch()
	case "esc", "ctrl+g", "ctrl+c":
		s.input.set(s.search.draft)
		s.search = nil
	case "backspace", "ctrl+h":
		e := editor{text: s.search.query, at: len(s.search.query)}
		e.remove(e.left(e.at))
		s.search.query, s.search.at = e.text, len(s.past.entries)
		s.find(s.search.at)
	default:
		if k.text == "" || len(s.search.query) > 1000 {
			s.search = nil
			return false
		}
		s.search.query += k.text
		s.find(s.search.at)
	}
	return true
}

// searchRows says what is looked for.
func (s *state) searchRows() []string {
	if s.search == nil {
		return nil
	}
	text := "earlier input with: " + ui.Line(s.search.query)
	if s.search.query != "" && !slices.ContainsFunc(s.past.entries, func(e string) bool {
		return strings.Contains(strings.ToLower(e), strings.ToLower(s.search.query))
	}) {
		text = fmt.Sprintf("no earlier input has %q", ui.Line(s.search.query))
	}
	return []string{s.paint.yellow(ui.Cut(text, s.room()))}
}
