package scan

import (
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// fetches is a text in quotes in which a program is got and run after something else.
var fetches = lazyregexp.New(`["'\x60]([^"'\x60\n]{1,300}?)(?:&&|\|\||;|\||&|\\n|\$\()\s*(?:sudo\s+)?(?:wget|curl|iwr|certutil|bitsadmin)\s[^"'\x60\n]{0,300}(?:&&?|;|\|)\s*` +
	`(?:sudo\s+)?(?:(?:ba|z|da)?sh|python3?|node|perl|chmod|source|\.|\./\S+)\b`)

// planted finds commands that stand in a value which is no command, so that a model puts them into one.
func (r *reader) planted(at int, f *fence, place fact.Place) {
	for i, l := range f.lines {
		m := fetches().FindStringSubmatchIndex(l)
		if m == nil || startsCommand(l[m[2]:m[3]]) {
			continue
		}
		place.Line = f.line + i
		r.found = append(r.found, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: "a command in a value", Detail: l[m[0]+1 : min(m[1], m[0]+200)], Place: place, Role: f.role})
	}
}

// startsCommand reports whether a text begins like a command.
func startsCommand(text string) bool {
	words := strings.Fields(text)
	if len(words) == 0 {
		return true
	}
	first := words[0]
	return isCommand(text+" -") || strings.ContainsAny(first, "=$/") || strings.Contains(" apt apt-get apk yum dnf brew cd set export mkdir test if for while [ [[ ", " "+first+" ")
}
