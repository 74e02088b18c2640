//go:build amd64 || arm64

package walk

import (
	"os"
	"slices"
	"testing"

	"golang.org/x/sys/unix"
)

// Some file systems list names without their types: the type is then asked for.
func TestUnknownType(t *testing.T) {
	root := t.TempDir()
	put(t, root, map[string]string{"dir/": "", "link": "-> dir", "file": "", "SKILL.md": "", ".dot/": ""})
	d, err := os.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	var l listing
	var names []byte
	b := &fast{fd: int(d.Fd())}
	for _, name := range []string{"dir", "link", "file", "SKILL.md", ".dot", "gone"} {
		b.other(int(d.Fd()), name, unix.DT_UNKNOWN, nil, &l, &names)
	}
	if string(names) != "dir\x00" || !slices.Equal(l.links, []string{"link"}) || !l.manifest {
		t.Errorf("got %q %+v", names, l)
	}
}
