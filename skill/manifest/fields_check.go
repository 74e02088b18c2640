package manifest

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/draft"
)

// Limits for texts, in code points.
const (
	maxDescription   = 1024
	wideDescription  = 500
	maxCompatibility = 500
	maxBrief         = 80
)

// checkDescription checks whether somebody has written the description, and its length as written: surrounding white space counts.
func (p *parser) checkDescription(written string, at place) {
	if draft.IsDescription(written) {
		p.problem("description-unwritten", at, "the description is still that of a template")
	}
	if len(written) <= wideDescription {
		return
	}
	n := utf8.RuneCountInString(strings.TrimSuffix(written, "\n")) // without the final line break of every block scalar
	switch {
	case n > maxDescription && p.Profile.Severity("description-length") != SeverityOff:
		p.problem("description-length", at, "the description has %d characters, at most %d are allowed", n, maxDescription)
	case n > wideDescription:
		p.problem("description-long", at, "the description has %d characters, at most %d are advised", n, wideDescription)
	}
}

func (p *parser) checkCompatibility(at place, text string) {
	switch n := utf8.RuneCountInString(text); {
	case n == 0:
		p.problem("compatibility-empty", at, "compatibility has no text")
	case n > maxCompatibility:
		p.problem("compatibility-length", at, "compatibility has %d characters, at most %d are allowed", n, maxCompatibility)
	}
}

func (p *parser) checkVersion(at place, text string) {
	if text != "" && !strictVersion(text) {
		p.problem("version-semver", at, "%q is not a semantic version", clip(text))
	}
}

// checkBound checks min_agent_base_version and max_agent_base_version.
func (p *parser) checkBound(at place, text string) {
	if _, ok := parseVersion(text); !ok {
		p.reject(at.field)
		p.problem("version-bounds", at, "%q is not a version", clip(text))
	}
}

func (p *parser) checkContext(at place, text string) {
	if text != "" && text != "inherit" && text != "fork" {
		p.m.Context = ""
		p.reject(at.field)
		p.problem("field-value", at, "context is %q, it must be \"inherit\" or \"fork\"", clip(text))
	}
}

func (p *parser) checkBrief(at place, text string) {
	if n := utf8.RuneCountInString(text); n > maxBrief {
		p.m.Brief = cutBrief(oneLine(text))
		p.problem("brief-length", at, "brief_description has %d characters, at most %d are shown", n, maxBrief)
	}
}

// finish sets what follows from other fields and reports missing fields.
func (p *parser) finish() {
	m := p.m
	if m.Version == "" {
		m.Version = m.Metadata["version"]
	}
	if m.Author == "" {
		m.Author = m.Metadata["author"]
	}
	m.Requires, m.RequiresEnv, m.RequiresAny, m.Systems = p.needs.commands, p.needs.variables, p.needs.any, p.needs.systems
	if len(m.Tags) == 0 {
		m.Tags = p.metaTags
	}
	if m.Brief == "" && !p.summary {
		m.Brief = Brief(m.Description)
	}
	if m.Model != "" && m.Context != "fork" {
		p.mark("model", StandingInformational) // only a fork changes the model
	}
	if m.Agent != "" && m.Context != "fork" {
		p.mark("agent", StandingInformational)
		p.problem("agent-context", place{line: p.text.first, field: "agent"}, "agent counts only with context: fork")
	}
	p.checkRequired()
}

// checkRequired reports all missing fields at once. A missing name is replaced by that of the directory, unless the
// profile requires one.
func (p *parser) checkRequired() {
	at := place{line: p.text.first - 1, col: 1}
	var missing []string
	if !p.named {
		missing = append(missing, "'name'")
		at.field = "name"
	}
	if p.m.Description == "" {
		missing = append(missing, "'description'")
		at.field = "description"
	}
	if len(missing) == 0 {
		return
	}
	for _, e := range p.entries { // the key without a value, if there is one
		if fieldName(e.key.Value) == at.field {
			at.line, at.col = e.line, e.col
		}
	}
	if p.m.Description != "" && !p.Profile.Strict() {
		p.m.Name = fallbackName("", p.dir)
		p.problem("name-missing", at, "the name is missing: the skill is called %q", p.m.Name)
		return
	}
	p.problem("fields-missing", at, "missing %s", strings.Join(missing, ", "))
}

// Brief returns the first sentence of a description in at most 80 characters.
func Brief(description string) string {
	var memory [(maxBrief + 2) * utf8.UTFMax]byte
	line := beginning(memory[:0], start(description))
	for i, c := range line {
		if (c == '.' || c == '!' || c == '?') && i+1 < len(line) && line[i+1] == ' ' && !abbreviation(string(line[:i])) {
			line = line[:i+1]
			break
		}
	}
	if len(line) <= maxBrief && strings.HasPrefix(description, string(line)) {
		return description[:len(line)]
	}
	return cutBrief(string(line))
}

// beginning appends to b at most the first 82 characters of s, with single spaces as the only white space. That is
// enough to see where the first sentence ends, or that it is too long.
func beginning(b []byte, s string) []byte {
	count, gap := 0, false
	for i, r := range s {
		if unicode.IsSpace(r) {
			gap = count > 0
			continue
		}
		if gap {
			b, gap = append(b, ' '), false
			count++
		}
		if count++; count > maxBrief+2 {
			break
		}
		size := utf8.RuneLen(r)
		if r == utf8.RuneError { // it may be a byte that is not UTF-8
			_, size = utf8.DecodeRuneInString(s[i:])
		}
		b = append(b, s[i:i+size]...)
	}
	return b
}

// start returns as much of s as Brief can need, cut between characters: a description may be as long as the front
// matter.
func start(s string) string {
	const enough = 16 * maxBrief // bytes; runs of spaces count, too, up to a point
	if len(s) <= enough {
		return s
	}
	end := enough
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end]
}

// abbreviation reports whether a full stop after s does not end a sentence: "e.g", "i.e", "etc".
func abbreviation(s string) bool {
	word := s[strings.LastIndexByte(s, ' ')+1:]
	word = strings.ToLower(strings.TrimLeft(word, "("))
	switch word {
	case "e.g", "i.e", "vs", "cf", "no", "approx", "incl":
		return true
	}
	return false
}

// cutBrief cuts s between words after at most 77 characters and adds "...", if s has more than 80.
func cutBrief(s string) string {
	count, end := 0, len(s)
	for i := range s {
		if count == maxBrief-len("...") {
			end = i
		}
		count++
	}
	if count <= maxBrief {
		return s
	}
	cut := s[:end]
	if i := strings.LastIndexByte(cut, ' '); i > 0 && s[end] != ' ' {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, " ,;:-") + "..."
}

// oneLine returns s with single spaces as its only white space, and no white space around it.
func oneLine(s string) string {
	before := byte(' ')
	for i := range len(s) {
		c := s[i]
		if c >= utf8.RuneSelf || c < ' ' || c == ' ' && before == ' ' {
			return strings.Join(strings.Fields(s), " ")
		}
		before = c
	}
	return strings.TrimSuffix(s, " ")
}
