package check

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/markdown"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Rule says where the scripts of a skill lie, as script.Rule does.
type Rule = survey.Rule

// Options says how Folder checks a skill. The zero value is useful.
type Options struct {
	Profile *manifest.Profile // nil means DefaultProfile
	Path    string            // what problems call the skill's folder, put before the names of files; "" for nothing

	ScriptRule Rule // which files are scripts; "" means those anywhere in the skill
	// Root is the folder of skills that has this one in its folder Rel. A link to another skill in it is not a problem.
	// If Root is nil, no link to the folder or the SKILL.md of another skill is a problem.
	Root fs.FS
	Rel  string

	// Memory is reused for each check, by callers that check many skills one after another. The manifest and its texts are
	// then valid until the next check. Nil allocates new memory.
	Memory *Memory
}

// Memory is the working memory of a check. The zero value is ready to use. It is not safe for concurrent use.
type Memory struct {
	text   bytes.Buffer
	reader manifest.Reader
	spans  [][2]int
	marks  markdown.Spans
}

// manifestReader is an optional method of a file system that knows better than Open how its manifest is read, and whether
// a link that it lies behind is followed.
type manifestReader interface {
	ReadManifest(name string) ([]byte, error)
}

// Folder checks a whole skill: its manifest as Parse does, and whether its files agree with it. fsys is the skill's
// folder, confined to it, and dirName is what the folder is called: a name or a path that ends in it, "" if it is unknown.
// Folder runs nothing of the skill. It never fails and never returns a nil manifest. Problems of the manifest come first.
func Folder(fsys fs.FS, dirName string, o *Options) (*manifest.Manifest, []manifest.Problem) {
	if o == nil {
		o = &Options{}
	}
	v := &validation{fsys: fsys, path: o.Path, root: o.Root, rel: o.Rel}
	v.File, v.Profile = path.Join(o.Path, "SKILL.md"), o.Profile
	file := v.manifestFile()
	memory := o.Memory
	if memory == nil {
		memory = &Memory{}
	}
	var src []byte
	ok := file != nil
	if ok {
		if v.file = file.Name(); v.file != "SKILL.md" {
			v.File = path.Join(o.Path, v.file)
		}
		src, ok = v.readManifest(file, &memory.text)
	}
	m, problems := memory.reader.Parse(src, &manifest.Options{File: v.File, Dir: lastOf(dirName), Profile: o.Profile, Borrow: true})
	if !ok {
		return m, v.Problems()
	}
	v.m = m
	if m.Body != "" {
		v.checkBody()
		v.checkWritten()
		v.checkReferences(memory)
	}
	v.checkPushy()
	v.checkTools()
	v.checkHooks()
	v.checkScripts(o.ScriptRule)
	v.checkFiles()
	return m, slices.Concat(problems, v.Problems())
}

// lastOf returns the last element of a path, "" if that is not the name of a folder.
func lastOf(dir string) string {
	switch name := path.Base(filepath.ToSlash(dir)); name {
	case ".", "..", "/":
		return ""
	default:
		return name
	}
}

type validation struct {
	manifest.Report
	fsys fs.FS
	path string
	root fs.FS  // of all skills, nil if unknown
	rel  string // the skill's folder in root
	m    *manifest.Manifest

	top   []fs.DirEntry // of the folder itself
	file  string        // the manifest's name in it
	seen  map[string]string
	count int // entries that were looked at
}

// reportFile reports a problem with another file than the manifest.
func (v *validation) reportFile(name, code, message string) {
	v.Add(manifest.Problem{Code: code, File: path.Join(v.path, strings.ToValidUTF8(name, "\ufffd")), Message: message})
}

// manifestFile finds SKILL.md, else skill.md, and nothing else. Without one it returns nil.
func (v *validation) manifestFile() fs.DirEntry {
	var err error
	if v.top, err = fs.ReadDir(v.fsys, "."); err != nil {
		v.Add(manifest.Problem{Code: "file-unreadable", Message: fmt.Sprintf("the folder cannot be read: %v", bareError(err))})
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
		v.Add(manifest.Problem{Code: "file-missing", Message: "the folder has no SKILL.md"})
	case found.Name() == "skill.md":
		v.reportFile("skill.md", "file-name", "the manifest is called \"skill.md\", not \"SKILL.md\"")
		return found
	default:
		v.Add(manifest.Problem{Code: "file-missing", Message: fmt.Sprintf("the folder has no SKILL.md; %q is not read", found.Name()), Cure: "rename it to SKILL.md"})
	}
	return nil
}

// readManifest reads the manifest.
func (v *validation) readManifest(file fs.DirEntry, buf *bytes.Buffer) ([]byte, bool) {
	if t, ok := v.fsys.(manifestReader); ok {
		src, err := t.ReadManifest(file.Name())
		if err != nil {
			v.Add(manifest.Problem{Code: walk.Code(err), Message: bareError(err).Error()})
		}
		return src, err == nil
	}
	src, err := readRegular(v.fsys, file, manifest.MaxManifest+1, buf)
	if err != nil {
		v.Add(manifest.Problem{Code: "file-unreadable", Message: fmt.Sprintf("%s: %v", file.Name(), bareError(err))})
	}
	return src, err == nil
}

// Limits of the body.
const (
	maxBodyLines  = 500
	maxBodyTokens = 5000
	bytesPerToken = 4 // roughly, in English text
)

func (v *validation) checkBody() {
	v.checkHidden()
	at := manifest.Problem{Line: v.m.BodyLine, Col: 1}
	if n := strings.Count(v.m.Body, "\n") + 1; n > maxBodyLines {
		at.Code, at.Message = "body-length", fmt.Sprintf("the body has %d lines, at most %d are advised", n, maxBodyLines)
		v.Add(at)
	}
	if n := len(v.m.Body) / bytesPerToken; n > maxBodyTokens {
		at.Code, at.Message = "body-tokens", fmt.Sprintf("the body has about %d tokens, at most %d are advised", n, maxBodyTokens)
		v.Add(at)
	}
}

// checkScripts reports what is wrong with the skill's scripts and with what the manifest says about them.
func (v *validation) checkScripts(rule survey.Rule) {
	set := survey.Of(v.fsys, v.m, &survey.Options{Rule: rule})
	listed := v.m.ScriptsDeclared && len(v.m.Scripts) > 0
	if listed && len(set.List()) == 0 && !slices.ContainsFunc(v.top, func(d fs.DirEntry) bool { return strings.EqualFold(d.Name(), survey.Dir) }) {
		v.Add(manifest.Problem{Code: "scripts-missing", Field: "scripts", Message: "the skill lists scripts, but has no scripts folder"})
		return
	}
	for _, p := range set.Problems() {
		switch {
		case p.Code == "scripts-ignore": // the manifest's own check reports it with its place
		case p.Code == "script-symlink" && !isThere(v.fsys, p.File): // file-link says more
		case p.Field != "":
			v.Add(manifest.Problem{Code: p.Code, Field: p.Field, Message: p.Message, Cure: p.Cure})
		default:
			v.Add(manifest.Problem{Code: p.Code, File: path.Join(v.path, strings.ToValidUTF8(p.File, "\ufffd")), Message: p.Message, Cure: p.Cure})
		}
	}
}

// readRegular returns at most limit bytes of a regular file at the top of fsys. It looks at the type before it opens
// the file, which for a pipe would wait. What it returns lies in buf.
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
	if size := info.Size(); size > 0 { // some file systems do not know the size; then the file is read to its end
		limit = min(size, limit)
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
