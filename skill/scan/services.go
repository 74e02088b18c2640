package scan

import (
	"strings"

	"github.com/agent-base/agent-base/script/survey"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/want"
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

// guess adds what the text of a script shows that no grammar read. A language is named as package survey does.
func (r *reader) guess(lang survey.Language, text string, place fact.Place) {
	add := func(k fact.Kind, o fact.Object, name, detail string) {
		r.found = append(r.found, fact.Fact{Kind: k, Object: o, Name: name, Detail: detail, Place: place, Maybe: true})
	}
	for _, name := range survey.Variables(lang, []byte(text)).Named(want.Variable) {
		add(fact.Reads, fact.Variable, name, "")
	}
	c := survey.ContactsOf(lang, []byte(text))
	if !c.Network {
		return
	}
	for _, host := range c.Hosts.Named(want.Host) {
		name, _, _ := strings.Cut(host, ":")
		add(fact.Sends, fact.Host, name, "https://"+host+"/")
	}
	if len(c.Hosts) == 0 {
		add(fact.Sends, fact.Host, "", "")
	}
}
