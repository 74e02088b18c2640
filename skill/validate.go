package skill

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
)

// ValidateOptions tells Validate what to hold a skill against. The zero value is useful.
type ValidateOptions struct {
	Profile *Profile // nil means DefaultProfile
	Path    string   // what problems call the skill's folder, put before the names of files; "" for nothing

	// Buffer is where the manifest is read into: who checks many skills, one after the other, saves memory by lending
	// the same to all. Nothing that is returned lies in it. Nil means one for each.
	Buffer *bytes.Buffer
}

// Validate checks a whole skill: its manifest as Parse does, and whether its files agree with it.
// fsys is the skill's folder, confined to it, and dirName what the folder is called. Nothing of
// the skill is run. It never fails and never returns nil; problems of the manifest come first.
func Validate(fsys fs.FS, dirName string, o *ValidateOptions) (*Manifest, []Problem) {
	return validate(fsys, dirName, o, parseText)
}

// Check is Validate for who wants to know of a skill only its name and what is wrong with it. It
// finds the same problems sooner, since it reads most manifests without a YAML parser.
func Check(fsys fs.FS, dirName string, o *ValidateOptions) (name string, problems []Problem) {
	m, problems := validate(fsys, dirName, o, skimText)
	return m.Name, problems
}

// manifestText is what validation needs of a manifest.
type manifestText struct {
	m        *Manifest // nil when it has no problem and nothing but its name is of interest
	problems []Problem
	body     []byte
	line     int // where the body begins
}

func parseText(src []byte, o *ParseOptions) manifestText {
	m, problems := Parse(src, o)
	return manifestText{m, problems, []byte(m.Body), m.BodyLine}
}

// skimText is parseText, but a manifest which certainly has no problem, and the name of its folder,
// is not made.
func skimText(src []byte, o *ParseOptions) manifestText {
	var front plain
	if o.Dir == "" || o.Profile.column() == unknownProfile || unreadable(src) != nil || !skim(&front, src, o.Dir) {
		return parseText(src, o)
	}
	text := frontText{end: front.end, after: bytes.Count(src[:front.end], []byte{'\n'}) + 2}
	body, line := text.body(src)
	return manifestText{body: body, line: line}
}

func validate(fsys fs.FS, dirName string, o *ValidateOptions, read func([]byte, *ParseOptions) manifestText) (*Manifest, []Problem) {
	if o == nil {
		o = &ValidateOptions{}
	}
	v := &validation{fsys: fsys, path: o.Path}
	v.parser = newParser(&ParseOptions{Dir: dirName, Profile: o.Profile, File: path.Join(o.Path, "SKILL.md")})
	file := v.manifestFile()
	if file == nil {
		return v.m, v.problems
	}
	v.file = path.Join(o.Path, file.Name())
	src, ok := v.readManifest(file, o.Buffer)
	if !ok {
		return v.m, v.problems
	}
	r := read(src, &ParseOptions{File: v.file, Dir: dirName, Profile: o.Profile})
	v.body, v.bodyLine = r.body, r.line
	if r.m != nil {
		v.m = r.m
	}
	if len(v.body) > 0 {
		v.checkBody()
		v.checkReferences()
	}
	v.checkScripts()
	v.checkFiles()
	slices.SortStableFunc(v.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col), cmp.Compare(a.File, b.File))
	})
	return v.m, append(r.problems, v.problems...)
}

type validation struct {
	*parser
	fsys     fs.FS
	path     string
	body     []byte
	bodyLine int

	top     []fs.DirEntry // of the folder itself
	scripts []fs.DirEntry // of scripts/, where there is one
	seen    map[string]string
	count   int // entries that were looked at
}

// reportFile reports a problem with another file than the manifest.
func (v *validation) reportFile(name, code, message string) {
	manifest := v.file
	v.file = path.Join(v.path, printable(name))
	v.report(Problem{Code: code, Message: message})
	v.file = manifest
}

// manifestFile finds SKILL.md, else skill.md, and nothing else. Without one it returns nil.
func (v *validation) manifestFile() fs.DirEntry {
	var err error
	if v.top, err = fs.ReadDir(v.fsys, "."); err != nil {
		v.report(Problem{Code: "file-unreadable", Message: fmt.Sprintf("the folder cannot be read: %v", bareError(err))})
		return nil
	}
	var found fs.DirEntry
	for _, d := range v.top {
		switch name := d.Name(); {
		case name == "SKILL.md":
			return d
		case name == "skill.md" || found == nil && strings.EqualFold(name, "skill.md"):
			found = d
		}
	}
	switch {
	case found == nil:
		v.report(Problem{Code: "file-missing", Message: "the folder has no SKILL.md"})
	case found.Name() == "skill.md":
		v.reportFile("skill.md", "file-name", "the manifest is called \"skill.md\", not \"SKILL.md\"")
		return found
	default:
		v.report(Problem{Code: "file-missing", Message: fmt.Sprintf("the folder has no SKILL.md; %q is not read", found.Name()), Cure: "rename it to SKILL.md"})
	}
	return nil
}

// readManifest reads the manifest. The tree of a Source knows best how, and whether a link may be followed (C38).
func (v *validation) readManifest(file fs.DirEntry, buf *bytes.Buffer) ([]byte, bool) {
	if t, ok := v.fsys.(manifestReader); ok {
		src, _, err := t.readManifest(file.Name())
		if err != nil {
			v.report(*fileProblem(v.file, err))
		}
		return src, err == nil
	}
	src, err := readRegular(v.fsys, file, MaxManifest+1, buf)
	if err != nil {
		v.report(Problem{Code: "file-unreadable", Message: fmt.Sprintf("%s: %v", file.Name(), bareError(err))})
	}
	return src, err == nil
}

// Limits of the body (C42).
const (
	maxBodyLines  = 500
	maxBodyTokens = 5000
	bytesPerToken = 4 // roughly, in English text
)

func (v *validation) checkBody() {
	at := Problem{Line: v.bodyLine, Col: 1}
	if n := bytes.Count(v.body, []byte("\n")) + 1; n > maxBodyLines {
		at.Code, at.Message = "body-length", fmt.Sprintf("the body has %d lines, at most %d are advised", n, maxBodyLines)
		v.report(at)
	}
	if n := len(v.body) / bytesPerToken; n > maxBodyTokens {
		at.Code, at.Message = "body-tokens", fmt.Sprintf("the body has about %d tokens, at most %d are advised", n, maxBodyTokens)
		v.report(at)
	}
}

// checkScripts holds the list of scripts against the folder (R31, R50).
func (v *validation) checkScripts() {
	err := fs.ErrNotExist
	if slices.ContainsFunc(v.top, func(d fs.DirEntry) bool { return strings.EqualFold(d.Name(), "scripts") }) {
		v.scripts, err = fs.ReadDir(v.fsys, "scripts")
	}
	if err != nil && v.m.ScriptsDeclared && len(v.m.Scripts) > 0 {
		v.report(Problem{Code: "scripts-missing", Field: "scripts", Message: "the skill lists scripts, but has no scripts folder"})
		return
	}
	for _, d := range v.scripts {
		if d.Type()&fs.ModeSymlink != 0 {
			v.reportFile("scripts/"+d.Name(), "script-symlink", fmt.Sprintf("%q is a symbolic link: scripts must be files", d.Name()))
		}
		if v.kindless(d) {
			v.reportFile("scripts/"+d.Name(), "script-kind", fmt.Sprintf("nothing tells what runs %q", clip(d.Name())))
		}
	}
	if len(v.m.Scripts) == 0 {
		return
	}
	there := scriptNames(v.scripts)
	for _, want := range v.m.Scripts {
		want = strings.TrimPrefix(want, "scripts/")
		if !there[foldedName(want)] {
			v.report(Problem{Code: "script-missing", Field: "scripts", Message: fmt.Sprintf("script %q is listed but not there", clip(want))})
		}
	}
}

// scriptNames holds what a manifest may call the entries of a scripts folder: their names with and without extension.
func scriptNames(entries []fs.DirEntry) map[string]bool {
	out := make(map[string]bool, 2*len(entries))
	for _, d := range entries {
		name := foldedName(d.Name())
		out[name], out[strings.TrimSuffix(name, path.Ext(name))] = true, true
	}
	return out
}

// foldedName is s in the one form of all that strings.EqualFold calls equal.
func foldedName(s string) string {
	return strings.Map(func(r rune) rune {
		low := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			low = min(low, next)
		}
		return low
	}, s)
}

// kindless reports whether a file is marked as a program and is none: text without an extension and without a #! line.
func (v *validation) kindless(d fs.DirEntry) bool {
	if !d.Type().IsRegular() || path.Ext(d.Name()) != "" {
		return false
	}
	info, err := d.Info()
	if err != nil || info.Mode()&0o111 == 0 {
		return false
	}
	f, err := v.fsys.Open("scripts/" + d.Name())
	if err != nil {
		return false
	}
	defer f.Close()
	head, err := io.ReadAll(io.LimitReader(f, 512))
	return err == nil && !bytes.HasPrefix(head, []byte("#!")) && !bytes.ContainsRune(head, 0)
}

// readRegular returns at most limit bytes of a regular file at the top of fsys. It looks at the type before it opens
// the file, which for a pipe would wait. What it returns lies in buf, if there is one.
func readRegular(fsys fs.FS, d fs.DirEntry, limit int64, buf *bytes.Buffer) ([]byte, error) {
	regular := d.Type().IsRegular()
	if d.Type()&fs.ModeSymlink != 0 {
		info, err := fs.Stat(fsys, d.Name())
		if err != nil {
			return nil, err
		}
		regular = info.Mode().IsRegular()
	}
	if !regular {
		return nil, errNotRegular
	}
	f, err := fsys.Open(d.Name())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // it was changed meanwhile
		return nil, errNotRegular
	}
	if buf == nil {
		buf = &bytes.Buffer{}
	}
	buf.Reset()
	buf.Grow(int(min(info.Size(), limit)) + bytes.MinRead)
	_, err = buf.ReadFrom(io.LimitReader(f, limit))
	return buf.Bytes(), err
}

var errNotRegular = errors.New("it is not a regular file")

// bareError is the cause of an error without the path, which may be one of this machine.
func bareError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
