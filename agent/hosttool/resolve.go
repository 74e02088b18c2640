package hosttool

import (
	"context"
	"path/filepath"
)

// Resolver returns a function that gives the absolute path, without links, of the file that the tools with these options
// open for a model's path. The file need not exist. A path that the tools refuse is an error. The function uses Workspace
// and Mounts alone; Resolver returns an error if the workspace does not exist.
func Resolver(o *Options) (func(ctx context.Context, name string) (string, error), error) {
	real, err := filepath.EvalSymlinks(o.Workspace)
	if err != nil {
		return nil, err
	}
	h := &host{o: *o, real: real}
	return func(ctx context.Context, name string) (string, error) {
		var mounts []Mount
		if o.Mounts != nil {
			mounts = o.Mounts(ctx)
		}
		p, err := h.place(name, mounts)
		if err != nil {
			return "", err
		}
		defer p.close()
		dir, err := filepath.EvalSymlinks(p.dir)
		return filepath.Join(dir, p.name()), err
	}, nil
}
