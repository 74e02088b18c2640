package check

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of the check of files.
const (
	maxChecked = 20_000   // entries of folders
	maxFile    = 10 << 20 // bytes of a file that are read: skill.MaxResource
)

// checkFiles looks at the names and sizes of all files.
func (v *validation) checkFiles() {
	v.seen = make(map[string]string, len(v.top))
	v.checkFolder(".", v.top)
}

// checkFolder looks at the entries of a folder and at what lies below them. It reports whether it
// may go on.
func (v *validation) checkFolder(dir string, list []fs.DirEntry) bool {
	for _, d := range list {
		if v.count++; v.count > maxChecked {
			v.Add(manifest.Problem{Code: "files-many", Message: fmt.Sprintf("the folder has more than %d files, the rest is not checked", maxChecked)})
			return false
		}
		name := d.Name()
		if dir != "." {
			name = dir + "/" + name
		}
		if content.Leftover(v.fsys, name) != "" {
			continue
		}
		v.checkFile(name, d)
		if d.IsDir() {
			below, _ := fs.ReadDir(v.fsys, name) // an unreadable folder has no files to check
			if !v.checkFolder(name, below) {
				return false
			}
		}
	}
	return true
}

func (v *validation) checkFile(name string, d fs.DirEntry) {
	if why := filename.Odd(d.Name()); why != "" {
		v.reportFile(name, "file-path", fmt.Sprintf("the name %.100q %s", d.Name(), why))
	}
	if d.Type()&fs.ModeSymlink != 0 {
		if _, err := fs.Stat(v.fsys, name); err != nil {
			v.reportFile(name, "file-link", fmt.Sprintf("the link %.100q leads out of the skill or nowhere", name))
		}
	}
	key := filename.Fold(name)
	if other, ok := v.seen[key]; ok {
		v.reportFile(name, "file-clash", fmt.Sprintf("%.100q and %.100q are one file on some systems", other, name))
	}
	v.seen[key] = name
	if !d.Type().IsRegular() || name == v.file { // the manifest was read, so it is not too large
		return
	}
	info, err := d.Info()
	switch {
	case err != nil: // an unreadable file has nothing to check
	case info.Size() > maxFile:
		v.reportFile(name, "file-large", fmt.Sprintf("the file has %d bytes, at most %d are read", info.Size(), maxFile))
	case content.IsPointer(v.fsys, name, info.Size()):
		v.reportFile(name, pointerCode, isPointer)
	}
}

// What is said of a pointer of Git LFS.
const (
	pointerCode = "file-pointer"
	isPointer   = "the file is a pointer of Git LFS"
)

// Pointers returns a problem for each file of a skill's folder that is a pointer of Git LFS, as Folder reports it. p may be nil. The error
// is that of ctx.
func Pointers(ctx context.Context, fsys fs.FS, p *manifest.Profile) ([]manifest.Problem, error) {
	r := manifest.Report{Profile: p}
	names, err := content.Pointers(ctx, fsys)
	for _, name := range names {
		r.Add(manifest.Problem{Code: pointerCode, File: name, Message: isPointer})
	}
	return r.Problems(), err
}
