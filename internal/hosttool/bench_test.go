package hosttool

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/agent-base/agent-base/agent/permit"
)

// What the rule about scripts costs each read.
func BenchmarkRead(b *testing.B) {
	for _, n := range []int{0, 30, 1000} {
		b.Run(fmt.Sprintf("%d skills", n), func(b *testing.B) {
			dir := b.TempDir()
			var mounts []Mount
			for i := range n {
				at := filepath.Join(dir, "skills", fmt.Sprint("s", i))
				mounts = append(mounts, Mount{Name: fmt.Sprint("s", i), Dir: at})
				if err := os.MkdirAll(filepath.Join(at, "scripts"), 0o755); err != nil {
					b.Fatal(err)
				}
				for k := range 3 {
					if err := os.WriteFile(filepath.Join(at, "scripts", fmt.Sprintf("%d.py", k)), nil, 0o644); err != nil {
						b.Fatal(err)
					}
				}
			}
			if err := os.WriteFile(filepath.Join(dir, "f"), []byte("text\n"), 0o644); err != nil {
				b.Fatal(err)
			}
			h := &host{o: Options{Decide: policy(b, permit.Options{}), Workspace: dir, Scripts: kept, Mounts: func(context.Context) []Mount { return mounts }}, real: dir}
			for b.Loop() {
				f, _, err := h.open(b.Context(), "f")
				if err != nil {
					b.Fatal(err)
				}
				f.Close()
			}
		})
	}
}
