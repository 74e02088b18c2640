package scan

import (
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// contacts adds the hosts of the services that modules and programs are for: nothing says that they are asked, so they are guesses.
func (r *reader) contacts() {
	for i := range r.r.Facts {
		f := r.r.Facts[i]
		hosts := ""
		switch {
		case f.Kind == fact.Imports && f.Object == fact.Module:
			hosts = serviceOf(f.Name, f.Detail)
		case f.Kind == fact.Runs && f.Object == fact.Program:
			hosts = fetchedBy(f.Name, strings.Fields(f.Detail))
		}
		for host := range strings.FieldsSeq(hosts) {
			r.r.Facts = append(r.r.Facts, fact.Fact{Kind: fact.Sends, Object: fact.Host, Name: host, Detail: "https://" + host + "/", Place: f.Place, Maybe: true})
		}
	}
}

// fetchedBy returns the hosts that a program contacts, by the words of its command.
func fetchedBy(name string, words []string) string {
	if len(words) > 3 && words[1] == "-m" { // python3 -m pip
		name, words = words[2], words[2:]
	}
	for _, w := range words[min(1, len(words)):] {
		switch {
		case w == "-h" || w == "--help" || w == "-v" || w == "--version":
			return ""
		case !strings.HasPrefix(w, "-"):
			hosts, ok := named("program", name+"/"+w)
			if !ok {
				hosts, _ = named("program", name+"/*")
			}
			return hosts
		}
	}
	return ""
}

// serviceOf returns the hosts behind a module, or what is imported from it.
func serviceOf(module, member string) string {
	if member != "" && !isNamed("module", module) {
		module += "." + member
	}
	for {
		if hosts, ok := named("module", module); ok {
			return hosts
		}
		at := strings.LastIndexByte(module, '.')
		if at < 0 {
			return ""
		}
		module = module[:at]
	}
}

// readsVariable matches what reads a variable in most languages: the name, and what shows that it is set in place of read.
var readsVariable = lazyregexp.New("(?i)(?:(?:\\b_?(?:environb?|env)(?:\\?\\.)?\\s*\\[\\s*|\\$env\\{\\s*|\\b(?:getenvb?|environb?\\s*\\.\\s*(?:get|pop)|env\\.(?:get|has|fetch|key\\?|include\\?))[\\s(]\\s*|" +
	"\\benvvar\\s*=\\s*\\[?\\s*)[rbu]?[\"'`]([a-z_]\\w*)[\"'`]|(?:\\b(?:process|bun)\\.env(?:\\?\\.|!?\\.)|\\$\\{?env:|\\$env\\{\\s*)([a-z_]\\w*))\\s*[\\]}]?\\s*(=[=~>]?)?")

// guess adds what the text of a program shows that no grammar reads, or not all of it: the variables that it reads.
func (r *reader) guess(s *source) {
	place := s.place
	for i, line := range strings.Split(s.text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "#") {
			continue
		}
		place.Line = s.line + i
		for _, m := range readsVariable().FindAllStringSubmatch(line, -1) {
			if m[3] != "=" {
				r.found = append(r.found, fact.Fact{Kind: fact.Reads, Object: fact.Variable, Name: m[1] + m[2], Place: place, Maybe: true})
			}
		}
	}
}
