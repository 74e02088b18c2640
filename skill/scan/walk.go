package scan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/language"
	"github.com/agent-base/agent-base/internal/obeyed"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/flow"
	texts "github.com/agent-base/agent-base/skill/scan/internal/text"
)

// Limits of a scan.
const (
	maxFiles   = 20_000    // members of archives too
	maxFile    = 16 << 20  // bytes of one file that are looked at
	maxBytes   = 512 << 20 // bytes of all files
	maxText    = 4 << 20   // bytes of a text that is read
	maxPerhaps = 1 << 20   // bytes of a file of data
	maxArchive = 3         // archives inside of each other
)

// Kinds of files.
const (
	kindPython     = "python"
	kindJavaScript = "javascript"
	kindTypeScript = "typescript"
	kindShell      = "shell"
	kindMarkdown   = "markdown"
	kindText       = "text"
	kindScript     = "script" // of a language that nothing here reads, and another file with commands
	kindData       = "data"   // JSON, YAML, TOML
)

// source is a piece of a file: all of it, a block, or a command.
type source struct {
	language string // of package flow
	dialect  string // "typescript"
	text     string
	line     int // of its file that text begins with
	place    fact.Place
	role     fact.Role
	maybe    bool
	snippet  bool // it is an example in a text: what is broken in it is not a fault of the scan
	file     int  // position in Report.Files
}

// reader reads one skill.
type reader struct {
	ctx     context.Context
	o       *Options
	r       *Report
	sources []source
	found   []fact.Fact // that need no flow
	docs    []document
	texts   map[string]document // of files that are no scripts by their names, by their paths
	kept    int                 // bytes of texts
	bytes   int64
	buffer  [32 << 10]byte // for one file after the other
}

// document is a text for people or a model.
type document struct {
	file int
	text string
}

// walk reads all files of a folder.
func (r *reader) walk(fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if cause := r.ctx.Err(); cause != nil {
			return cause
		}
		switch {
		case err != nil && name == ".":
			return err
		case err != nil:
			r.unread(name, nil, "folder", "it cannot be listed")
			return nil
		case d.IsDir():
			return nil
		case len(r.r.Files) >= maxFiles:
			r.unread(name, nil, "", "it and what follows: the skill has more than "+strconv.Itoa(maxFiles)+" files")
			return fs.SkipAll
		case d.Type()&fs.ModeSymlink != 0:
			r.unread(name, nil, "link", "it is a symbolic link")
			return nil
		case !d.Type().IsRegular():
			r.unread(name, nil, "device", "it is no regular file")
			return nil
		}
		r.open(fsys, name)
		return nil
	})
}

func (r *reader) unread(name string, inside []string, kind, why string) {
	r.r.Files = append(r.r.Files, File{Path: name, Inside: inside, Kind: kind, Unread: why})
}

func (r *reader) open(fsys fs.FS, name string) {
	f, err := fsys.Open(name)
	if err != nil {
		r.unread(name, nil, "", "it cannot be opened")
		return
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		r.unread(name, nil, "", "it is no regular file")
		return
	}
	r.file(name, nil, f, info.Size())
}

// file reads one file, or a member of archives. About size bytes are expected, 0 if that is not known.
func (r *reader) file(name string, inside []string, from io.Reader, size int64) {
	if r.bytes >= maxBytes {
		r.unread(name, inside, "", "the skill has more than "+strconv.Itoa(maxBytes>>20)+" MiB")
		return
	}
	sum := sha256.New()
	head := bytes.NewBuffer(make([]byte, 0, min(max(size, 0), maxFile)))
	n, err := io.CopyBuffer(sum, io.TeeReader(io.LimitReader(from, maxFile), head), r.buffer[:])
	file := File{Path: name, Inside: inside, Size: n}
	if err == nil && n == maxFile {
		var more int64
		more, err = io.CopyBuffer(sum, io.LimitReader(from, maxBytes-r.bytes), r.buffer[:])
		file.Size += more
	}
	r.bytes += file.Size
	file.Digest = "sha256:" + hex.EncodeToString(sum.Sum(nil))
	switch {
	case errors.Is(err, errPassword):
		file.Unread = "a password protects it"
	case err != nil:
		file.Unread, file.Digest = "reading it fails: "+err.Error(), ""
	case r.bytes >= maxBytes:
		file.Unread, file.Digest = "it is too large", ""
	case file.Size > maxFile:
		file.Unread = "only its first " + strconv.Itoa(maxFile>>20) + " MiB were read"
	}
	r.r.Files = append(r.r.Files, file)
	r.content(len(r.r.Files)-1, head.Bytes())
}

// content reads what a file has.
func (r *reader) content(at int, content []byte) {
	file := &r.r.Files[at]
	if r.archive(at, content) {
		return
	}
	text, ok := textOf(content)
	if !ok {
		r.opaque(at, content)
		return
	}
	file.Kind = kindOf(file.name(), text)
	if len(text) > maxText {
		text = text[:maxText]
		r.partly(at, "only its first "+strconv.Itoa(maxText>>20)+" MiB were read")
	}
	facts, partly := texts.Read(text, file.place(), formOf(file))
	if r.found = appendFacts(r.found, facts); partly != "" {
		r.partly(at, partly)
	}
	switch file.Kind {
	case kindPython, kindJavaScript, kindTypeScript, kindShell:
		r.script(at, text)
	case kindMarkdown:
		r.docs = append(r.docs, document{at, text})
		r.markdown(at, text)
	case kindData:
		r.keep(at, text)
		r.data(at, text)
	default:
		r.other(at, text)
	}
	r.shebang(at, text)
}

// formOf says how a text is read.
func formOf(f *File) texts.Form {
	if f.Kind == kindShell {
		return texts.Form{Program: &language.Syntax{Line: []string{"#"}, Quotes: `"'`}}
	}
	id := language.OfModule(f.name())
	if id == "" && f.Kind == kindPython {
		id = language.Python
	}
	if id != "" {
		return texts.Form{Program: &id.Row().Syntax}
	}
	ext := strings.ToLower(path.Ext(f.name()))
	return texts.Form{Data: f.Kind == kindData, Document: isDocument(f), Markup: ext == ".xml" || ext == ".svg"}
}

func (f *File) name() string {
	if n := len(f.Inside); n > 0 {
		return f.Inside[n-1]
	}
	return f.Path
}

func (f *File) place() fact.Place { return fact.Place{File: f.Path, Inside: f.Inside} }

func (r *reader) partly(at int, why string) {
	if f := &r.r.Files[at]; f.Unread == "" {
		f.Unread = why
	}
}

func (r *reader) script(at int, text string) {
	s := source{text: text, line: 1, place: r.r.Files[at].place(), file: at}
	switch kind := r.r.Files[at].Kind; kind {
	case kindPython:
		s.language = flow.Python
	case kindShell:
		s.language = flow.Shell
	default:
		s.language, s.dialect = flow.JavaScript, kind
		if strings.HasSuffix(r.r.Files[at].name(), "sx") {
			s.dialect = dialectTSX
		}
	}
	r.sources = append(r.sources, s)
}

// shebang says which program runs a script.
func (r *reader) shebang(at int, text string) {
	name := programOf(text)
	if name == "" {
		return
	}
	place := r.r.Files[at].place()
	line, _, _ := strings.Cut(text[2:], "\n")
	if _, command, ok := strings.Cut(line, "-S "); ok { // env starts it as a command
		r.sources = append(r.sources, source{language: flow.Shell, text: command, line: 1, place: place, file: at})
	}
	place.Line = 1
	r.found = append(r.found, fact.Fact{Kind: fact.Runs, Object: fact.Program, Name: name, Detail: line[:min(len(line), 200)], Place: place})
}

// other reads a text of another kind.
func (r *reader) other(at int, text string) {
	file := &r.r.Files[at]
	if why := noGrammar(file.name(), text); why != "" {
		file.Kind = kindScript
		r.partly(at, why)
		s := source{language: flow.Loose, text: text, line: 1, place: file.place(), file: at}
		r.sources = append(r.sources, s)
		r.guess(&s)
		return
	}
	r.keep(at, text)
	base, before := strings.ToLower(path.Base(file.name())), len(r.sources)
	defer func() {
		if len(r.sources) > before && file.Kind == kindText {
			file.Kind = kindScript
		}
	}()
	if isRequirements(base) || strings.HasSuffix(base, "npmrc") || strings.HasSuffix(base, "yarnrc") || strings.HasPrefix(base, "pip.") {
		r.shellLines(at, eachLine(text, indexed))
	}
	switch {
	case commandKeys(file.name()) != nil:
		r.shellLines(at, assigned(text, commandKeys(file.name())))
	case strings.HasSuffix(base, ".pth"):
		r.sources = append(r.sources, source{language: flow.Python, text: eachLine(text, importing), line: 1, place: file.place(), file: at})
	case slices.Contains([]string{".html", ".htm", ".xhtml", ".svg", ".xml", ".rels"}, path.Ext(base)):
		r.marked(at, text)
	case isRequirements(base):
		r.requirements(at, text)
	case strings.HasSuffix(base, "makefile") || strings.HasSuffix(base, ".mk") || base == "justfile":
		r.shellLines(at, recipes(strings.ReplaceAll(text, "\n    ", "\n\t")))
	case strings.HasPrefix(base, "dockerfile") || strings.HasSuffix(base, ".dockerfile"):
		r.shellLines(at, builds(text))
	case path.Ext(base) == "" && isScript(text), isObeyed(base, text):
		file.Kind = kindShell
		r.script(at, text)
	}
}

func (r *reader) shellLines(at int, text string) {
	r.sources = append(r.sources, source{language: flow.Shell, text: text, line: 1, place: r.r.Files[at].place(), file: at})
}

// isObeyed reports whether a shell, or a program that reads commands as one does, runs a file for its name.
func isObeyed(base, text string) bool {
	f, ok := obeyed.In("", base)
	return ok && f.Listed && (f.By == "shells" || strings.HasPrefix(f.Does, "run") && isScript(text))
}

// importing returns a line of a .pth file that Python runs.
func importing(l string) string {
	if strings.HasPrefix(l, "import ") || strings.HasPrefix(l, "import\t") {
		return l
	}
	return ""
}

// isScript reports whether a text without a name for its kind begins with a command.
func isScript(text string) bool {
	for l := range strings.Lines(text[:min(len(text), 8192)]) {
		if l = strings.TrimSpace(l); l != "" && l[0] != '#' {
			return isCommand(l)
		}
	}
	return false
}

// recipes returns the commands of a Makefile. The other lines stay empty.
func recipes(text string) string {
	return eachLine(text, func(l string) string {
		command, ok := strings.CutPrefix(l, "\t")
		if !ok {
			return ""
		}
		return strings.NewReplacer("$$", "$", "$(", filled+" #").Replace(strings.TrimLeft(command, "@-+ "))
	})
}

// builds returns the commands that a Dockerfile runs.
func builds(text string) string {
	return continued(text, func(l string) (string, bool) { return strings.CutPrefix(strings.TrimSpace(l), "RUN ") })
}

// continued returns the lines of a text that begin a command, as first returns them, with those that go on after a backslash. The other
// lines stay empty.
func continued(text string, first func(l string) (string, bool)) string {
	more := false
	return eachLine(text, func(l string) string {
		command, ok := first(l)
		if !ok && !more {
			return ""
		}
		more = strings.HasSuffix(l, `\`)
		return command
	})
}

func eachLine(text string, change func(string) string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = change(l)
	}
	return strings.Join(lines, "\n")
}

// noGrammar says that a script is of a language that nothing here reads.
func noGrammar(name, text string) string {
	id := language.OfModule(name)
	if program := programOf(text); program != "" {
		id = language.ID(program)
		if l := language.Named(program); l != "" {
			id = l
		}
	}
	if end := strings.ToLower(path.Ext(name)); id == "" && isNamed("unread", end) {
		return "it is a program (" + end + "), which is not read"
	}
	if id == "" {
		return ""
	}
	if l := id.Row(); l.Name != "" {
		return "it is " + l.Name + ", which is not read"
	}
	return "it is a program for " + string(id) + ", which is not read"
}

// programOf returns the name of the program of a #! line, "" without one.
func programOf(text string) string {
	line, ok := strings.CutPrefix(text[:min(len(text), 256)], "#!")
	if !ok {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	for i, w := range strings.Fields(line) {
		if w = path.Base(w); (i > 0 || w != "env") && !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			return w
		}
	}
	return ""
}

// kindOf returns the kind of a text by its name and its #! line.
func kindOf(name, text string) string {
	id := language.OfModule(name)
	if program := programOf(text); id == "" && program != "" {
		id = language.Named(program)
	}
	switch id {
	case language.Python:
		return kindPython
	case language.Shell:
		return kindShell
	case language.JavaScript:
		return kindJavaScript
	case language.TypeScript:
		return kindTypeScript
	}
	if kind, ok := named("end", strings.ToLower(path.Ext(name))); ok {
		return kind
	}
	return kindText
}

// textOf returns a file as a text if it is one: UTF-8, or UTF-16 with a mark.
func textOf(content []byte) (string, bool) {
	switch {
	case bytes.HasPrefix(content, []byte("\xef\xbb\xbf")):
		content = content[3:]
	case bytes.HasPrefix(content, []byte("\xff\xfe")):
		return wide(content[2:], func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 }), true
	case bytes.HasPrefix(content, []byte("\xfe\xff")):
		return wide(content[2:], func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 }), true
	}
	if bytes.IndexByte(content[:min(len(content), 8192)], 0) >= 0 {
		return "", false
	}
	if utf8.Valid(content) {
		return string(content), true
	}
	odd := 0
	for _, c := range content[:min(len(content), 8192)] {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != 0x1b {
			odd++
		}
	}
	if odd > min(len(content), 8192)/50 {
		return "", false
	}
	return strings.ToValidUTF8(string(content), "\ufffd"), true
}

func wide(b []byte, unit func([]byte) uint16) string {
	units := make([]uint16, 0, len(b)/2)
	for ; len(b) > 1; b = b[2:] {
		units = append(units, unit(b))
	}
	return string(utf16.Decode(units))
}
