package check

import (
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Bounds of what Validate looks at.
const (
	maxChecked    = 20_000   // entries of folders
	maxReferences = 200      // paths in the body
	maxComponent  = 255      // bytes of a file name
	maxFile       = 10 << 20 // bytes of a file that are read: skill.MaxResource
)

var (
	linkTarget = lazyregexp.New(`\]\(<?([^)<>\s]+)>?[^)]*\)`)
	codeSpan   = lazyregexp.New("`((?:\\./)?(?:scripts|references|assets)/[^`\\s]+)`")
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
			below := v.scripts
			if name != "scripts" {
				below, _ = fs.ReadDir(v.fsys, name) // what cannot be read is nobody's file
			}
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

// foldedPath is the form in which two names are the same file on systems that ignore case or form
// .
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

// checkReferences looks for files that the body names, outside of code blocks.
func (v *validation) checkReferences() {
	fence := ""
	checked := 0
	seen := map[string]bool{}
	i := -1
	for line := range strings.SplitSeq(v.m.Body, "\n") {
		i++
		if mark := fenceMark(line); mark != "" {
			switch {
			case fence == "":
				fence = mark
			case strings.HasPrefix(mark, fence):
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		for _, at := range references(line) {
			target := localTarget(line[at[0]:at[1]])
			if target == "" || seen[target] {
				continue
			}
			if checked++; checked > maxReferences {
				return
			}
			seen[target] = true
			v.checkReference(target, v.m.BodyLine+i, utf8.RuneCountInString(line[:at[0]])+1)
		}
	}
}

func (v *validation) checkReference(target string, line, col int) {
	clean := path.Clean(target)
	if !fs.ValidPath(clean) {
		v.Add(manifest.Problem{Code: "reference-outside", Line: line, Col: col, Message: fmt.Sprintf("%.100q lies outside the skill", target)})
		return
	}
	if _, err := fs.Stat(v.fsys, clean); err != nil {
		v.Add(manifest.Problem{Code: "reference-missing", Line: line, Col: col, Message: fmt.Sprintf("%.100q does not exist", target)})
	}
}

// references returns where a line names files.
func references(line string) [][2]int {
	var out [][2]int
	find := func(re *regexp.Regexp) {
		for _, m := range re.FindAllStringSubmatchIndex(line, -1) {
			out = append(out, [2]int{m[2], m[3]})
		}
	}
	if strings.Contains(line, "](") {
		find(linkTarget())
	}
	if strings.IndexByte(line, '`') >= 0 && strings.IndexByte(line, '/') >= 0 {
		find(codeSpan())
	}
	return out
}

// localTarget is the path that a link means, "" when it is no file of the skill or only a pattern.
func localTarget(s string) string {
	s, _, _ = strings.Cut(s, "#")
	s, _, _ = strings.Cut(s, "?")
	if s == "" || strings.HasPrefix(s, "/") || strings.ContainsAny(s, "<>{}$*|\\") || strings.Contains(s, "...") {
		return ""
	}
	if u, err := url.Parse(s); err != nil || u.Scheme != "" || u.Host != "" {
		return ""
	}
	if plain, err := url.PathUnescape(s); err == nil && utf8.ValidString(plain) && !strings.ContainsRune(plain, 0) {
		return plain
	}
	return ""
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// fenceMark returns the run of ` or ~ that a line of a code fence begins with, "" for other lines.
func fenceMark(line string) string {
	s := strings.TrimLeft(line, " \t")
	if len(s) < 3 || s[0] != '`' && s[0] != '~' || s[1] != s[0] || s[2] != s[0] {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s, s[:1]))]
}
