package skill

import (
	"context"
	"io/fs"
	"iter"
)

// FS returns the source of the skills in the direct sub-directories of fsys, such as an embedded
// file system.
func FS(fsys fs.FS, o *FSOptions) Source { return &fsSource{fsys} }

// FSOptions says where the skills of an FS source are put when a real path is needed.
type FSOptions struct {
	Cache string // directory; a skill is written once below it, under its content digest
}

type fsSource struct{ fsys fs.FS }

func (s *fsSource) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		list, err := fs.ReadDir(s.fsys, ".")
		if err != nil {
			yield(Found{Path: "."}, err)
			return
		}
		for _, d := range list {
			head, err := readCapped(s.fsys, d.Name()+"/SKILL.md", MaxManifest)
			open := func(context.Context) (Tree, error) {
				sub, err := fs.Sub(s.fsys, d.Name())
				return fsTree{sub}, err
			}
			if !yield(Found{Path: d.Name(), File: "SKILL.md", Head: head, Open: open}, err) {
				return
			}
		}
	}
}

type fsTree struct{ fs.FS }

func (fsTree) Close() error { return nil }
