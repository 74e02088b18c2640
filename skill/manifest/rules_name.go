package manifest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// simpleName reports whether a name is valid in every profile: a-z, 0-9 and single hyphens, beginning with a letter.
func simpleName(name string) bool {
	if !usableName(name) || name[0] < 'a' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; c >= 'A' && c <= 'Z' || c == '_' || c == '-' && name[i-1] == '-' {
			return false
		}
	}
	return true
}

// checkNameRules reports the problems of the name in the manifest and decides the skill's name: as written if it can be
// used, else a fallback. at is the place of the name.
func (p *parser) checkNameRules(written string, at place) {
	if simpleName(written) {
		p.m.Name, p.name = written, written
		p.checkNameDirectory(written, at)
		return
	}
	name := strings.TrimSpace(written)
	unicodeNames := p.Profile.Severity("name-ascii") != SeverityOff
	if unicodeNames {
		name = norm.NFKC.String(name)
	}
	p.m.Name = strings.TrimSpace(written)
	replaced := !usableName(name) && !(unicodeNames && letterName(name))
	if replaced {
		p.m.Name = fallbackName(name, p.dir)
	}
	replaced = replaced && !p.Profile.Strict() // one problem says so: what else differs follows from it
	p.name = name
	for _, f := range nameFaults(name, unicodeNames) {
		if replaced && f.code == "name-case" {
			continue
		}
		p.Add(Problem{Code: f.code, Line: at.line, Col: at.col, Field: at.field, Message: f.message, Cure: p.nameCure(f.code, name)})
	}
	if !replaced {
		p.checkNameDirectory(name, at)
	}
}

func (p *parser) checkNameDirectory(name string, at place) {
	if p.dir == "" {
		return
	}
	if name == p.dir {
		return
	}
	same := Canonical(name) == Canonical(p.dir)
	if p.Profile.Severity("name-directory") == SeverityError {
		dir := p.dir
		if p.Profile.Severity("name-ascii") != SeverityOff {
			dir = norm.NFKC.String(dir)
		}
		same = name == dir
	}
	if !same {
		p.problem("name-directory", at, "the name is %q, but the directory is called %q", clip(name), clip(p.dir))
	}
}

// nameCure says by which name a skill is found, or suggests a better one.
func (p *parser) nameCure(code, name string) string {
	switch {
	case p.m.Name != name && !p.Profile.Strict():
		return fmt.Sprintf("choose a name of a-z, 0-9 and single hyphens; until then it is %q", p.m.Name)
	case code == "name-case" || code == "name-underscore" || code == "name-edge" || code == "name-double":
		return fmt.Sprintf("call it %q", suggestedName(name))
	}
	return ""
}

// suggestedName returns the name nearest to name that all hosts accept.
func suggestedName(name string) string {
	parts := strings.FieldsFunc(Canonical(name), func(r rune) bool { return r == '-' })
	return strings.Join(parts, "-")
}

type nameFault struct{ code, message string }

// nameFaults lists the faults of a name that is neither empty nor padded. With anyScript it finds what the reference
// library of the open standard finds, in its order.
func nameFaults(name string, anyScript bool) []nameFault {
	var out []nameFault
	add := func(code, format string, args ...any) {
		out = append(out, nameFault{code, fmt.Sprintf(format, args...)})
	}
	if n := utf8.RuneCountInString(name); n > MaxName {
		add("name-length", "the name has %d characters, at most %d are allowed", n, MaxName)
	}
	if name != strings.ToLower(name) {
		add("name-case", "the name %q has capital letters", clip(name))
	}
	if strings.HasPrefix(name, "-") || strings.HasSuffix(name, "-") {
		add("name-edge", "the name %q begins or ends with a hyphen", clip(name))
	}
	if strings.Contains(name, "--") {
		add("name-double", "the name %q has two hyphens in a row", clip(name))
	}
	if strings.ContainsRune(name, '_') {
		add("name-underscore", "the name %q has underscores", clip(name))
	}
	if bad := strings.IndexFunc(name, func(r rune) bool { return !nameRune(r, anyScript) }); bad >= 0 {
		r, _ := utf8.DecodeRuneInString(name[bad:])
		add("name-invalid", "the name %q has a character that names cannot have: %q", clip(name), r)
	} else if anyScript && !ascii(name) {
		add("name-ascii", "the name %q has letters beyond a-z", clip(name))
	}
	if c := name[0]; !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z') {
		add("name-letter", "the name %q does not begin with a letter", clip(name))
	}
	if reservedName(name) {
		add("name-reserved", "the name %q is reserved", clip(name))
	}
	return out
}

// letterName reports whether a normalised name is valid in the open standard: letters and digits of any script and
// hyphens.
func letterName(name string) bool {
	return utf8.RuneCountInString(name) <= MaxName && name != "" && name[0] != '-' && name[0] != '_' &&
		strings.IndexFunc(name, func(r rune) bool { return !nameRune(r, true) }) < 0 && !reservedName(name)
}

func nameRune(r rune, anyScript bool) bool {
	if r < utf8.RuneSelf {
		return nameByte(byte(r))
	}
	return anyScript && (unicode.IsLetter(r) || unicode.IsNumber(r))
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// clip limits the length of an untrusted text inside a message.
func clip(s string) string {
	const most = 100
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "..."
}
