package hosttool

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// branch is a place that a search walks.
type branch struct {
	*place
	prefix string   // path of the place below the folder that the model named, with a "/" at its end; "" for that folder
	other  []string // paths in the place that other branches have
}

// branches returns the folder that a model names, and the folders of skills whose paths lead through it, such as those of "skills".
// The workspace itself has none: what is searched there are the user's files. The caller closes them.
func (h *host) branches(name string, mounts []Mount) ([]*branch, error) {
	p, err := h.place(name, mounts)
	if err != nil {
		return nil, err
	}
	all := []*branch{{place: p}}
	if p.mount != nil || p.shown == "." {
		return all, nil
	}
	for i := range mounts {
		rest, ok := beneath(p.shown, mounts[i].path())
		if mounts[i].Hidden || !ok || rest == "." {
			continue
		}
		if in, err := h.place(mounts[i].path(), mounts); err == nil && in.mount == &mounts[i] {
			all = append(all, &branch{place: in, prefix: rest + "/"})
			all[0].other = append(all[0].other, path.Join(p.rel, rest))
		}
	}
	return all, nil
}

func closeAll(all []*branch) {
	for _, b := range all {
		b.close()
	}
}

// walkAll visits the files of branches, each once. The first branch need not exist if there are others.
func walkAll(ctx context.Context, all []*branch, visit func(b *branch, rel string, d fs.DirEntry) error) (partial bool, err error) {
	for i, b := range all {
		cut, err := b.walk(ctx, func(rel string, d fs.DirEntry) error {
			if slices.ContainsFunc(b.other, func(dir string) bool { _, in := beneath(dir, rel); return in }) {
				return nil
			}
			return visit(b, rel, d)
		})
		if err != nil && !(i == 0 && len(all) > 1 && errors.Is(err, fs.ErrNotExist)) {
			return partial, err
		}
		partial = partial || cut
	}
	return partial, nil
}

// below returns the path of a file below the folder that the model named, for patterns.
func (b *branch) below(rel string) string { return b.prefix + b.relative(rel) }

// beneath returns the rest of a slash path below a folder, "." for the folder itself. Like the lookup of skills, it ignores case and
// takes "_" for "-".
func beneath(dir, full string) (rest string, ok bool) {
	want, parts := strings.Split(dir, "/"), strings.Split(full, "/")
	if len(want) > len(parts) || !slices.EqualFunc(want, parts[:len(want)], func(a, b string) bool { return fold(a) == fold(b) }) {
		return "", false
	}
	return path.Join(append([]string{"."}, parts[len(want):]...)...), true
}
