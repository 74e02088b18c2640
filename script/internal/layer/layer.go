// Package layer has what a run of a script writes in the folder of its skill: where it goes, what of it stays, and what comes back.
package layer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/ondisk"
	"github.com/agent-base/agent-base/internal/paths"
	"github.com/agent-base/agent-base/internal/proc"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/skill"
)

// Limits of a layer.
const (
	mostCopied      = 64 << 20 // bytes of a skill that is copied so that a script may write in it, and of what comes back
	mostCopiedFiles = 4096
	mostKept        = 1 << 30 // bytes that are kept of what the scripts of one version of a skill wrote
	mostKeptFiles   = 10_000
	mostTextRead    = 256 << 10 // bytes of one script that are searched for writing
)

// Run is what is known about a run.
type Run struct {
	Skill    *skill.Skill
	File     string // of the script, a slash path in the skill
	Hook     bool   // it is a hook
	Dir      string // the skill's folder
	Cwd      string // where it starts
	Root     string // the folder of the run
	Kept     string // the folder that has one for each content of the skill, with what its scripts wrote
	Packages string // the folder of its npm packages; "" for none
	Bare     bool   // scripts run without a sandbox
}

// Layer is what one run writes in the folder of its skill. The content of the skill stays what was approved: the next run begins with
// it, and with the data that earlier ones left.
type Layer struct {
	Dir   string // the skill's folder
	Upper string // gets what is written
	Work  string // for the sandbox
	Whole bool   // the upper folder has a copy of the skill, and can be used in place of it

	r        *Run
	kept     string // where what was written stays
	copies   map[string]fs.FileInfo
	readOnly bool // the skill's folder
}

// Make returns the layer of a run, nil if it gets none. With overlay a sandbox lays it over the skill's folder; else it is a copy of
// that folder, which only a script that seems to need it gets.
func Make(ctx context.Context, r *Run, overlay bool) *Layer {
	info, err := os.Stat(r.Dir)
	if err != nil {
		return nil
	}
	l := &Layer{
		r: r, Dir: r.Dir, readOnly: info.Mode().Perm()&0o200 == 0, Work: filepath.Join(r.Root, "layer"),
		Upper: filepath.Join(r.Root, "skill", filepath.Base(r.Dir)), copies: map[string]fs.FileInfo{},
	}
	l.kept = KeptBy(ctx, r.Kept, r.Skill, false)
	l.Whole = needsCopy(l.kept)
	switch {
	case overlay || l.Whole:
	case r.Bare && !l.readOnly: // without a sandbox it writes in the folder itself
		return nil
	case !r.writesBeside(ctx):
		return nil
	default:
		l.Whole = true
	}
	for _, dir := range []string{l.Upper, l.Work} {
		if os.MkdirAll(dir, 0o700) != nil {
			return nil
		}
	}
	if l.fill(ctx) != nil {
		ondisk.RemoveAll(filepath.Dir(l.Upper))
		return nil
	}
	return l
}

// fill makes what is in the upper folder before the run.
func (l *Layer) fill(ctx context.Context) error {
	_, err := os.Lstat(l.kept) // also if it is not known
	if !l.readOnly && !l.Whole && err != nil {
		return nil
	}
	sum, err := l.r.Skill.Sum(ctx)
	if err != nil {
		return err
	}
	var approved []string
	total, made := int64(0), map[string]bool{".": true}
	for _, f := range sum.Files {
		approved = append(approved, f.Path)
		if dir := path.Dir(f.Path); !made[dir] { // those of a sealed copy cannot be written
			made[dir] = true
			if err := os.MkdirAll(l.at(dir), 0o755); err != nil { // as in a checkout: scripts copy them
				return err
			}
		}
		total += f.Size
	}
	if l.Whole && (total > mostCopied || len(sum.Files) > mostCopiedFiles) {
		return fmt.Errorf("a skill of %d files and %d bytes is not copied", len(sum.Files), total)
	}
	if l.Whole {
		for _, f := range sum.Files {
			if err := l.copyIn(l.r.Skill.FS(), f.Path); err != nil {
				return err
			}
		}
		l.linkPackages()
	}
	l.bringBack(approved)
	return nil
}

// at returns a path in the upper folder.
func (l *Layer) at(name string) string { return filepath.Join(l.Upper, filepath.FromSlash(name)) }

// linkPackages makes the npm packages of a script found from the copy of its skill, as they are from the skill.
func (l *Layer) linkPackages() {
	if l.r.Packages != "" {
		_ = os.Symlink(filepath.Join(l.r.Packages, "node_modules"), filepath.Join(l.r.Root, "node_modules"))
	}
}

// mostNeighbours is how many folders beside a skill are found from its copy.
const mostNeighbours = 1000

// LinkNeighbours makes the skills in the folder beside found from the copy of this one: skills that belong together share code.
func (l *Layer) LinkNeighbours(beside string) {
	list, err := os.ReadDir(beside)
	if err != nil {
		return
	}
	for _, d := range list[:min(len(list), mostNeighbours)] {
		if d.IsDir() && !strings.HasPrefix(d.Name(), ".") {
			_ = os.Symlink(filepath.Join(beside, d.Name()), filepath.Join(filepath.Dir(l.Upper), d.Name())) // the copy itself stays
		}
	}
}

// copyIn copies a file or a link to the upper folder and notes what it is there.
func (l *Layer) copyIn(from fs.FS, name string) error {
	to := l.at(name)
	if text, err := fs.ReadLink(from, name); err == nil {
		return os.Symlink(text, to)
	}
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return errors.Join(err, errNotCopied)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, mostCopied))
	err = errors.Join(err, out.Close(), os.Chtimes(to, time.Time{}, info.ModTime()))
	if now, statErr := os.Lstat(to); statErr == nil {
		l.copies[name] = now
	}
	return err
}

var errNotCopied = errors.New("it is no file")

// bringBack copies the data that earlier runs wrote to the upper folder.
func (l *Layer) bringBack(approved []string) {
	if l.kept == "" {
		return
	}
	root, err := os.OpenRoot(l.kept)
	if err != nil {
		return
	}
	defer root.Close()
	there := taken(approved)
	files, bytes := 0, int64(0)
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !there.comesBack(name) {
			return nil
		}
		info, err := d.Info()
		if err != nil {
			return nil
		}
		if files, bytes = files+1, bytes+info.Size(); files > mostCopiedFiles || bytes > mostCopied {
			return fs.SkipAll
		}
		if os.MkdirAll(filepath.Dir(l.at(name)), 0o700) == nil {
			_ = l.copyIn(root.FS(), name) // what cannot be copied is missing for the script
		}
		return nil
	})
}

// places are the paths of approved files, and of their folders, in lower case.
type places struct{ files, folders map[string]bool }

func taken(approved []string) places {
	p := places{files: map[string]bool{}, folders: map[string]bool{}}
	for _, file := range approved {
		name := strings.ToLower(file)
		p.files[name] = true
		for dir := path.Dir(name); dir != "." && !p.folders[dir]; dir = path.Dir(dir) {
			p.folders[dir] = true
		}
	}
	return p
}

// dataKinds are the extensions of files that nothing takes for code. Pickles, archives and settings are not among them.
var dataKinds = map[string]bool{
	".json": true, ".jsonl": true, ".ndjson": true, ".csv": true, ".tsv": true, ".txt": true, ".log": true, ".md": true,
	".db": true, ".sqlite": true, ".sqlite3": true, ".parquet": true, ".pdf": true, ".docx": true, ".xlsx": true, ".pptx": true,
	".png": true, ".jpg": true, ".jpeg": true, ".gif": true, ".webp": true, ".wav": true, ".mp3": true, ".mp4": true,
}

// steering matches the names of data files by which interpreters, installers and build tools choose code or packages.
var steering = lazyregexp.New(`(?i)^((package|tsconfig|jsconfig|deno|bower|composer|nodemon|global|lerna|nx|turbo)\b.*\.json|.*\.config\.json|\..*rc\.json|` +
	`import_?map\.json|npm-shrinkwrap\.json|(requirements|constraints|cmakelists).*\.txt)$`)

// comesBack reports whether a later run finds a file that an earlier one wrote. Only data does: no text that an interpreter runs, or
// that decides what it runs. Nothing takes the place of what was approved.
func (p places) comesBack(name string) bool {
	name = strings.ToLower(name)
	kind := path.Ext(name)
	if !dataKinds[kind] || steering().MatchString(path.Base(name)) || p.files[name] || p.folders[name] || p.folders[strings.TrimSuffix(name, kind)] {
		return false
	}
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if base := path.Base(dir); base == "node_modules" || filename.IsRepository(base) || p.files[dir] {
			return false
		}
	}
	return true
}

// Keep puts what the run wrote where it stays, and says so. Its processes are gone.
func (l *Layer) Keep(ctx context.Context) string {
	for name := range l.copies {
		if l.kept == "" {
			break
		}
		if _, err := os.Lstat(l.at(name)); err != nil {
			_ = os.Remove(filepath.Join(l.kept, filepath.FromSlash(name))) // the script removed it; what was approved is not there
		}
	}
	root, err := os.OpenRoot(l.Upper)
	if err != nil {
		return ""
	}
	defer root.Close()
	k := keeping{l: l, root: root}
	_ = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil
		case d.IsDir() && (d.Name() == "node_modules" || content.Leftover(root.FS(), name) != ""):
			return fs.SkipDir
		case d.Type().IsRegular():
			k.file(ctx, name, d)
		}
		return nil
	})
	return k.text()
}

// keeping moves files from the upper folder to where they stay.
type keeping struct {
	l        *Layer
	root     *os.Root
	measured bool
	files    int // there, with those of earlier runs
	bytes    int64
	moved    int
	lost     int
	first    string
}

func (k *keeping) file(ctx context.Context, name string, d fs.DirEntry) {
	info, err := d.Info()
	if err != nil {
		return
	}
	if was := k.l.copies[name]; was != nil && os.SameFile(was, info) && was.Size() == info.Size() && was.ModTime().Equal(info.ModTime()) {
		return // as it was
	}
	if !k.measured {
		k.measured = true
		k.l.kept = KeptBy(context.WithoutCancel(ctx), k.l.r.Kept, k.l.r.Skill, true)
		k.files, k.bytes = proc.Measure(k.l.kept)
	}
	if k.files, k.bytes = k.files+1, k.bytes+info.Size(); k.files > mostKeptFiles || k.bytes > mostKept || k.l.kept == "" || k.move(name) != nil {
		k.lost++
		return
	}
	if k.moved++; k.first == "" {
		k.first = name
	}
}

// move moves one file. Only the engine writes where it goes to.
func (k *keeping) move(name string) error {
	to := filepath.Join(k.l.kept, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if os.Rename(k.l.at(name), to) == nil {
		return os.Chmod(to, 0o600)
	}
	in, err := k.root.Open(name) // on another file system
	if err != nil {
		return err
	}
	defer in.Close()
	b, err := io.ReadAll(io.LimitReader(in, mostCopied+1))
	if err == nil && len(b) > mostCopied {
		err = errNotCopied
	}
	if err != nil {
		return err
	}
	return ondisk.WriteFile(to, b)
}

// text says what was written, "" for nothing.
func (k *keeping) text() string {
	var text []string
	switch {
	case k.moved == 1:
		text = append(text, fmt.Sprintf("it wrote %q in its skill's folder: it is kept in %s", k.first, k.l.kept))
	case k.moved > 1:
		text = append(text, fmt.Sprintf("it wrote %d files in its skill's folder, such as %q: they are kept in %s", k.moved, k.first, k.l.kept))
	}
	const why = "there is no room, or what an earlier run left is in its place"
	switch {
	case k.lost == 1:
		text = append(text, "1 file that it wrote in its skill's folder is lost: "+why)
	case k.lost > 1:
		text = append(text, fmt.Sprintf("%d files that it wrote in its skill's folder are lost: %s", k.lost, why))
	}
	return strings.Join(text, "; ")
}

// What the text of a script has that finds its own folder, and what one has that writes.
var (
	namesOwnFolder = lazyregexp.New(`__file__|__dirname|__filename|import\.meta|BASH_SOURCE|dirname|\$0|\$\{0|argv\[0\]|argv\[1\]|sys\.path\[0\]|__DIR__|FindBin|PSScriptRoot|(?:AGENT|CLAUDE)_SKILL_DIR|CLAUDE_PLUGIN_ROOT`)
	writesFiles    = lazyregexp.New(`(?i)write|mkdir|makedirs|dump|save|['"][wax][bt+]*['"]|to_(?:csv|json|excel|parquet)|sqlite|touch|copy|\bcp\b|\bmv\b|>|rename|appendFile`)
)

// writesBeside reports whether a script seems to write in its skill's folder: it starts there, or a text of the skill finds its own
// folder and writes files.
func (r *Run) writesBeside(ctx context.Context) bool {
	if r.Hook {
		return false
	}
	sum, err := r.Skill.Sum(ctx)
	if err != nil {
		return false
	}
	for i, f := range sum.Files {
		if i == mostCopiedFiles {
			break
		}
		if f.Path != r.File && survey.LanguageOf(f.Path) == "" || f.Size > mostTextRead {
			continue
		}
		b, err := r.Skill.ReadFile(f.Path)
		if err == nil && writesFiles().Match(b) && (namesOwnFolder().Match(b) || paths.Within([]string{r.Dir}, r.Cwd)) {
			return true
		}
	}
	return false
}

// copyMark ends the name of a file that says what needsCopy reports.
const copyMark = ".copy"

// needsCopy reports whether a script of the content whose files are kept there failed because it changes what was approved.
func needsCopy(kept string) bool {
	_, err := os.Lstat(kept + copyMark)
	return kept != "" && err == nil
}

// NoteCopy has the next runs of a content work on a copy of the skill's folder.
func NoteCopy(kept string) error { return ondisk.WriteFile(kept+copyMark, nil) }

// KeptBy returns where stays what the scripts of a skill's content write in its folder, a folder in one that has all of the skill; "" if
// that is not known. Without must it is not known if nothing of the skill is kept.
func KeptBy(ctx context.Context, in string, s *skill.Skill, must bool) string {
	if _, err := os.Lstat(in); err != nil && !must {
		return ""
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return ""
	}
	_, hex, _ := strings.Cut(digest, ":")
	return filepath.Join(in, hex[:min(len(hex), keptDigits)])
}

// keptDigits is how many digits of a digest name the folder for what is kept.
const keptDigits = 16
