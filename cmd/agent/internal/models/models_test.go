package models_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/llm"
)

// finder sees the given variables and no server of this machine.
func finder(env map[string]string) *models.Finder {
	return &models.Finder{Getenv: func(name string) string { return env[name] }, Local: []models.Server{},
		ReadFile: func(path string) ([]byte, error) { return nil, errors.New("open " + path + ": no such file") }}
}

// Which model a name means, and what is taken without one (issue 4.1).
func TestFind(t *testing.T) {
	type env = map[string]string
	for _, c := range []struct {
		name, ask    string
		env          env
		want, origin string
	}{
		{"by name", "anthropic/claude-x", env{"ANTHROPIC_API_KEY": "k"}, "anthropic/claude-x", ""},
		{"provider alone", "openai", env{"OPENAI_API_KEY": "k"}, "openai/gpt-6.1-terra", ""},
		{"slashes in the model's name", "openrouter/a/b:free", env{"OPENROUTER_API_KEY": "k"}, "openrouter/a/b:free", ""},
		{"local needs no key", "ollama/qwen3", nil, "ollama/qwen3", ""},
		{"a compatible server needs no key", "chat/m", env{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "chat/m", ""},
		{"the first key", "", env{"OPENAI_API_KEY": "k", "GEMINI_API_KEY": "k"}, "openai/gpt-6.1-terra", "OPENAI_API_KEY"},
		{"google's other variable", "", env{"GOOGLE_API_KEY": "k"}, "gemini/gemini-3.5-flash", "GOOGLE_API_KEY"},
		{"an address is enough", "", env{"ANTHROPIC_BASE_URL": "http://127.0.0.1:1"}, "anthropic/claude-sonnet-5-5", "ANTHROPIC_BASE_URL"},
		{"a replay by name", "replay/demo", env{"OPENAI_API_KEY": "k"}, "replay/demo", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := finder(c.env).Find(t.Context(), c.ask)
			if err != nil {
				t.Fatal(err)
			}
			if got.String() != c.want || got.Origin != c.origin {
				t.Errorf("got %s (%s), want %s (%s)", got, got.Origin, c.want, c.origin)
			}
		})
	}
}

func TestFindRefuses(t *testing.T) {
	for _, c := range []struct{ name, ask, want string }{
		{"no provider", "sonnet", `model "sonnet": no provider given`},
		{"a mistyped provider", "antropic/x", `model "antropic/x": unknown provider`},
		{"no key", "anthropic/x", "anthropic: no key: export ANTHROPIC_API_KEY"},
		{"no file", "replay/talk.jsonl", "no such file"},
		{"a replay of nothing", "replay", "no file given"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := finder(nil).Find(t.Context(), c.ask)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q in it", err, c.want)
			}
		})
	}
	_, err := finder(nil).Find(t.Context(), "claude-sonnet-5-5")
	var bad *models.NameError
	if !errors.As(err, &bad) || bad.Cure != `did you mean "anthropic/claude-sonnet-5-5"?` {
		t.Errorf("got %v (%+v)", err, bad)
	}
}

// Without a key, a file or a server there is no model, and the replay never answers by itself (issue 4.1).
func TestFindNone(t *testing.T) {
	if _, err := finder(nil).Find(t.Context(), ""); !errors.Is(err, models.ErrNone) {
		t.Errorf("got %v, want %v", err, models.ErrNone)
	}
	if n := strings.Count(models.Ways(), "\n") + 1; n != 4 {
		t.Errorf("the ways to a model are %d lines, want 4", n)
	}
}

// Of the servers that answer, the first in the order counts, not the fastest; one without a model does not (issue 4.1).
func TestFindLocal(t *testing.T) {
	list := func(body string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/v1/models" {
				http.NotFound(w, r)
				return
			}
			_, _ = w.Write([]byte(body))
		}))
		t.Cleanup(s.Close)
		return s.URL + "/v1"
	}
	f := finder(nil)
	f.Patience = 1 << 40
	f.Local = []models.Server{
		{Provider: "ollama", URL: list(`{"data":[]}`)},
		{Provider: "lmstudio", URL: list(`nonsense`)},
		{Provider: "llamacpp", URL: list(`{"data":[{"id":"first"},{"id":"second"}]}`)},
		{Provider: "vllm", URL: list(`{"data":[{"id":"other"}]}`)},
	}
	got, err := f.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != "llamacpp/first" || got.Origin != "a server at "+f.Local[2].URL || !got.Local {
		t.Errorf("got %s (%s)", got, got.Origin)
	}
}

// The model that a skill names for its run: its own, one of the same provider, or the conversation's (issue 4.2).
func TestFor(t *testing.T) {
	f := finder(map[string]string{"ANTHROPIC_API_KEY": "k"})
	now, err := f.Find(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	local, err := f.Find(t.Context(), "ollama/qwen3")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, ask string
		now       *models.Found
		want      string
		ok        bool
	}{
		{"nothing", "", now, now.String(), true},
		{"inherit", "inherit", now, now.String(), true},
		{"a short name", "haiku", now, "anthropic/claude-haiku-5-5", true},
		{"a short name of another provider", "haiku", local, "ollama/qwen3", false},
		{"a whole name", "anthropic/other", now, "anthropic/other", true},
		{"a whole name of a local server", "ollama/other", local, "ollama/other", true},
		{"a name that says nothing", "fastest", now, now.String(), false},
		{"a replay", "replay/demo", now, now.String(), false},
		{"a file of answers", "replay/references/talk", now, now.String(), false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, ok, err := f.For(context.Background(), c.ask, c.now)
			if err != nil || got.String() != c.want || ok != c.ok {
				t.Errorf("got %v, %t, %v; want %s, %t", got, ok, err, c.want, c.ok)
			}
		})
	}
	for _, other := range []string{"openai/x", "ollama/other", "llamacpp/x", "nobody/x", "chat/x"} {
		if got, ok, err := f.For(t.Context(), other, now); !errors.Is(err, models.ErrForeign) || got != nil || ok {
			t.Errorf("%s: got %v, %t, %v, want %v", other, got, ok, err, models.ErrForeign)
		}
	}
}

// A provider's list of models is not waited for without end, and its key goes nowhere but there.
func TestListIsBounded(t *testing.T) {
	release := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	defer silent.Close()
	defer close(release)
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirect was followed with the key %q", r.Header.Get("Authorization"))
		_, _ = w.Write([]byte(`{"data":[{"id":"other"}]}`))
	}))
	defer elsewhere.Close()
	pointing := httptest.NewServer(http.RedirectHandler(elsewhere.URL+"/v1/models", http.StatusTemporaryRedirect))
	defer pointing.Close()
	for _, c := range []struct {
		name, url string
		patience  time.Duration
	}{
		{"a server that says nothing", silent.URL, 20 * time.Millisecond},
		{"one that points elsewhere", pointing.URL, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := finder(map[string]string{"OPENAI_API_KEY": "secret", "OPENAI_BASE_URL": c.url + "/v1"})
			f.Patience = c.patience
			if _, err := f.Find(t.Context(), "chat"); !errors.As(err, new(*models.NameError)) {
				t.Errorf("got %v, want a *models.NameError", err)
			}
		})
	}
}

// Cancelling the search returns the error of ctx, not ErrNone.
func TestFindCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f := finder(map[string]string{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"})
	if _, err := f.Find(ctx, "chat"); !errors.Is(err, context.Canceled) {
		t.Errorf("a provider's list: got %v, want %v", err, context.Canceled)
	}
	if _, err := finder(nil).Find(ctx, ""); !errors.Is(err, context.Canceled) {
		t.Errorf("local servers: got %v, want %v", err, context.Canceled)
	}
}

// An error names the provider that was chosen, not the one whose protocol it speaks. A 404 says what was asked, and how to
// choose something else.
func TestErrorsNameTheProvider(t *testing.T) { // P7
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "limited") {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	base := server.URL + "/v1"
	for _, c := range []struct {
		name, ask, key string
		want           []string
	}{
		{"a compatible server", "chat/m", "", []string{"chat: ", `asked for the model "m" with Chat Completions at ` + base, "choose another with --model chat/NAME", "(HTTP 404)"}},
		{"an address alone", "", "", []string{"openai: ", `asked for the model "gpt-6.1-terra" with Responses at ` + base, "--model openai/NAME, or with --model chat/NAME"}},
		{"another failure", "chat/m", "limited", []string{"chat: Bad Request (HTTP 400)"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			found, err := finder(map[string]string{"OPENAI_BASE_URL": base, "OPENAI_API_KEY": c.key}).Find(t.Context(), c.ask)
			if err != nil {
				t.Fatal(err)
			}
			for _, err = range found.Stream(t.Context(), &llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{{Text: "hi"}}}}}) {
			}
			if err == nil {
				t.Fatal("no error")
			}
			for _, want := range c.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("the error %q does not say %q", err, want)
				}
			}
		})
	}
}
