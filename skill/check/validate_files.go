package check

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Limits of the check of files.
const (
	maxChecked   = 20_000   // entries of folders
	maxComponent = 255      // bytes of a file name
	maxFile      = 10 << 20 // bytes of a file that are read: skill.MaxResource
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
		if d.IsDir() && d.Name() == ".git" {
			continue
		}
		name := path.Join(dir, d.Name())
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
	if why := oddName(d.Name()); why != "" {
		v.reportFile(name, "file-path", fmt.Sprintf("the name %.100q %s", d.Name(), why))
	}
	if d.Type()&fs.ModeSymlink != 0 {
		if _, err := fs.Stat(v.fsys, name); err != nil {
			v.reportFile(name, "file-link", fmt.Sprintf("the link %.100q leads out of the skill or nowhere", name))
		}
	}
	key := foldedPath(name)
	if other, ok := v.seen[key]; ok {
		v.reportFile(name, "file-clash", fmt.Sprintf("%.100q and %.100q are one file on some systems", other, name))
	}
	v.seen[key] = name
	if !d.Type().IsRegular() {
		return
	}
	if info, err := d.Info(); err == nil && info.Size() > maxFile {
		v.reportFile(name, "file-large", fmt.Sprintf("the file has %d bytes, at most %d are read", info.Size(), maxFile))
	}
}

// oddName says why a file name is not possible everywhere, "" when it is.
func oddName(name string) string {
	stem, _, _ := strings.Cut(name, ".")
	switch {
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case len(name) > maxComponent:
		return fmt.Sprintf("has more than %d bytes", maxComponent)
	case strings.ContainsAny(name, `<>:"\|?*`) || strings.ContainsFunc(name, unicode.IsControl):
		return "has a character that some systems forbid"
	case strings.HasSuffix(name, ".") || strings.HasSuffix(name, " "):
		return "ends with a full stop or a space"
	case manifest.IsDevice(stem):
		return "is that of a device on Windows"
	}
	return ""
}

// foldedPath returns a form that is equal for names that are the same file on systems that ignore case or normal form.
func foldedPath(name string) string {
	if isASCII(name) {
		return strings.ToUpper(name)
	}
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFC.String(name))
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}
