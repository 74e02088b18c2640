package manifest

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/agent-base/agent-base/internal/naming"
)

// simpleName reports whether a name is valid in every profile: a-z, 0-9 and single hyphens, beginning with a letter.
func simpleName(name string) bool {
	if name == "" || len(name) > MaxName || name[0] < 'a' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && (c != '-' || name[i-1] == '-') {
			return false
		}
	}
	return !reservedName(name)
}

// script says which letters a profile allows in names.
type script uint8

const (
	anyScript script = iota // those of every script
	reference               // those that the reference library of the open standard accepts
	latin                   // a-z
)

func (p *Profile) script() script {
	switch p.column() {
	case 0:
		return anyScript
	case specProfile:
		return reference
	}
	return latin
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
	letters := p.Profile.script()
	p.m.Name = name
	switch letters {
	case reference:
		name = norm.NFKC.String(name)
	case anyScript:
		name = norm.NFC.String(name)
		p.m.Name = name
	}
	if bad := strings.IndexFunc(name, naming.Hidden); bad >= 0 && letters == anyScript {
		r, _ := utf8.DecodeRuneInString(name[bad:])
		p.problem("name-hidden", at, "the name has a character that nobody sees: %U", r)
	}
	replaced := !letters.usable(name)
	if replaced {
		p.m.Name = fallbackName(name, p.dir)
	}
	replaced = replaced && !p.Profile.Strict() // one problem says so: what else differs follows from it
	p.name = name
	for _, f := range nameFaults(name, letters) {
		if replaced && f.code == "name-case" {
			continue
		}
		p.Add(Problem{Code: f.code, Line: at.line, Col: at.col, Field: at.field, Message: f.message, Cure: p.nameCure(f.code, name)})
	}
	if !replaced {
		p.checkNameDirectory(name, at)
	}
}

// usable reports whether a skill can have a name.
func (s script) usable(name string) bool {
	return usableName(name) && (s != latin || naming.ASCII(name)) || s == reference && letterName(name)
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
		return fmt.Sprintf("choose a name of letters, digits and single hyphens; until then it is %q", p.m.Name)
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

// nameFaults lists the faults of a name that is neither empty nor padded. With reference it finds what the reference
// library of the open standard finds, in its order.
func nameFaults(name string, letters script) []nameFault {
	var out []nameFault
	add := func(code, format string, args ...any) {
		out = append(out, nameFault{code, fmt.Sprintf(format, args...)})
	}
	if n := utf8.RuneCountInString(name); n > MaxName {
		add("name-length", "the name has %d characters, at most %d are allowed", n, MaxName)
	} else if len(name) > maxNameBytes && letters == anyScript {
		add("name-length", "the name has %d bytes, at most %d are allowed", len(name), maxNameBytes)
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
	if bad := strings.IndexFunc(name, letters.lacks); bad >= 0 {
		r, _ := utf8.DecodeRuneInString(name[bad:])
		add("name-invalid", "the name %q has a character that names cannot have: %q", clip(name), r)
	} else if letters == reference && !naming.ASCII(name) {
		add("name-ascii", "the name %q has letters beyond a-z", clip(name))
	} else if naming.Mixed(name) {
		add("name-mixed", "the name %q has letters of two alphabets, which look like each other", clip(name))
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
		strings.IndexFunc(name, reference.lacks) < 0 && !reservedName(name)
}

// lacks reports whether names cannot have r.
func (s script) lacks(r rune) bool {
	switch {
	case r < utf8.RuneSelf || s == anyScript:
		return notInName(r)
	case s == reference:
		return !unicode.IsLetter(r) && !unicode.IsNumber(r)
	}
	return true
}

// clip limits the length of an untrusted text inside a message.
func clip(s string) string {
	const most = 100
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
