package draft_test

import (
	"testing"

	"github.com/agent-base/agent-base/internal/draft"
)

func TestIsDescription(t *testing.T) {
	for text, want := range map[string]bool{
		draft.Description:                       true,
		draft.Description + " ":                 true,
		draft.Greets + "csv-report.":            true,
		"[TODO: what it does]":                  true,
		"TODO: say what it does":                true,
		"TODO":                                  true,
		"<TBD>":                                 true,
		"**TODO** describe":                     true,
		"{{TODO}}":                              true,
		"Replace with description of the skill": true,

		"":                                 false,
		"TODO lists: reads and sorts them": false,
		"TODOs of a project, as a table":   false,
		"Finds every TODO: and FIXME:":     false,
		"Greets people by name.":           false,
		"Replace with care: edits files":   false,
		"Todo: manages tasks":              false,
		"[Beta] Reads tables":              false,
	} {
		if got := draft.IsDescription(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}

func TestInBody(t *testing.T) {
	for text, want := range map[string]int{
		"# Csv report\n\n" + draft.Body + "\n\n## Scripts\n":        2,
		"Do it.\n\n" + draft.Body:                                   2,
		"# Aa\n\n## Overview\n\n[TODO: one sentence]\n\n## More\nx": 4,
		"":                                     -1,
		"# Only a heading":                     -1,
		"# Aa\n\nRead the tables.\nTODO: more": -1,
	} {
		if got := draft.InBody(text); got != want {
			t.Errorf("%q: got %v", text, got)
		}
	}
}
