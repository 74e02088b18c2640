// Package models finds the model for a name, which is written as provider/name. Keys and addresses come from the
// environment. Without a name it uses the first provider with a key or an address, or else a server that answers on its
// usual port on this machine.
//
// The only requests that it sends ask a server for its list of models, if the name of the model is not known. The
// environment comes in as a function. A Finder is safe for concurrent use.
package models

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/replay"
	"github.com/agent-base/agent-base/llm"
)

// Finder finds models.
type Finder struct {
	Getenv   func(string) string               // the environment; nil means an empty one
	ReadFile func(path string) ([]byte, error) // reads the file of a replay; nil means no files
	HTTP     *http.Client                      // for models and local servers; nil means a new client
	Local    []Server                          // where to look for a local server; nil means Servers()

	// Allowed may refuse a model, PROVIDER/NAME. host is the host that a variable or a found server sends requests to, HOST or HOST:PORT; "" for
	// the provider's own. nil refuses none.
	Allowed func(name, host string) error

	// Reads says what models read, whatever is known of them: "text", "images", or "documents" for PDF documents, too; "auto" or "" means
	// what is known.
	Reads string

	Patience time.Duration // timeout for a list of models; 0 means 10 s, or 300 ms if no provider was named
}

// Found is a model with its provider and name.
type Found struct {
	llm.Model
	Provider string
	Name     string
	Local    bool // it was not named: a server on this machine offered it
	Facts    Facts
	senses   senses
	Origin   string // why it was chosen, such as "ANTHROPIC_API_KEY" or "a server at http://127.0.0.1:11434"; "" if it was named
}

// String returns provider/name.
func (f *Found) String() string { return f.Provider + "/" + f.Name }

// NameError is the error for the name of a model that is not valid.
type NameError struct {
	Name    string
	Problem string // without the name
	Cure    string
}

// Error returns the name and the problem.
func (e *NameError) Error() string { return fmt.Sprintf("model %q: %s", e.Name, e.Problem) }

// ErrNone means that no model was found. Ways returns how to get one.
var ErrNone = errors.New("no model found")

// Ways returns how to get a model, in four lines.
func Ways() string {
	return `with a key: export ANTHROPIC_API_KEY=KEY, or OPENAI_API_KEY, or GEMINI_API_KEY
on this machine: ollama pull qwen3, and ollama serve
from any compatible server: export OPENAI_BASE_URL=http://HOST:PORT/v1, then --model chat/NAME
from a recording: --model replay/demo`
}

// Find returns the model for a name, which is provider/name or only a provider. For "" it looks for a model. The error is a
// *NameError, ErrNone, an *llm.Error or that of ctx.
func (f *Finder) Find(ctx context.Context, name string) (*Found, error) {
	if name == "" {
		return f.any(ctx)
	}
	prefix, rest, _ := strings.Cut(name, "/")
	if prefix == "replay" {
		if err := f.allowed(name, ""); err != nil {
			return nil, err
		}
		return f.replay(rest)
	}
	p, ok := find(prefix)
	if !ok {
		return nil, unknown(name, prefix)
	}
	if rest == "" {
		rest = p.model
	}
	return f.make(ctx, p, rest, "")
}

// any returns a model of the first provider with a variable in the environment, or of the first local server that answers.
func (f *Finder) any(ctx context.Context) (*Found, error) {
	for _, p := range providers {
		for _, v := range slices.Concat(p.keys, p.base) {
			if p.model != "" && f.getenv(v) != "" {
				return f.make(ctx, p, p.model, v)
			}
		}
	}
	s, model := f.local(ctx)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if s == nil {
		return nil, ErrNone
	}
	p, _ := find(s.Provider)
	p.url = s.URL
	found, err := f.make(ctx, p, model, "a server at "+s.URL)
	if err == nil {
		found.Local = true
	}
	return found, err
}

// make returns a model of a provider.
func (f *Finder) make(ctx context.Context, p provider, name, origin string) (*Found, error) {
	w := wire{name: name, key: f.first(p.keys), base: f.first(p.base), http: f.client()}
	if w.base == "" {
		w.base = p.url
	}
	if name != "" {
		if err := f.allowed(p.name+"/"+name, w.base); err != nil {
			return nil, err
		}
	}
	if w.key == "" && p.needsKey && f.first(p.base) == "" {
		return nil, &llm.Error{Kind: llm.BadKey, Provider: p.name, Message: fmt.Sprintf("no key: export %s", p.keys[0])}
	}
	if name == "" {
		list, err := f.list(ctx, w.base, w.key, 10*time.Second)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || len(list) == 0 {
			return nil, &NameError{Name: p.name, Problem: "no model is named, and the server lists none", Cure: fmt.Sprintf("--model %s/NAME", p.name)}
		}
		w.name = list[0]
		if err := f.allowed(p.name+"/"+w.name, w.base); err != nil {
			return nil, err
		}
	}
	facts, _ := FactsOf(w.name)
	w.answer = facts.Answer
	m, err := p.open(&w)
	if err != nil {
		return nil, err
	}
	senses := sensesOf(&p, &w, &facts, cmp.Or(f.Reads, asKnown))
	return &Found{Model: &named{m, p, w, senses}, Provider: p.name, Name: w.name, Facts: facts, senses: senses, Origin: origin}, nil
}

// allowed refuses a model that is not allowed. base is the address that it is asked at, "" or a provider's own if no variable names it.
func (f *Finder) allowed(name, base string) error {
	if f.Allowed == nil {
		return nil
	}
	if p, ok := find(name[:strings.IndexByte(name, '/')]); !ok || base == p.url {
		return f.Allowed(name, "")
	}
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return f.Allowed(name, base) // no pattern matches it
	}
	return f.Allowed(name, u.Host)
}

// FactsFor returns the facts of the model that Find would return for a name, as far as they are known without asking a server.
func (f *Finder) FactsFor(name string) Facts {
	if name == "" {
		for _, p := range providers {
			if p.model != "" && f.first(slices.Concat(p.keys, p.base)) != "" {
				name = p.name
				break
			}
		}
	}
	prefix, rest, _ := strings.Cut(name, "/")
	if p, ok := find(prefix); ok && rest == "" {
		rest = p.model
	}
	facts, _ := FactsOf(rest)
	return facts
}

// replay opens a conversation that is replayed from a file.
func (f *Finder) replay(name string) (*Found, error) {
	src := replay.Demo()
	if name != "demo" {
		if name == "" || f.ReadFile == nil {
			return nil, &NameError{Name: "replay", Problem: "no file given", Cure: "--model replay/demo, or replay/FILE"}
		}
		var err error
		if src, err = f.ReadFile(name); err != nil {
			return nil, &NameError{Name: "replay/" + name, Problem: err.Error(), Cure: "--model replay/demo replays the built-in conversation"}
		}
	}
	m, err := replay.Open(name, src)
	if err != nil {
		return nil, err
	}
	return &Found{Model: m, Provider: "replay", Name: name}, nil
}

// ErrForeign is the error for a skill that names a model of another provider than the conversation's.
var ErrForeign = errors.New("a skill may choose among the models of the conversation's provider only")

// For returns the model that a skill's manifest names for its own run, given the one of the conversation: "inherit", or
// provider/name or a short name of the same provider. The second result is false when the name means nothing here; the
// conversation's model is returned then. A replay means nothing: a skill must not bring the answers with it. The error
// for another provider is ErrForeign: a skill may not decide where the user's files are sent.
func (f *Finder) For(ctx context.Context, name string, now *Found) (*Found, bool, error) {
	provider, _, whole := strings.Cut(name, "/")
	switch {
	case name == "", name == "inherit":
		return now, true, nil
	case provider == "replay":
		return now, false, nil
	case whole && provider != now.Provider:
		return nil, false, ErrForeign
	case whole:
		found, err := f.Find(ctx, name)
		return found, err == nil, err
	}
	p, ok := find(now.Provider)
	if !ok || p.short[name] == "" {
		return now, false, nil
	}
	found, err := f.make(ctx, p, p.short[name], "")
	return found, err == nil, err
}

// Names returns the beginnings of names of models: each provider with a slash, and replay/demo.
func Names() []string {
	var names []string
	for _, p := range Providers() {
		names = append(names, p+"/")
	}
	return append(names, "replay/demo")
}

func (f *Finder) getenv(name string) string {
	if f.Getenv == nil {
		return ""
	}
	return f.Getenv(name)
}

func (f *Finder) first(names []string) string {
	for _, name := range names {
		if v := f.getenv(name); v != "" {
			return v
		}
	}
	return ""
}

func unknown(name, prefix string) error {
	e := &NameError{Name: name, Problem: "unknown provider", Cure: "write provider/name; providers are " + strings.Join(Providers(), ", ")}
	if !strings.Contains(name, "/") {
		e.Problem = "no provider given"
		for _, p := range providers {
			if p.family != "" && strings.HasPrefix(prefix, p.family) {
				e.Cure = fmt.Sprintf("did you mean %q?", p.name+"/"+name)
			}
		}
	}
	return e
}

// Unmarked returns the text of an answer without the line that says of one out of a file that no model gave it.
func Unmarked(text string) string { return replay.Unmarked(text) }
