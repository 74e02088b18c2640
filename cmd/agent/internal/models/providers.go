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
	keys     []string // variables that hold its key, the first that is set counts
	base     []string // variables that hold its address
	url      string   // its address where none is set; "" means the package's
	model    string   // which of its models, when none is named; "" means the first that it lists
	needsKey bool     // unless it has another address
	family   string   // how the names of its models begin
	short    map[string]string
	open     func(*wire) (llm.Model, error)
}

// wire is what a model is made of.
type wire struct {
	name, key, base string
	http            *http.Client
}

// providers in the order in which they are taken when no model is named.
var providers = []provider{
	{name: "anthropic", keys: []string{"ANTHROPIC_API_KEY"}, base: []string{"ANTHROPIC_BASE_URL"}, model: "claude-sonnet-5-5", needsKey: true, family: "claude",
		short: map[string]string{"haiku": "claude-haiku-5-5", "sonnet": "claude-sonnet-5-5", "opus": "claude-opus-5-5"}, open: openAnthropic},
	{name: "openai", keys: []string{"OPENAI_API_KEY"}, base: []string{"OPENAI_BASE_URL"}, model: "gpt-6.1-terra", needsKey: true, family: "gpt", open: openResponses},
	{name: "gemini", keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"}, base: []string{"GOOGLE_GEMINI_BASE_URL"}, model: "gemini-3.5-flash", needsKey: true, family: "gemini", open: openGemini},
	{name: "openrouter", keys: []string{"OPENROUTER_API_KEY"}, url: "https://openrouter.ai/api/v1", needsKey: true, open: openChat},
	{name: "chat", keys: []string{"OPENAI_API_KEY"}, base: []string{"OPENAI_BASE_URL"}, needsKey: true, open: openChat},
	{name: "ollama", url: "http://127.0.0.1:11434/v1", open: openChat},
	{name: "lmstudio", url: "http://127.0.0.1:1234/v1", open: openChat},
	{name: "llamacpp", url: "http://127.0.0.1:8080/v1", open: openChat},
	{name: "vllm", url: "http://127.0.0.1:8000/v1", open: openChat},
}

// Providers returns the names that --model knows before the slash.
func Providers() []string {
	var names []string
	for _, p := range providers {
		names = append(names, p.name)
	}
	return append(names, "replay")
}

// Variables returns the environment variables that hold keys and addresses of providers.
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

// find returns the provider of a name, and whether there is one.
func find(name string) (provider, bool) {
	for _, p := range providers {
		if p.name == name {
			return p, true
		}
	}
	return provider{}, false
}

func openAnthropic(w *wire) (llm.Model, error) {
	return anthropic.New(&anthropic.Options{Key: w.key, BaseURL: w.base, Model: w.name, HTTP: w.http})
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
