package scan

import (
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// services are the hosts behind packages and modules of one service.
var services = map[string]string{
	"openai": "api.openai.com", "anthropic": "api.anthropic.com", "@anthropic-ai/sdk": "api.anthropic.com",
	"google.genai": "generativelanguage.googleapis.com", "google.generativeai": "generativelanguage.googleapis.com", "@google/genai": "generativelanguage.googleapis.com",
	"github": "api.github.com", "@octokit/rest": "api.github.com", "stripe": "api.stripe.com", "notion_client": "api.notion.com", "@notionhq/client": "api.notion.com",
	"slack_sdk": "slack.com", "@slack/web-api": "slack.com", "tavily": "api.tavily.com", "exa_py": "api.exa.ai", "replicate": "api.replicate.com",
	"yfinance": "query1.finance.yahoo.com query2.finance.yahoo.com fc.yahoo.com", "huggingface_hub": "huggingface.co", "transformers": "huggingface.co",
}

// Hosts of the registries of packages.
const (
	npmHosts  = "registry.npmjs.org"
	pypiHosts = "pypi.org files.pythonhosted.org"
)

// fetchers are the programs that contact a service with certain first words, "*" for any.
var fetchers = map[string]struct{ words, hosts string }{
	"gh":   {"*", "api.github.com github.com"},
	"npm":  {"install i ci add view info show search outdated update exec", npmHosts},
	"pnpm": {"install i add view info update dlx", npmHosts}, "yarn": {"install add info up dlx", npmHosts}, "bun": {"install i add update x", npmHosts},
	"npx": {"*", npmHosts}, "bunx": {"*", npmHosts}, "pnpx": {"*", npmHosts},
	"pip": {"install download", pypiHosts}, "pip3": {"install download", pypiHosts}, "pipx": {"install run upgrade", pypiHosts},
	"uv": {"add sync lock pip tool", pypiHosts}, "uvx": {"*", pypiHosts},
}

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
	by := fetchers[name]
	for _, w := range words[min(1, len(words)):] {
		switch {
		case isOneOf("-h --help -v --version", w):
			return ""
		case !strings.HasPrefix(w, "-") && (by.words == "*" || isOneOf(by.words, w)):
			return by.hosts
		case !strings.HasPrefix(w, "-"):
			return ""
		}
	}
	return ""
}

// serviceOf returns the hosts behind a module, or what is imported from it.
func serviceOf(module, member string) string {
	if member != "" && services[module] == "" {
		module += "." + member
	}
	for {
		if hosts := services[module]; hosts != "" {
			return hosts
		}
		at := strings.LastIndexByte(module, '.')
		if at < 0 {
			return ""
		}
		module = module[:at]
	}
}

func isOneOf(words, word string) bool { return strings.Contains(" "+words+" ", " "+word+" ") }

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
