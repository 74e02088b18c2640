package documenttest

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/agent-base/agent-base/internal/document"
)

// swap is a call: a read, or the change to a new content. It returns the content that it found.
type swap struct {
	read bool
	to   string
}

// found is what a call returns.
type found struct {
	content string
	unknown bool // it failed: perhaps it happened
}

// Linear lets callers with stores of their own read and change one document, each many times, and says whether there is an order of the
// calls in which each could have returned what it did, and that agrees with the clock. It returns "" if there is. Calls may fail.
func Linear(t *testing.T, callers, calls int, open func(caller int) document.Store) string {
	var mu sync.Mutex
	var all sync.WaitGroup
	var history []porcupine.Operation
	begin, failed := time.Now(), 0
	for c := range callers {
		s := open(c)
		all.Go(func() {
			for i := range calls {
				do := swap{read: rand.N(2) == 0, to: fmt.Sprintf("%d.%d", c, i)}
				o := porcupine.Operation{ClientId: c, Input: do, Call: time.Since(begin).Nanoseconds()}
				got, err := call(t.Context(), s, &do)
				o.Return = time.Since(begin).Nanoseconds()
				if o.Output = (found{content: got}); err != nil {
					o.Output, o.Return = found{unknown: true}, math.MaxInt64
				}
				mu.Lock()
				if err != nil {
					failed++
				}
				if err == nil || !do.read {
					history = append(history, o)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	t.Logf("%d calls, of which %d failed", callers*calls, failed)
	if failed > callers*calls/2 {
		return fmt.Sprintf("%d of %d calls failed", failed, callers*calls)
	}
	model := porcupine.Model{
		Init: func() any { return "" },
		Step: func(state, in, out any) (bool, any) {
			do, got := in.(swap), out.(found)
			if do.read {
				return got.content == state, state
			}
			return got.unknown || got.content == state, do.to
		},
	}
	if got := porcupine.CheckOperationsTimeout(model, history, time.Minute); got != porcupine.Ok {
		return fmt.Sprintf("the history is %s", got)
	}
	return ""
}

func call(ctx context.Context, s document.Store, do *swap) (got string, err error) {
	if do.read {
		content, err := s.Load(ctx)
		return string(content), err
	}
	err = s.Transform(ctx, document.Plain(func(old []byte) ([]byte, error) {
		got = string(old)
		return []byte(do.to), nil
	}))
	return got, err
}
