package models_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/llm"
)

// issue 26.5: every fact of the table makes sense, and the default models are in it.
func TestFacts(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range models.All() {
		words := strings.Fields(f.Efforts)
		sound := f.Window >= 100_000 && f.Answer >= 8_192 && f.Answer < f.Window && f.Prices.Input > 0 && f.Prices.Output > f.Prices.Input &&
			f.Prices.CacheRead < f.Prices.Input && f.Source != "" && len(f.Date) == 10 && !seen[f.Name] && (f.Form != "" || len(words) == 0)
		if !sound {
			t.Errorf("%+v", f)
		}
		if f.Usual != "" && len(words) > 0 && !slices.Contains(words, f.Usual) {
			t.Errorf("%s: the usual effort %q is not among %q", f.Name, f.Usual, words)
		}
		for i, w := range words {
			if at := slices.Index(models.Efforts(), w); at < 0 || i > 0 && at <= slices.Index(models.Efforts(), words[i-1]) {
				t.Errorf("%s: efforts %q", f.Name, words)
			}
		}
		seen[f.Name] = true
	}
	keys := map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
	for _, name := range []string{"anthropic", "openai", "gemini"} {
		found, err := finder(keys).Find(t.Context(), name)
		if err != nil || found.Facts.Window < 1_000_000 || found.Facts != finder(keys).FactsFor(name) {
			t.Errorf("%s: %+v, %v", name, found, err)
		}
	}
	if got := finder(keys).FactsFor(""); got.Name != "claude-sonnet-5-5" {
		t.Errorf("got %+v", got)
	}
}

// A name means a model also with the date of a version, and no other.
func TestFactsOf(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-5": "gpt-5", "gpt-5-2025-08-07": "gpt-5", "claude-opus-4-5-20251101": "claude-opus-4-5", "models/gemini-2.5-pro": "gemini-2.5-pro",
		"gpt-5.1-codex-max": "gpt-5.1-codex-max", "gpt-5-turbo": "", "claude-opus-4-5-5": "", "qwen3": "", "": "", "gpt-5-12": "",
	} {
		if f, ok := models.FactsOf(name); f.Name != want || ok != (want != "") {
			t.Errorf("%s: got %q, want %q", name, f.Name, want)
		}
	}
}

// issue 26.5: an effort in the form that the model takes; one that it does not have says which it has.
func TestWithEffort(t *testing.T) {
	env := map[string]string{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}
	for _, c := range []struct {
		model, word string
		want        llm.Effort
		problem     string
	}{
		{"anthropic/claude-opus-5-5", "xhigh", llm.Effort{Level: "xhigh"}, ""},
		{"anthropic/claude-haiku-4-5", "medium", llm.Effort{Budget: 8192}, ""},
		{"anthropic/claude-haiku-4-5", "max", llm.Effort{}, "its efforts are low, medium, high"},
		{"openai/gpt-5.1", "none", llm.Effort{Level: "none"}, ""},
		{"openai/gpt-5", "none", llm.Effort{}, "its efforts are minimal, low, medium, high"},
		{"openai/gpt-4o", "low", llm.Effort{}, "leave out --effort"},
		{"gemini/gemini-2.5-pro", "high", llm.Effort{Budget: 24576}, ""},
		{"gemini/gemini-3.5-flash", "high", llm.Effort{Level: "high"}, ""},
		{"ollama/qwen3", "high", llm.Effort{Level: "high"}, ""},
		{"ollama/qwen3", "huge", llm.Effort{}, "an effort is none, minimal"},
		{"anthropic/claude-haiku-5-5", "max", llm.Effort{Level: "max"}, ""},
		{"replay/demo", "high", llm.Effort{}, ""},
		{"openai/gpt-4o", "", llm.Effort{}, ""},
	} {
		found, err := finder(env).Find(t.Context(), c.model)
		if err != nil {
			t.Fatal(err)
		}
		got, err := found.WithEffort(c.word)
		var bad *models.NameError
		if errors.As(err, &bad) != (c.problem != "") || bad != nil && !strings.Contains(bad.Cure, c.problem) || got != c.want {
			t.Errorf("%s, %s: got %+v, %v", c.model, c.word, got, err)
		}
	}
}
