package hosttool

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
)

// A result names hidden paths as those of the workspace, and not more than mostHidden.
func TestHiddenAreNamed(t *testing.T) {
	h := &host{real: filepath.FromSlash("/ws")}
	if got := h.named([]string{filepath.FromSlash("/ws/a/.env"), filepath.FromSlash("/other/.env")}); !slices.Equal(got, []string{"a/.env", filepath.FromSlash("/other/.env")}) {
		t.Errorf("got %q", got)
	}
	var many []string
	for i := range mostHidden + 3 {
		many = append(many, filepath.FromSlash(fmt.Sprintf("/ws/%d", i)))
	}
	if got := h.named(many); len(got) != mostHidden+1 || got[mostHidden] != "and 3 more" {
		t.Errorf("got %q", got)
	}
}
