package script

import (
	"context"
	"strings"
)

// Version returns the first line that a program, an absolute path, prints for --version. The answer is kept as long as the program
// stays unchanged.
func (h *Host) Version(ctx context.Context, path string) (string, error) {
	said, err := h.programs.Ask(ctx, path, "--version")
	line, _, _ := strings.Cut(strings.TrimSpace(said), "\n")
	return strings.TrimSpace(line), err
}
