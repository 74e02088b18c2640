package chat

import (
	"strings"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/llm"
)

// taskText returns the subject of a call that starts a sub-agent: its kind and what it has to do.
func taskText(c *llm.Call) string {
	_, texts := arguments(c.Args)
	return strings.TrimPrefix(texts["subagent_type"]+": ", ": ") + texts["prompt"]
}

// follow shows what a sub-agent does in the rows of the call that started it, as long as that runs. It returns the number of that call
// if others run at the same time, else 0, and false if no such call runs.
func (s *state) follow(step agent.Step) (of int, ok bool) {
	var parent *call
	several := 0
	for _, c := range s.running() {
		if c.depth > 0 {
			continue
		}
		if several++; c.call.ID == step.Of {
			parent = c
		}
	}
	if parent == nil || step.Depth == 0 {
		return 0, false
	}
	switch {
	case step.Text != "":
		parent.tail.Add(step.Text)
	case step.Call != nil:
		parent.tail.Add("\n" + CallText(step.Call) + "\n")
	}
	if several > 1 {
		return parent.number, true
	}
	return 0, true
}
