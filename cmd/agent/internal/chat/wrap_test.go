package chat

import (
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
)

func TestCut(t *testing.T) {
	tests := []struct {
		name, text string
		width      int
		want       string
	}{
		{"fits", "hello", 5, "hello"},
		{"too long", "hello", 4, "hel…"},
		{"before a wide character", "漢字かな", 4, "漢…"},
		{"one column", "hello", 1, "…"},
		{"no column", "hello", 0, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ui.Cut(tt.text, tt.width); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
