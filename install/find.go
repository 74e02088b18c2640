package install

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/filename"
	"github.com/agent-base/agent-base/internal/near"
	"github.com/agent-base/agent-base/internal/walk"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Candidate is a skill of a place.
type Candidate struct {
	Path     string // slash path of its folder below the root of the snapshot; "." is the root
	File     string // name of its manifest
	Manifest *manifest.Manifest
	Problems []manifest.Problem
	Plugin   string // the plugin of a Claude marketplace that it is part of; "" if none

	// PluginHas is what the plugin that it lies in has besides skills: "commands has commands".
	PluginHas []string
}

// Fatal returns the first problem that makes the skill unusable, or nil.
func (c *Candidate) Fatal() *manifest.Problem {
	for i := range c.Problems {
		if c.Problems[i].Fatal {
			return &c.Problems[i]
		}
	}
	return nil
}

// maxManifest is the size of the largest SKILL.md that is read, in bytes.
const maxManifest = 1 << 20

// finder looks for skills in a file system.
type finder struct {
	fsys    fs.FS
	profile *manifest.Profile
	dirs    int
	out     []*Candidate
	file    map[string]string // of the folder of each skill, the name of its manifest
	left    []string
	hidden  []string // folders that are not searched
}

// find returns the skills at and below a folder, by path, and says what it left out. names are those of skills that are wanted:
// the files of the folders that have these names come with the manifests, which saves asking again.
func find(ctx context.Context, s *Snapshot, below string, p *manifest.Profile, names []string) (skills []*Candidate, left []string, hidden []string, err error) {
	if s.Need != nil {
		dirs := named(s.FS, below, names)
		if err := s.Need(ctx, func(name string) bool { return isDescription(name) || inOneOf(dirs, name) }); err != nil {
			return nil, nil, nil, err
		}
	}
	f := &finder{fsys: s.FS, profile: p, file: map[string]string{}}
	if err := f.walk(ctx, below, 0); err != nil {
		return nil, nil, nil, err
	}
	plugins, notes := readMarketplace(s.FS)
	for dir, file := range f.file {
		c, err := f.read(dir, file)
		if err != nil {
			f.left = append(f.left, fmt.Sprintf("%s: %v", path.Join(dir, file), err))
			continue
		}
		c.Plugin, c.PluginHas = plugins.of(dir), f.pluginHas(dir)
		f.out = append(f.out, c)
	}
	slices.SortFunc(f.out, func(a, b *Candidate) int { return cmp.Compare(a.Path, b.Path) })
	slices.Sort(f.left)
	if len(f.out) == 0 {
		hidden = f.unsearched(ctx)
	}
	return f.out, append(f.left, notes...), hidden, nil
}

// named returns the folders with a manifest that have one of the names, and the folder below if it has one.
func named(fsys fs.FS, below string, names []string) map[string]bool {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[manifest.Canonical(name)] = true
	}
	dirs := map[string]bool{}
	_ = fs.WalkDir(fsys, below, func(name string, e fs.DirEntry, err error) error { // what is not found here is asked for later
		dir := path.Dir(name)
		is := err == nil && !e.IsDir() && isDescription(name) && dir != "."
		if is && (dir == below || wanted[manifest.Canonical(path.Base(dir))]) {
			dirs[dir] = true
		}
		return nil
	})
	return dirs
}

// inOneOf reports whether a file is in one of the folders, or below.
func inOneOf(dirs map[string]bool, name string) bool {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		if dirs[dir] {
			return true
		}
	}
	return dirs["."]
}

// pluginHas returns what the plugin that a skill lies in has besides skills.
func (f *finder) pluginHas(dir string) (out []string) {
	has := func(dir, name string) bool {
		list, _ := fs.ReadDir(f.fsys, dir) // a folder that is not there has nothing
		return slices.ContainsFunc(list, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	for dir != "." {
		if dir = path.Dir(dir); !has(path.Join(dir, pluginFolder), pluginFile) {
			continue
		}
		for _, part := range pluginParts {
			if name, _, _ := strings.Cut(part.files, "/"); has(dir, name) {
				out = append(out, path.Join(dir, name)+" has "+part.what)
			}
		}
		return out
	}
	return nil
}

// A plugin of another agent has a folder with the file that describes it.
const (
	pluginFolder = ".claude-plugin"
	pluginFile   = "plugin.json"
)

// pluginPart is what a plugin may have besides skills, with the pattern of the files that show it.
type pluginPart struct{ files, what string }

var pluginParts = [...]pluginPart{
	{"agents/*.md", "sub-agents"}, {"commands/*.md", "commands"}, {"hooks/hooks.json", "hooks"}, {".mcp.json", "MCP servers"},
}

// ofPlugin reports whether a file describes a plugin, or shows what it has besides skills.
func ofPlugin(name string) bool {
	dir, base := path.Base(path.Dir(name)), path.Base(name)
	return dir == pluginFolder || slices.ContainsFunc(pluginParts[:], func(p pluginPart) bool {
		shows, _ := path.Match(p.files, path.Join(dir, base))
		return shows || p.files == base
	})
}

// choose returns what a Request.Choose says of the skills at and below a folder: their files, what describes them, and one file of the
// folder, so that it is there.
func choose(below string) func(iter.Seq[string]) func(string) bool {
	return func(names iter.Seq[string]) func(string) bool {
		dirs, first := map[string]bool{}, ""
		for name := range names {
			if !within(below, name) {
				continue
			}
			first = cmp.Or(first, name)
			if isManifest(name) && len(dirs) < walk.MaxDirs {
				dirs[path.Dir(name)] = true
			}
		}
		return func(name string) bool {
			return name == first || isDescription(name) || ofPlugin(name) || inOneOf(dirs, name)
		}
	}
}

// isManifest reports whether a file is the SKILL.md of a folder.
func isManifest(name string) bool {
	base := path.Base(name)
	return base == walk.Manifest || base == walk.LowerManifest
}

// isDescription reports whether a file describes a skill or a list of skills.
func isDescription(name string) bool {
	return isManifest(name) || name == marketplaceFile
}

// walk looks for skills below a folder, as a catalogue does below its root.
func (f *finder) walk(ctx context.Context, dir string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if f.dirs++; f.dirs > walk.MaxDirs {
		f.left = append(f.left, fmt.Sprintf("%s: more than %d folders", dir, walk.MaxDirs))
		return nil
	}
	entries, err := fs.ReadDir(f.fsys, dir)
	if err != nil {
		return err
	}
	var folders []string
	for _, e := range entries {
		switch name := e.Name(); {
		case name == walk.Manifest && e.Type().IsRegular():
			f.file[dir] = name
		case name == walk.LowerManifest && e.Type().IsRegular() && f.file[dir] == "":
			f.file[dir] = name
		case strings.EqualFold(name, walk.Manifest) && e.Type().IsRegular():
			f.left = append(f.left, fmt.Sprintf("%s: the name must be %s", path.Join(dir, name), walk.Manifest))
		case e.IsDir() && walk.Searched(path.Base(dir), name):
			folders = append(folders, name)
		case e.IsDir() && strings.HasPrefix(name, ".") && !filename.IsRepository(name):
			f.hidden = append(f.hidden, path.Join(dir, name))
		}
	}
	isSkill := f.file[dir] != ""
	if isSkill && !walk.Collection(dir, dir == ".") { // what is below belongs to this skill
		return nil
	}
	for _, name := range folders {
		if isSkill && walk.Part(name) {
			continue
		}
		if depth == walk.MaxDepth {
			f.left = append(f.left, fmt.Sprintf("%s: more than %d levels deep", path.Join(dir, name), walk.MaxDepth))
			continue
		}
		if err := f.walk(ctx, path.Join(dir, name), depth+1); err != nil {
			return err
		}
	}
	return nil
}

// Bounds of what is looked at in hidden folders that are not searched.
const (
	mostHidden        = 5      // levels
	mostHiddenEntries = 10_000 // files and folders, in all
)

// unsearched returns the hidden folders that are not searched and have a manifest in or below them.
func (f *finder) unsearched(ctx context.Context) (out []string) {
	seen := 0
	for _, dir := range f.hidden {
		_ = fs.WalkDir(f.fsys, dir, func(p string, e fs.DirEntry, err error) error { // what cannot be listed has none
			seen++
			switch {
			case ctx.Err() != nil || seen > mostHiddenEntries:
				return fs.SkipAll
			case err == nil && e.IsDir() && strings.Count(p, "/")-strings.Count(dir, "/") > mostHidden:
				return fs.SkipDir
			case err == nil && e.Name() == walk.Manifest && e.Type().IsRegular():
				out = append(out, dir)
				return fs.SkipAll
			}
			return nil
		})
	}
	return out
}

// read reads the manifest of a skill.
func (f *finder) read(dir, name string) (*Candidate, error) {
	file, err := f.fsys.Open(path.Join(dir, name))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxManifest {
		return nil, fmt.Errorf("more than %d bytes", maxManifest)
	}
	o := &manifest.Options{File: name, Profile: f.profile, Summary: true}
	if dir != "." {
		o.Dir = path.Base(dir)
	}
	c := &Candidate{Path: dir, File: name}
	c.Manifest, c.Problems = manifest.Parse(text, o)
	return c, nil
}

// ChoiceError says why names do not choose among the skills of a place.
type ChoiceError struct {
	Name    string   // that was asked for; "" if none was
	Paths   []string // that have skills of this name, if there are several
	Suggest []string // names of skills that it may stand for
	Count   int      // of the skills there are
}

// Error says what was asked for and what there is.
func (e *ChoiceError) Error() string {
	switch {
	case e.Count == 0:
		return "there is no skill: no folder has a SKILL.md"
	case e.Name == "":
		return fmt.Sprintf("there are %d skills, and none was chosen", e.Count)
	case len(e.Paths) > 0:
		return fmt.Sprintf("skill %q is there %d times: %s", e.Name, len(e.Paths), strings.Join(e.Paths, ", "))
	}
	return fmt.Sprintf("none of the %d skills is called %q", e.Count, e.Name)
}

// Choose returns the skills with the given names, or the only one there is if names is empty. Of several skills of one name
// it takes the one outside hidden folders, and of those the one nearest to the root. An error is a *ChoiceError.
func Choose(all []*Candidate, names []string) ([]*Candidate, error) {
	if len(names) == 0 {
		if len(all) == 1 {
			return all, nil
		}
		return nil, &ChoiceError{Count: len(all)}
	}
	var out []*Candidate
	for _, name := range names {
		c, err := chooseOne(all, name)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	return out, nil
}

func chooseOne(all []*Candidate, name string) (*Candidate, error) {
	var same []*Candidate
	var known []string
	for _, c := range all {
		known = append(known, c.Manifest.Name)
		if manifest.Canonical(c.Manifest.Name) == manifest.Canonical(name) {
			same = append(same, c)
		}
	}
	if len(same) == 0 {
		slices.Sort(known)
		known = slices.Compact(known)
		return nil, &ChoiceError{Name: name, Count: len(known), Suggest: near.Names(name, known)}
	}
	nearestFirst(same)
	if len(same) > 1 && distance(same[0].Path) == distance(same[1].Path) {
		e := &ChoiceError{Name: name, Count: len(all)}
		for _, c := range same {
			e.Paths = append(e.Paths, c.Path)
		}
		return nil, e
	}
	return same[0], nil
}

func nearestFirst(list []*Candidate) {
	slices.SortStableFunc(list, func(a, b *Candidate) int { return cmp.Compare(distance(a.Path), distance(b.Path)) })
}

// Unique returns the skills of which each name is there once, those that Choose takes for their names or the first of those
// between which it does not choose, and the paths of the others.
func Unique(all []*Candidate) (out []*Candidate, others []string) {
	same := map[string][]*Candidate{}
	for _, c := range all {
		name := manifest.Canonical(c.Manifest.Name)
		same[name] = append(same[name], c)
	}
	for _, list := range same {
		nearestFirst(list)
	}
	for _, c := range all {
		if same[manifest.Canonical(c.Manifest.Name)][0] == c {
			out = append(out, c)
		} else {
			others = append(others, c.Path)
		}
	}
	return out, others
}

// distance orders the paths of skills with one name: hidden folders are farther than any others.
func distance(dir string) int {
	n := strings.Count(dir, "/")
	if strings.HasPrefix(dir, ".") && dir != "." || strings.Contains(dir, "/.") {
		n += 1000
	}
	return n
}

// within reports whether a slash path is in a folder; "." has all paths.
func within(dir, name string) bool { return dir == "." || strings.HasPrefix(name, dir+"/") }

// leftOut returns what the snapshot left out of the places that satisfy in. A line begins with a path.
func (p *Place) leftOut(in func(line string) bool) []string {
	if p.snapshot.LeftOut == nil {
		return nil
	}
	var out []string
	for _, line := range p.snapshot.LeftOut() {
		if in(line) {
			out = append(out, line)
		}
	}
	return out
}

// Others returns what the place has and was not read, and why, except for what is below the folders of the skills.
func (p *Place) Others(skills ...*Candidate) []string {
	return append(slices.Clone(p.LeftOut), p.leftOut(func(line string) bool {
		return !slices.ContainsFunc(skills, func(c *Candidate) bool { return within(c.Path, line) })
	})...)
}
