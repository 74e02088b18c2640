package saved

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// subMark stands in the name of a sub-agent's conversation, after the name of the one that started it.
const subMark = "-sub-"

// SubID returns a name for the conversation of the n-th sub-agent that a process starts.
func SubID(parent string, now time.Time, n int) string {
	return fmt.Sprintf("%s%s%x-%d", parent, subMark, now.UnixNano(), n)
}

// Parent returns the name of the conversation that started a sub-agent, "" for one that is none of a sub-agent.
func Parent(id string) string {
	if parent, _, ok := strings.Cut(id, subMark); ok {
		return parent
	}
	return ""
}

// Subs returns the conversations of the sub-agents that a conversation started, in their order.
func Subs(o *Options, id string) []Summary {
	dir, _, err := o.find(id)
	if err != nil {
		return nil
	}
	p := place{dir, readProject(dir)}
	list := slices.DeleteFunc(p.all(), func(s Summary) bool { return Parent(s.ID) != id })
	slices.SortFunc(list, func(a, b Summary) int { return strings.Compare(a.ID, b.ID) })
	for i := range list {
		list[i].read()
	}
	return list
}

// removeSubs removes the conversations of sub-agents that one in a folder started. What is in use stays.
func removeSubs(dir, id string) {
	p := place{dir: dir}
	for _, s := range p.all() {
		if Parent(s.ID) == id {
			_ = os.Remove(s.path)
			_ = os.Remove(strings.TrimSuffix(s.path, suffix) + lockSuffix)
		}
	}
}
