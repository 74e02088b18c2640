//go:build !linux

package runner

import "os"

// lister lists folders.
type lister struct{}

// list calls visit for each name in a folder, and says whether it is a folder itself. What cannot be read has no names.
func (*lister) list(dir string, visit func(name string, isDir bool)) {
	all, _ := os.ReadDir(dir)
	for _, d := range all {
		visit(d.Name(), d.IsDir())
	}
}
