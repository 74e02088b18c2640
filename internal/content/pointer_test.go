package content_test

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/agent-base/agent-base/internal/content"
)

// A pointer of Git LFS is told from a text about it.
func TestPointers(t *testing.T) {
	const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n"
	files := fstest.MapFS{}
	for name, text := range map[string]string{
		"model.bin": pointer, "a/b.png": pointer, "about.md": "See " + pointer, "long.txt": pointer + strings.Repeat("x", 1024), "short": "version https",
		".git/x": pointer, "empty": "",
	} {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	got, err := content.Pointers(t.Context(), files)
	if want := []string{"a/b.png", "model.bin"}; err != nil || !slices.Equal(got, want) {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}
