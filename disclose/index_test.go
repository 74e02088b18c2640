package disclose

import (
	"fmt"
	"sync"
	"testing"
)

// An index answers several callers at once as it answers one. Run with -race.
func TestIndexIsConcurrent(t *testing.T) {
	x := NewIndex(catalog(t, synthetic(100)...))
	queries := []string{"merge pdf", "sync wether", "pdf-extract-00000 please", "list skills"}
	answer := func(q string) string {
		return fmt.Sprint(hitNames(x.Search(q, 5)), matchNames(x.Match(q, nil)))
	}
	var want []string
	for _, q := range queries {
		want = append(want, answer(q))
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 200 {
				if got, want := answer(queries[i%len(queries)]), want[i%len(queries)]; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
		})
	}
	wg.Wait()
}

func matchNames(matches []Match) string {
	s := ""
	for i, m := range matches {
		if i > 0 {
			s += " "
		}
		s += m.Entry.Name()
	}
	return s
}
