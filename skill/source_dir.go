package skill

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill/manifest"
)

// DirOptions limits what Dir finds. A nil *DirOptions means Nested and LinksContained.
type DirOptions struct {
	// Nested also looks below the direct children, to depth 10 and in at most 100,000 folders; a Problem counts and names
	// what that leaves out. The number of direct children is not limited.
	Nested bool
	// Inside also reports each SKILL.md below a skill, and each in a hidden folder that is not searched, as a Problem. It lists all
	// folders of the skills.
	Inside bool
	// Listed is the name of a hidden folder of the root whose skills another source lists: Inside reports none of them.
	Listed string
	// Bare makes Skills find the folders of skills without reading a manifest: Found.Head is nil. A catalogue reads them
	// nevertheless.
	Bare  bool
	Links Links
	Allow []string // absolute folders that a symbolic link may lead into, in addition to the root
	// Own returns the folder of which the target of a link may be read although it lies neither in the root nor in a folder of Allow,
	// "" if it may not; what has the name of a file or folder with keys never is. The target is an absolute path without links to a
	// file or a folder, and the folder has to be one, too. A nil Own returns "".
	Own func(target string) string
	// Within is the absolute folder that must contain the root after links are resolved: the project, for a root that
	// comes with a project. "" requires nothing.
	Within string
}

// Links says how symbolic links are treated.
type Links uint8

// LinksContained follows a link whose target is in the same root or in an allowed folder. All other links are left out
// and reported.
const (
	LinksContained Links = iota
	LinksDeny
)

// Dir returns the source of the skills in the folder root: its sub-directories that contain a SKILL.md, and the root
// itself if it contains one. A folder that does not exist has no skills.
//
// Dir resolves a relative root when it is called; later changes of the working directory have no effect. An empty root
// is a problem of the catalogue (source-unreadable) and does not mean the working directory. A relative Within and an
// invalid value of Links are problems, too.
//
// Folders named node_modules and folders whose name starts with a dot are left out. Nested also looks in the hidden
// folders in which hosts keep skills, such as .claude and .github, and in .curated, .system and .experimental of a
// folder called skills. A SKILL.md below another skill is a file of that skill, not a skill. The exceptions are the root and a folder
// called skills: of what is below them, only the folders of a skill, such as references, belong to their SKILL.md. `skill.md` is read
// with a warning if there is no SKILL.md; a name in another case, such as Skill.md, is a problem.
func Dir(root string, o *DirOptions) Source {
	if o == nil {
		o = &DirOptions{Nested: true}
	}
	return newDirSource(root, *o)
}

func newDirSource(root string, o DirOptions) *dirSource {
	s := &dirSource{o: o}
	if s.err = o.check(root); s.err == nil {
		s.abs, s.err = filepath.Abs(root)
	}
	return s
}

// check returns an error for an invalid option.
func (o *DirOptions) check(root string) error {
	switch {
	case root == "":
		return errors.New("the folder has no name")
	case o.Within != "" && !filepath.IsAbs(o.Within):
		return fmt.Errorf("DirOptions.Within %q is not absolute", o.Within)
	case slices.ContainsFunc(o.Allow, func(dir string) bool { return !filepath.IsAbs(dir) }):
		return fmt.Errorf("DirOptions.Allow %q has a folder that is not absolute", o.Allow)
	case o.Links > LinksDeny:
		return fmt.Errorf("invalid DirOptions.Links %d", o.Links)
	}
	return nil
}

type dirSource struct {
	abs      string // the root as an absolute path
	err      error  // why the folder cannot be read
	o        DirOptions
	portable bool // for tests
}

func (s *dirSource) scanOptions(bare bool) *walk.Options {
	links := walk.Contained
	if s.o.Links == LinksDeny {
		links = walk.Deny
	}
	return &walk.Options{Nested: s.o.Nested, Inside: s.o.Inside, Listed: s.o.Listed, Links: links, Allow: s.o.Allow, Own: s.own, MaxSize: manifest.MaxManifest, Workers: readers,
		Enough: headComplete, Bare: bare, Portable: s.portable}
}

// own is DirOptions.Own, except for what can hold keys.
func (s *dirSource) own(target string) string {
	if s.o.Own == nil {
		return ""
	}
	base := s.o.Own(target)
	if rel, err := filepath.Rel(base, target); err != nil || content.Secret(filepath.ToSlash(rel)) {
		return ""
	}
	return base
}

// headComplete reports whether b has the whole front matter. If the closing line is missing, it reports true where
// front matter cannot continue.
func headComplete(b []byte) bool {
	return manifest.HeadEnd(b) > 0 || len(b) > manifest.MaxFrontMatter+4096
}

// open opens the root to read skills. It returns nil if there is none.
func (s *dirSource) open() (*walk.Root, error) { return s.openFor(false) }

// openFor opens the root, bare to find skills without reading them. It returns nil if there is none.
func (s *dirSource) openFor(bare bool) (*walk.Root, error) {
	if s.err != nil {
		return nil, s.err
	}
	root, err := walk.Open(s.abs, s.scanOptions(bare))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil || s.o.Within == "" {
		return root, err
	}
	if err := within(s.o.Within, s.abs); err != nil {
		root.Close()
		return nil, err
	}
	return root, nil
}

func within(dir, path string) error {
	outer, err1 := filepath.EvalSymlinks(dir)
	inner, err2 := filepath.EvalSymlinks(path)
	if err := errors.Join(err1, err2); err != nil {
		return err
	}
	rel, err := filepath.Rel(outer, inner)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return fmt.Errorf("skills folder leads out of %q, to %q", dir, inner)
	}
	return nil
}

// Roots returns the folder, even if it does not exist.
func (s *dirSource) Roots() []string {
	if s.err != nil {
		return nil
	}
	return []string{s.abs}
}

// Skills yields the skills by path, then a *Problem for each item that was left out.
func (s *dirSource) Skills(ctx context.Context) iter.Seq2[Found, error] {
	return func(yield func(Found, error) bool) {
		root, err := s.openFor(s.o.Bare)
		if root == nil {
			if err != nil {
				yield(Found{Path: "."}, s.unreadable(err))
			}
			return
		}
		defer root.Close()
		all := &gather{}
		notes, err := root.Walk(ctx, all)
		if err != nil {
			if ctx.Err() == nil {
				yield(Found{Path: "."}, s.unreadable(err))
			}
			return
		}
		slices.SortFunc(all.found, func(a, b walk.Item) int { return strings.Compare(a.Dir, b.Dir) })
		for _, it := range all.found {
			f := Found{Path: it.Dir, File: it.File, Stamp: Stamp(it.Stamp), Head: it.Data,
				Open: func(ctx context.Context) (Tree, error) { return s.tree(ctx, nil, it.Dir) }}
			var err error
			if it.Err != nil {
				err = fileProblem(s.file(it.Dir, it.File), it.Err)
			}
			if !yield(f, err) {
				return
			}
		}
		for _, n := range notes {
			if !yield(Found{Path: n.Path}, s.note(n)) {
				return
			}
		}
	}
}

// gather collects the results of a walk for Skills.
type gather struct {
	mu    sync.Mutex
	found []walk.Item
}

func (g *gather) Begin([]string) []walk.Stamp { return nil }

func (g *gather) Visit(_, _ int, it *walk.Item) {
	item := *it
	item.Data = bytes.Clone(it.Data)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.found = append(g.found, item)
}

// tree opens a skill's files through the handle that the part holds. If there is no handle, it opens the root, and the
// tree holds it to judge links.
func (s *dirSource) tree(_ context.Context, p *part, dir string) (Tree, error) {
	if p != nil && p.root != nil {
		return openFolder(p.root, dir, nil)
	}
	root, err := s.open()
	if err != nil {
		return nil, err
	}
	if root == nil {
		return nil, &fs.PathError{Op: "open", Path: s.abs, Err: fs.ErrNotExist}
	}
	t, err := openFolder(root, dir, root)
	if err != nil {
		root.Close()
	}
	return t, err
}

func (s *dirSource) location(_ context.Context, dir string) (string, error) {
	return s.below(dir), nil
}

func (s *dirSource) file(dir, name string) string {
	if dir == "." || name == "" || len(s.abs) == 1 {
		return filepath.Join(s.below(dir), name)
	}
	const separator = string(filepath.Separator)
	return s.abs + separator + filepath.FromSlash(dir) + separator + name
}

// below returns the absolute path of a skill's folder. It only joins the two parts, since both are clean and lists of
// thousands of skills call it.
func (s *dirSource) below(dir string) string {
	switch {
	case dir == ".":
		return s.abs
	case len(s.abs) == 1: // "/"
		return s.abs + dir
	}
	return s.abs + string(filepath.Separator) + filepath.FromSlash(dir)
}

// pluginOf returns the nearest folder that has dir, lies in the root and is a plugin, or dir if there is none.
func (s *dirSource) pluginOf(dir string) string {
	root := s.abs
	if real, err := filepath.EvalSymlinks(root); err == nil && !strings.HasPrefix(dir, root) {
		root = real
	}
	for at := dir; ; at = filepath.Dir(at) {
		if rel, err := filepath.Rel(root, at); err != nil || !filepath.IsLocal(rel) || at == filepath.Dir(at) {
			return dir
		}
		if info, err := os.Lstat(filepath.Join(at, ".claude-plugin", "plugin.json")); err == nil && info.Mode().IsRegular() {
			return at
		}
	}
}

// base returns the name of a skill's folder.
func (s *dirSource) base(dir string) string {
	if dir == "." {
		return filepath.Base(s.abs)
	}
	return dir[strings.LastIndexByte(dir, '/')+1:]
}

func (s *dirSource) unreadable(err error) *manifest.Problem {
	return &manifest.Problem{Code: "source-unreadable", Severity: manifest.SeverityError, File: s.abs,
		Message: "skills folder cannot be read: " + reasonOf(err), Cure: "make it a readable folder, or remove it from the configuration"}
}

func (s *dirSource) note(n walk.Note) *manifest.Problem {
	p := &manifest.Problem{Severity: manifest.SeverityWarning, File: s.file(n.Path, ""), Message: reasonOf(n.Err)}
	switch n.Kind {
	case walk.Link:
		p.Code = "link-skipped"
		p.Message = "skipped: " + p.Message
		p.Cure = "replace the link by the folder itself, or allow the folder that it leads into"
		if errors.Is(n.Err, walk.ErrNowhere) {
			p.Cure = "remove the link, or put back what it leads to"
		}
	case walk.Bound:
		p.Code, p.Cure = "discovery-bound", "move the skill up, or add its folder as a root of its own"
	case walk.Misnamed:
		p.Code, p.Cure = "manifest-case", "rename it to SKILL.md"
	case walk.Inside:
		p.Code, p.Cure = "manifest-inside", "to make it a skill, move its folder out of the skill"
	case walk.Hidden:
		p.Code, p.Cure = "manifest-hidden", "to make it a skill, move its folder out of the hidden one, or add that as a root of its own"
	case walk.Empty:
		p.Code, p.Cure = "folder-empty", "if it is a submodule, git submodule update --init gets it; else remove it"
	case walk.Unreadable:
		p.Code, p.Message, p.Cure = "folder-unreadable", "folder cannot be listed: "+p.Message, "make it readable"
	}
	return p
}

// fileProblem describes a manifest that exists and cannot be read.
func fileProblem(file string, err error) *manifest.Problem {
	p := &manifest.Problem{Code: walk.Code(err), Severity: manifest.SeverityError, File: file, Fatal: true, Message: reasonOf(err)}
	switch p.Code {
	case "file-unreadable":
		p.Cure = "make it a readable file"
	case "manifest-irregular":
		p.Cure = "put a regular file in its place"
	case "file-size":
		p.Cure = "move long passages into files below references/"
	case "manifest-link":
		p.Cure = "put the file itself in place of the link"
	}
	return p
}

// reasonOf returns an error's text without the operation and the path: the problem has them.
func reasonOf(err error) string {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return err.Error()
}

// folderTree is the files of a skill on disk: one open handle, which becomes a confined file system when the first file
// is opened.
type folderTree struct {
	folder *walk.Folder
	rooted *onceRoot
	own    *walk.Root // closed with the tree; nil if the root belongs to another owner
}

func openFolder(root *walk.Root, dir string, own *walk.Root) (Tree, error) {
	folder, err := root.Folder(dir)
	if err != nil {
		return nil, err
	}
	return &folderTree{folder: folder, rooted: &onceRoot{open: folder.Root}, own: own}, nil
}

// Location returns the skill's real folder.
func (t *folderTree) Location(context.Context) (string, error) { return t.folder.Path(), nil }

// Close closes all handles.
func (t *folderTree) Close() error {
	t.rooted.close()
	err := t.folder.Close()
	if t.own != nil {
		err = errors.Join(err, t.own.Close())
	}
	return err
}

// ReadManifest reads the skill's manifest. It follows the links that the source follows.
func (t *folderTree) ReadManifest(file string) ([]byte, error) {
	text, _, err := t.folder.Manifest(file)
	return text, err
}

// Open opens a regular file or a folder. It never waits: it rejects pipes and devices.
func (t *folderTree) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	root, err := t.rooted.get()
	if err != nil {
		return nil, err
	}
	f, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|nonBlock, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = t.folder.Check(f)
	}
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: name, Err: errIrregular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// ReadLink returns a link's text.
func (t *folderTree) ReadLink(name string) (string, error) {
	root, err := t.rooted.get()
	if err != nil {
		return "", err
	}
	return root.Readlink(filepath.FromSlash(name))
}

// Lstat describes a file without following a link.
func (t *folderTree) Lstat(name string) (fs.FileInfo, error) {
	root, err := t.rooted.get()
	if err != nil {
		return nil, err
	}
	return root.Lstat(filepath.FromSlash(name))
}
