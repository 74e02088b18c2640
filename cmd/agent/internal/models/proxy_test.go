package models

import (
	"net/http"
	"testing"
)

// Models are asked by the proxies that the environment names, but never those of this machine (SECURITY.md).
func TestProxy(t *testing.T) {
	env := map[string]string{"HTTPS_PROXY": "http://proxy.example:3128", "HTTP_PROXY": "http://proxy.example:3128", "NO_PROXY": "internal.example"}
	f := &Finder{Getenv: func(name string) string { return env[name] }}
	for url, want := range map[string]string{
		"https://api.anthropic.com/v1/messages": "http://proxy.example:3128",
		"https://internal.example/v1":           "",
		"http://127.0.0.1:11434/v1/models":      "",
	} {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		proxy, err := f.transport().Proxy(req)
		got := ""
		if proxy != nil {
			got = proxy.String()
		}
		if got != want || err != nil {
			t.Errorf("%s: got %q and %v, want %q", url, got, err, want)
		}
	}
}
