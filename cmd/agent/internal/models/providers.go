package models

import (
	"net/http"
	"slices"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
	"github.com/agent-base/agent-base/llm/gemini"
	"github.com/agent-base/agent-base/llm/openai"
)

// provider is one row of the table of providers.
type provider struct {
	name     string
	keys     []string // variables with its key; the first that is set counts
	base     []string // variables with its address
	url      string   // its address if none is set; "" means the default of the protocol's package
	model    string   // its default model; "" means the first that it lists
	needsKey bool     // unless its address is set
	family   string   // how the names of its models begin
	short    map[string]string
	protocol string // how it is asked, for users
	open     func(*wire) (llm.Model, error)
}

// wire is what is needed to open a model.
type wire struct {
	name, key, base string
	answer          int // tokens of its longest answer; 0: not known
	http            *http.Client
}

// providers lists the providers in the order in which they are tried if no model is named.
var providers = []provider{
	{name: "anthropic", keys: []string{"ANTHROPIC_API_KEY"}, base: []string{"ANTHROPIC_BASE_URL"}, model: "claude-sonnet-5-5", needsKey: true, family: "claude",
		short: map[string]string{"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}, protocol: "Messages", open: openAnthropic},
	{name: "openai", keys: []string{"OPENAI_API_KEY"}, base: []string{"OPENAI_BASE_URL"}, model: "gpt-6.1-terra", needsKey: true, family: "gpt", protocol: responses, open: openResponses},
	{name: "gemini", keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, base: []string{"GOOGLE_GEMINI_BASE_URL"}, model: "gemini-3.5-flash", needsKey: true, family: "gemini", protocol: "generateContent", open: openGemini},
	{name: "openrouter", keys: []string{"OPENROUTER_API_KEY"}, url: "https://openrouter.ai/api/v1", needsKey: true, protocol: chat, open: openChat},
	{name: "chat", keys: []string{"OPENAI_API_KEY"}, base: []string{"OPENAI_BASE_URL"}, needsKey: true, protocol: chat, open: openChat},
	{name: "ollama", url: "http://127.0.0.1:11434/v1", protocol: chat, open: openChat},
	{name: "lmstudio", url: "http://127.0.0.1:1234/v1", protocol: chat, open: openChat},
	{name: "llamacpp", url: "http://127.0.0.1:8080/v1", protocol: chat, open: openChat},
	{name: "vllm", url: "http://127.0.0.1:8000/v1", protocol: chat, open: openChat},
}

// Protocols of OpenAI and of servers that are compatible with it.
const (
	responses = "Responses"
	chat      = "Chat Completions"
)

// Providers returns the names that may stand before the slash.
func Providers() []string {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	return append(names, "replay")
}

// Variables returns the environment variables with keys and addresses of providers.
func Variables() []string {
	var out []string
	for _, p := range providers {
		for _, v := range slices.Concat(p.keys, p.base) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// find returns the provider with a name and whether there is one.
func find(name string) (provider, bool) {
	for _, p := range providers {
		if p.name == name {
			return p, true
		}
	}
	return provider{}, false
}

func openAnthropic(w *wire) (llm.Model, error) {
	return anthropic.New(&anthropic.Options{Key: w.key, BaseURL: w.base, Model: w.name, Answer: w.answer, HTTP: w.http})
}

func openGemini(w *wire) (llm.Model, error) {
	return gemini.New(&gemini.Options{Key: w.key, BaseURL: w.base, Model: w.name, HTTP: w.http})
}

func openResponses(w *wire) (llm.Model, error) {
	return openai.New(&openai.Options{Key: w.key, BaseURL: w.base, Model: w.name, HTTP: w.http}), nil
}

func openChat(w *wire) (llm.Model, error) {
	return openai.NewChat(&openai.Options{Key: w.key, BaseURL: w.base, Model: w.name, HTTP: w.http}), nil
}
