package worker

import (
	"iter"
	"sync"

	"github.com/agent-base/agent-base/agent"
)

// together runs several sub-agents at the same time, and yields their steps as they come. Where a question stands between the lines that
// are printed, they run one after another.
func (w *worker) together(runs []iter.Seq[agent.Step]) iter.Seq2[int, agent.Step] {
	if w.oneByOne {
		return inTurn(runs)
	}
	type stepOf struct {
		run  int
		step agent.Step
	}
	return func(yield func(int, agent.Step) bool) {
		steps, left := make(chan stepOf), make(chan struct{})
		var all sync.WaitGroup
		for i, run := range runs {
			all.Go(func() {
				for s := range run {
					select {
					case steps <- stepOf{i, s}:
					case <-left:
						return
					}
				}
			})
		}
		go func() {
			all.Wait()
			close(steps)
		}()
		gone := false
		for s := range steps {
			if !gone && !yield(s.run, s.step) {
				gone = true
				close(left)
			}
		}
	}
}

// inTurn runs sub-agents one after another.
func inTurn(runs []iter.Seq[agent.Step]) iter.Seq2[int, agent.Step] {
	return func(yield func(int, agent.Step) bool) {
		for i, run := range runs {
			for s := range run {
				if !yield(i, s) {
					return
				}
			}
		}
	}
}
