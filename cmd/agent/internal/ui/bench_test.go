package ui_test

import (
	"fmt"
	"io"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

// A list of ten thousand skills must not cost more to print than to find.
func BenchmarkTable(b *testing.B) {
	var rows [][]string
	for i := range 10_000 {
		rows = append(rows, []string{fmt.Sprintf("advanced-agent-archive-%05d", i), "enabled", "project",
			"Archive agent and dataset files for the advanced team. Use when the user mentions agent, dataset or .agent files."})
	}
	for _, width := range []int{0, 100} {
		b.Run(fmt.Sprint(width), func(b *testing.B) {
			for b.Loop() {
				s := &ui.Streams{Out: io.Discard, Width: width}
				if err := s.Table([]string{"NAME", "STATE", "LAYER", "DESCRIPTION"}, rows); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
