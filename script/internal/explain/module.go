package explain

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/want"
)

// missingModule is the cause of an Error with the reason ReasonModule: a script imports a module that is not installed.
type missingModule struct {
	Module  string   // as the interpreter names it
	Package string   // what has it; "" if the module belongs to the skill or to the language
	Guess   bool     // nothing but the name of the module says that Package has it
	File    string   // of the skill, where the package can be declared
	Python  bool     // else JavaScript or TypeScript
	Outside string   // where it lies near the skill and not in it, an absolute path; then Package is ""
	Around  string   // the nearest folder that holds it and the skill
	Linked  string   // where a link in the skill leads that has its name, an absolute path outside of the skill
	Others  []string // what the script imports too and is not installed: modules of Python, or npm packages

	foreign string // the language that it is for, if no packages of that are prepared

	own   bool // the skill has a file of that name
	apart bool // the script looks outside of its skill, of which only its own folder was installed
}

// Error says what is missing and where it can be declared.
func (m *missingModule) Error() string {
	switch {
	case m.Outside != "":
		return fmt.Sprintf("The module %s is missing. It is in %s, outside of the skill, whose scripts see only its own files", m.Module, m.Outside)
	case m.Linked != "":
		return fmt.Sprintf("The module %s is missing. In the skill it is a link to %s, outside of it, which its scripts do not see: replace it by a copy", m.Module, m.Linked)
	case m.apart:
		return fmt.Sprintf("The module %s is missing. It may be outside of the skill's folder, %s", m.Module, onlyFolder)
	case m.own:
		return fmt.Sprintf("The module %s is missing, although the skill has a file of that name: it is not where the interpreter looks", m.Module)
	case m.foreign != "":
		return fmt.Sprintf("The module %s is missing. Packages of %s are not prepared for skills: the skill can bring the module, or it has to be on this machine", m.Module, m.foreign)
	case m.Package == "":
		return fmt.Sprintf("The module %s is missing: it is part of the language, but the installed interpreter does not have it", m.Module)
	}
	text := fmt.Sprintf("The module %s is missing. The package %s has it: %s can declare it", m.Module, m.Package, m.File)
	switch {
	case m.Guess:
		text = fmt.Sprintf("The module %s is missing. Nothing says which package has it: if it is %s, %s can declare it", m.Module, m.Package, m.File)
	case m.Package == m.Module:
		text = fmt.Sprintf("The package %s is missing: %s can declare it", m.Package, m.File)
	}
	if len(m.Others) > 0 {
		text += ". These that it imports are not installed either: " + strings.Join(m.Others, ", ")
	}
	return text
}

// wants returns the packages, or the folder around the skill that has the module.
func (m *missingModule) wants() want.Set {
	switch {
	case m.Outside != "", m.Linked != "":
		return aroundOf(m.Around)
	case m.Package == "":
		return nil
	case !m.Python:
		return Packages(append([]string{want.NPM + m.Package}, prefixed(m.Others)...)...)
	}
	w := want.Want{Kind: want.Package, Name: m.Package, From: want.Refused}
	if m.Guess {
		w.From = want.Seen
	}
	return Packages(m.Others...).Add(w)
}

// prefixed returns npm packages with their prefix.
func prefixed(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = want.NPM + name
	}
	return out
}

// Packages returns the packages of modules that scripts import: those of Python by the names of the modules, and npm packages with the
// prefix want.NPM. A package that is only a guess by the name of its module is from want.Seen: anybody may have published it.
func Packages(modules ...string) want.Set {
	var out want.Set
	for _, name := range modules {
		w := want.Want{Kind: want.Package, Name: name, From: want.Refused}
		if !strings.HasPrefix(name, want.NPM) {
			if w.Name = survey.Package(name); survey.Guess(name) {
				w.From = want.Seen
			}
		}
		out = append(out, w)
	}
	return want.New(out...)
}

const mostOthers = 20 // modules that a missingModule has in addition to its own

// completeModule finds out what else there is to say about a module that is missing.
func (r *Run) completeModule(ctx context.Context, m *missingModule) {
	if m.Python && m.Package != "" {
		m.Around, m.Outside = r.outside(ctx, m.Module)
		m.apart = m.Guess && r.isAlone(ctx) && r.looksAbove() > 0
	}
	if m.own {
		m.Around, m.Linked = r.linkedModule(ctx, m.Module)
	}
	if m.Outside != "" || m.apart {
		m.Package, m.Guess, m.File = "", false, ""
	}
	if m.Others = r.others(m); m.Python && len(m.Others) > 0 {
		m.Others = withoutShared(m.Others, r.folderAbove(ctx))
	}
}

// others returns what a script that failed for want of the module m imports too and is not installed.
func (r *Run) others(m *missingModule) []string {
	if m.Package == "" {
		return nil
	}
	found := slices.DeleteFunc(r.Lacking(m.Python), func(name string) bool {
		return name == m.Module || name == m.Package || m.Python && survey.Package(name) == m.Package
	})
	if len(found) == 0 {
		return nil
	}
	return found[:min(len(found), mostOthers)]
}

// pipAdvice matches a command that installs packages, as a text or, as Python shows a command that failed, as a list.
var pipAdvice = lazyregexp.New(`\b(?:pip3? install|uv run --with|uv add|pip3?', 'install',) ([A-Za-z0-9._ \[\]',-]{1,200})`)

// missing recognises a failure because a module is not installed. It returns nil for another one.
func (r *Run) missing() *missingModule {
	text := survey.Beginning(r.Skill.FS(), r.Script.File)
	lang := survey.LanguageIn(r.Script.File, text)
	if lang == survey.Python {
		return r.missingInPython()
	}
	if c := survey.CalledBy(r.Skill.FS(), r.Script.File, text); c != nil && (c.More || len(c.Files)+len(c.Code) > 0) {
		if m := r.missingInPython(); m != nil {
			return m
		}
	}
	row := lang.Row()
	if row.Missing == nil || row.ID == survey.Shell {
		row = survey.JavaScript.Row()
	}
	found := row.Missing().FindSubmatch(r.Out.Stderr)
	if found == nil {
		return nil
	}
	name := string(found[1])
	if row.Packages == "" {
		return &missingModule{Module: name, foreign: row.Name}
	}
	p := survey.NodePackage(name)
	if p == "" {
		return nil // a file
	}
	if survey.JavaScript.Brings(p) {
		return &missingModule{Module: name}
	}
	return &missingModule{Module: name, Package: p, File: "package.json"}
}

func (r *Run) missingInPython() *missingModule {
	m := &missingModule{Python: true}
	if found := survey.Python.Row().Missing().FindAllSubmatch(r.Out.Stderr, -1); found != nil {
		m.Module = string(found[len(found)-1][1])
	} else if m.Module = r.advised(); m.Module == "" {
		return nil
	}
	if survey.SharedName(m.Module) {
		m.Module = firstOf(m.Module, r.Imports())
	}
	switch {
	case survey.HasModule(r.Skill.FS(), m.Module):
		m.own = true
	case survey.Python.Brings(m.Module):
	default:
		m.Package, m.File = survey.Package(m.Module), r.declaredIn()
		m.Guess = survey.Guess(m.Module) && !advises(m.Package, r.Out.Stderr, r.Out.Stdout, r.Skill.Text())
	}
	return m
}

// firstOf returns the first import below a name that the modules of several packages begin with, or the name.
func firstOf(name string, imports []string) string {
	for _, module := range imports {
		if strings.HasPrefix(module, name+".") {
			return module
		}
	}
	return name
}

// advised returns the module of a script that says itself, in place of Python's error, how to install its package.
func (r *Run) advised() string {
	found := pipAdvice().FindSubmatch(slices.Concat(r.Out.Stderr, r.Out.Stdout))
	if found == nil {
		return ""
	}
	for _, name := range packagesIn(found[1]) {
		for _, module := range r.Imports() {
			if pyenv.SamePackage(name, survey.Package(module)) || pyenv.SamePackage(name, module) {
				return module
			}
		}
	}
	return ""
}

// packagesIn returns the words that pipAdvice found.
func packagesIn(found []byte) []string {
	return strings.FieldsFunc(string(found), func(r rune) bool { return strings.ContainsRune(" ',", r) })
}

// advises reports whether one of the texts says how to install a package.
func advises(name string, texts ...[]byte) bool {
	for _, text := range texts {
		for _, found := range pipAdvice().FindAllSubmatch(text, -1) {
			if slices.ContainsFunc(packagesIn(found[1]), func(said string) bool { return pyenv.SamePackage(said, name) }) {
				return true
			}
		}
	}
	return false
}

// declaredIn returns where a script's packages are declared, or can be.
func (r *Run) declaredIn() string {
	needs := &pyenv.Needs{}
	if text, err := r.Skill.ReadFile(r.Script.File); err == nil {
		if block, err := pyenv.ParseBlock(text); err == nil && block != nil {
			needs = block
		} else if declared, err := pyenv.Declared(r.Skill.FS(), r.Script.File); err == nil {
			needs = declared
		}
	}
	return cmp.Or(needs.From, "requirements.txt")
}
