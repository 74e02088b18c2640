package check

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/manifest"
)

// checkOutside returns what is wrong with a path out of the skill. A file of another skill is not a problem.
func (v *validation) checkOutside(clean string) (code, fault string) {
	at := path.Join(v.rel, clean)
	switch {
	case v.root == nil && isSibling(clean):
		return "", ""
	case v.root == nil || !fs.ValidPath(at):
		return "reference-outside", "lies outside the skill"
	case !isThere(v.root, at):
		return "reference-missing", "does not exist"
	case v.inSkill(at):
		return "", ""
	}
	return "reference-outside", "lies outside the skill: it is missing where the skill is installed alone"
}

// isSibling reports whether a path leads to the folder next to the skill that another skill may have, or to a SKILL.md.
func isSibling(clean string) bool {
	return path.Base(clean) == "SKILL.md" || path.Dir(clean) == ".." && manifest.CheckName(path.Base(clean)) == nil
}

// inSkill reports whether a path of the root lies in the folder of a skill.
func (v *validation) inSkill(at string) bool {
	for ; at != "."; at = path.Dir(at) {
		if isThere(v.root, at+"/SKILL.md") || isThere(v.root, at+"/skill.md") {
			return true
		}
	}
	return false
}

// lineBefore returns where the line before the one at begin begins, or the last bytes of it if it is long.
func lineBefore(body string, begin int) int {
	if begin == 0 {
		return 0
	}
	return max(begin-mostBefore, strings.LastIndexByte(body[:begin-1], '\n')+1)
}

// Bounds of elsewhere.
const (
	mostBefore = 240 // bytes of the line before
	mostNames  = 12  // words that may be the names of skills
)

var (
	owner    = lazyregexp.New("(?:(\\S+) +)?(\\S+)['’]s +`+$")                                    // a possessive before code
	place    = lazyregexp.New("^`+ +(?:in|of|from) +the +`?[a-z0-9]+(?:-[a-z0-9]+)+`? +skill\\b") // the name of a skill after code
	linked   = lazyregexp.New("^`+\\]\\(([^)# ]+)")                                               // the target of the link whose text is code
	imported = lazyregexp.New(`\b(?:from|import|require|import\(|require\() ?\(?["']$`)           // an import of a program before its path
	inTicks  = lazyregexp.New("`([a-z0-9]+(?:-[a-z0-9]+)*)`")                                     // what may be the name of a skill, in code
	blank    = lazyregexp.New(`\[[A-Za-z][^\][]*\](?:[^(\[:]|$)`)                                 // a word to be filled in
)

// isOther reports whether a path that the skill does not have is, by what its line says, no file of it.
func (v *validation) isOther(line string, ref reference) bool {
	before, after := line[:ref.at], line[ref.at:]
	if ref.link {
		top, _, deep := strings.Cut(ref.target, "/")
		if !strings.Contains(ref.target, ".") && !slices.Contains(usual[:], top) {
			return !deep || !slices.ContainsFunc(v.top, func(d fs.DirEntry) bool { return d.Name() == top })
		}
		_, rest, _ := strings.Cut(after, ")")
		return blank().MatchString(rest)
	}
	rest := strings.TrimPrefix(after, ref.target)
	if m := linked().FindStringSubmatch(rest); m != nil && strings.HasSuffix(m[1], "/"+strings.TrimPrefix(ref.target, "./")) {
		return true // the short form of a link's target, which is a reference itself
	}
	if (strings.HasSuffix(before, `"`) || strings.HasSuffix(before, "'")) && imported().MatchString(before) {
		return true
	}
	if possessive(before) {
		if m := owner().FindStringSubmatch(before); m != nil {
			return m[2] != "skill" && m[2] != "plugin" || strings.Contains(m[1], "-")
		}
	}
	return place().MatchString(rest)
}

// possessive reports whether a text ends with a possessive before code, which few lines have: owner takes long to find that out.
func possessive(before string) bool {
	text := strings.TrimRight(before, "` ")
	return strings.HasSuffix(text, "'s") || strings.HasSuffix(text, "’s")
}

// elsewhere reports whether a path of code that the skill does not have is one of the repository: it is there below a folder above the
// skill, or in a skill next to it that the words before the path name.
func (v *validation) elsewhere(clean, before string) bool {
	if v.root == nil || v.rel == "." || !fs.ValidPath(clean) {
		return false
	}
	for dir := path.Dir(v.rel); ; dir = path.Dir(dir) {
		if isThere(v.root, path.Join(dir, clean)) {
			return true
		}
		if dir == "." {
			break
		}
	}
	beside, own := path.Split(v.rel)
	names := strings.FieldsFunc(before, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' })
	names = names[max(0, len(names)-mostNames):]
	for _, m := range inTicks().FindAllStringSubmatch(before, mostNames) {
		names = append(names, m[1])
	}
	for _, name := range names {
		if name != own && strings.Trim(name, "-") != "" && isThere(v.root, beside+name+"/"+clean) {
			return true
		}
	}
	return false
}

func isThere(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, name)
	return err == nil
}
