package worker

import (
	"iter"
	"testing"

	"github.com/agent-base/agent-base/agent"
)

// Sub-agents run at the same time, unless they must not; who leaves the loop waits for all of them.
func TestTogether(t *testing.T) {
	meet := make(chan struct{})
	ended := make(chan string, 2)
	run := func(name string, first func()) iter.Seq[agent.Step] {
		return func(yield func(agent.Step) bool) {
			defer func() { ended <- name }()
			first()
			for range 100 {
				if !yield(agent.Step{Text: name}) {
					return
				}
			}
		}
	}
	// each waits for the other one
	runs := []iter.Seq[agent.Step]{run("a", func() { meet <- struct{}{} }), run("b", func() { <-meet })}
	count := map[int]int{}
	w := &worker{}
	for i, s := range w.together(runs) {
		if s.Text != []string{"a", "b"}[i] {
			t.Errorf("run %d: %+v", i, s)
		}
		count[i]++
	}
	if count[0] != 100 || count[1] != 100 || len(ended) != 2 {
		t.Errorf("%v steps, %d ended", count, len(ended))
	}
	<-ended
	<-ended
	for range w.together(runs) {
		break
	}
	if len(ended) != 2 {
		t.Errorf("%d ended when the loop was left", len(ended))
	}
	<-ended
	<-ended
	w.oneByOne = true
	nothing := func() {}
	last := -1
	for i := range w.together([]iter.Seq[agent.Step]{run("a", nothing), run("b", nothing)}) {
		if i < last {
			t.Fatal("the second began before the first had ended")
		}
		last = i
	}
}
