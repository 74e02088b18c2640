package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/agent-base/agent-base/skill/manifest"
)

// Bounds of a folder of commands.
const (
	maxCommands     = 1000 // more are left out, with a Problem
	maxCommandDepth = 3    // folders below the root
	maxCommandLine  = 1000 // bytes of a first line that is the description
)

// CommandOptions limits what Commands finds. A nil *CommandOptions limits nothing.
type CommandOptions struct {
	// Within is the absolute folder that must contain the root after links are resolved: the project, for a root that
	// comes with a project. "" requires nothing.
	Within string
}

// Commands returns the source of the commands in the folder root, such as a project's .claude/commands. Each file NAME.md
// is a skill that has this name, the file as its manifest and no other file. The front matter may be missing: the
// description is then the first line of the text. A folder that does not exist has no commands.
//
// Commands looks three folders deep. It leaves out README.md, links, and files and folders whose name starts with a dot.
// Of more than 1,000 commands it leaves out the last, with a Problem. A skill of this source has no folder
// (ErrNoFolder).
func Commands(root string, o *CommandOptions) Source {
	s := &commandSource{}
	if o != nil {
		s.within = o.Within
	}
	switch {
	case root == "":
		s.err = errors.New("the folder has no name")
	case s.within != "" && !filepath.IsAbs(s.within):
		s.err = fmt.Errorf("CommandOptions.Within %q is not absolute", s.within)
	default:
		s.abs, s.err = filepath.Abs(root)
	}
	return s
}

type commandSource struct {
	abs, within string
	err         error // why the folder cannot be read
}

// Roots returns the folder, even if it does not exist.
func (s *commandSource) Roots() []string {
	if s.err != nil {
		return nil
	}
	return []string{s.abs}
}

// Skills yields the commands by path.
func (s *commandSource) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		root, err := s.open()
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(Found{Path: "."}, s.unreadable(err))
			return
		}
		defer root.Close()
		count := 0
		// The function never returns an error other than fs.SkipAll and fs.SkipDir.
		_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
			switch {
			case ctx.Err() != nil:
				return fs.SkipAll
			case err != nil:
				if !yield(Found{Path: name}, s.unreadable(err)) {
					return fs.SkipAll
				}
				return skipDir(d)
			case name == ".":
				return nil
			case strings.HasPrefix(d.Name(), "."), d.IsDir() && strings.Count(name, "/") >= maxCommandDepth:
				return skipDir(d)
			case !isCommand(d):
				return nil
			}
			if count++; count > maxCommands {
				yield(Found{Path: "."}, &manifest.Problem{Code: "discovery-bound", Severity: manifest.SeverityWarning, File: s.abs,
					Message: fmt.Sprintf("the folder has more than %d commands: the last are left out", maxCommands), Cure: "delete commands that nobody uses"})
				return fs.SkipAll
			}
			f := Found{Path: strings.TrimSuffix(name, path.Ext(name))}
			if f.Head, err = readCommand(root, name); err != nil {
				err = fileProblem(s.file(f.Path, ""), err)
			}
			if !yield(f, err) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

// skipDir returns the error that leaves out what is below d.
func skipDir(d fs.DirEntry) error {
	if d != nil && d.IsDir() {
		return fs.SkipDir
	}
	return nil
}

func isCommand(d fs.DirEntry) bool {
	stem, ok := strings.CutSuffix(d.Name(), ".md")
	return ok && stem != "" && d.Type().IsRegular() && !strings.EqualFold(stem, "readme")
}

func (s *commandSource) open() (*os.Root, error) {
	if s.err != nil {
		return nil, s.err
	}
	root, err := os.OpenRoot(s.abs)
	if err != nil || s.within == "" {
		return root, err
	}
	if err := within(s.within, s.abs); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

// readCommand returns the manifest that a command stands for.
func readCommand(root *os.Root, name string) ([]byte, error) {
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errIrregular
	case info.Size() > manifest.MaxManifest:
		return nil, fmt.Errorf("%w: %d bytes, at most %d are read", ErrTooBig, info.Size(), manifest.MaxManifest)
	}
	text, err := readGrown(f, info.Size(), manifest.MaxManifest)
	if err != nil {
		return nil, err
	}
	stem := path.Base(name)
	return commandText(strings.TrimSuffix(stem, path.Ext(stem)), text), nil
}

// commandText returns the text of a command with the name and description that its front matter lacks. They are put at the end of
// the front matter, so that its lines keep their numbers.
func commandText(stem string, text []byte) []byte {
	var r manifest.Reader
	m, problems := r.Parse(text, &manifest.Options{Dir: stem})
	if slices.ContainsFunc(problems, func(p manifest.Problem) bool { return p.Code == "frontmatter-missing" }) {
		return slices.Concat([]byte("---\nname: "+quote(stem)+"\ndescription: "+quote(firstLine(text))+"\n---\n"), text)
	}
	end := r.End(text)
	if end == 0 { // it is not closed, which is a problem
		return text
	}
	var missing string
	if !slices.ContainsFunc(m.Fields, func(f manifest.Field) bool { return strings.EqualFold(f.Key, "name") }) {
		missing = "name: " + quote(stem) + "\n"
	}
	if m.Description == "" {
		missing += "description: " + quote(firstLine([]byte(m.Body))) + "\n"
	}
	return slices.Concat(text[:end], []byte(missing), text[end:])
}

// firstLine returns the first line of a text that has more than marks of a heading, or a text that says that there is none.
func firstLine(text []byte) string {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimLeft(bytes.TrimSpace(line), "# "); len(line) > 0 {
			return strings.ToValidUTF8(string(line[:min(len(line), maxCommandLine)]), "")
		}
	}
	return "A command without a text."
}

// quote returns a YAML scalar for a text of one line.
func quote(s string) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, s)
	return "'" + strings.ReplaceAll(s, "'", "''") + "'"
}

func (s *commandSource) unreadable(err error) *manifest.Problem {
	return &manifest.Problem{Code: "source-unreadable", Severity: manifest.SeverityError, File: s.abs,
		Message: "folder of commands cannot be read: " + reasonOf(err), Cure: "make it a readable folder"}
}

func (s *commandSource) tree(_ context.Context, _ *part, dir string) (Tree, error) {
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	text, err := readCommand(root, dir+".md")
	if err != nil {
		return nil, err
	}
	return commandTree(text), nil
}

func (s *commandSource) location(_ context.Context, dir string) (string, error) {
	return "", noFolder(path.Base(dir))
}

// file returns the path of the command's file, which stands for its manifest.
func (s *commandSource) file(dir, _ string) string {
	if dir == "." {
		return s.abs
	}
	return filepath.Join(s.abs, filepath.FromSlash(dir)+".md")
}

func (s *commandSource) base(dir string) string { return path.Base(dir) }

// commandTree is a folder with one file, SKILL.md, that has this text.
type commandTree []byte

// Open opens the folder or its file.
func (t commandTree) Open(name string) (fs.File, error) {
	switch name {
	case ".":
		return &commandDir{file: t.info()}, nil
	case "SKILL.md":
		return &commandFile{Reader: bytes.NewReader(t), info: t.info()}, nil
	}
	err := fs.ErrNotExist
	if !fs.ValidPath(name) {
		err = fs.ErrInvalid
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// Close does nothing: the text is in memory.
func (commandTree) Close() error { return nil }

func (t commandTree) info() commandInfo {
	return commandInfo{name: "SKILL.md", size: int64(len(t)), mode: 0o444}
}

type commandFile struct {
	*bytes.Reader
	info commandInfo
}

func (f *commandFile) Stat() (fs.FileInfo, error) { return f.info, nil }
func (f *commandFile) Close() error               { return nil }

type commandDir struct {
	file commandInfo
	read bool
}

func (d *commandDir) Stat() (fs.FileInfo, error) {
	return commandInfo{name: ".", mode: fs.ModeDir | 0o555}, nil
}
func (d *commandDir) Close() error { return nil }

func (d *commandDir) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: errors.New("is a folder")}
}

// ReadDir returns the one file, once.
func (d *commandDir) ReadDir(n int) ([]fs.DirEntry, error) {
	if d.read {
		if n > 0 {
			return nil, io.EOF
		}
		return nil, nil
	}
	d.read = true
	return []fs.DirEntry{fs.FileInfoToDirEntry(d.file)}, nil
}

type commandInfo struct {
	name string
	size int64
	mode fs.FileMode
}

func (i commandInfo) Name() string       { return i.name }
func (i commandInfo) Size() int64        { return i.size }
func (i commandInfo) Mode() fs.FileMode  { return i.mode }
func (i commandInfo) ModTime() time.Time { return time.Time{} }
func (i commandInfo) IsDir() bool        { return i.mode.IsDir() }
func (i commandInfo) Sys() any           { return nil }
