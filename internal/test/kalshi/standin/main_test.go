package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

// The printed address reaches the service, and cancelling the context stops it.
func TestServe(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error)
	go func() { done <- serve(ctx, w, "127.0.0.1:0", &kalshi.Options{}) }()
	line, err := bufio.NewReader(r).ReadString('\n')
	base, ok := strings.CutPrefix(strings.TrimSpace(line), "export KALSHI_API_BASE=")
	if err != nil || !ok {
		t.Fatalf("printed %q, %v", line, err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+"/exchange/status", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := new(http.Client).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), `"exchange_active":true`) {
		t.Errorf("%s: %d %s, %v", base, resp.StatusCode, body, err)
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("after cancel: %v", err)
	}
	if err := serve(t.Context(), io.Discard, "127.0.0.1:99999", &kalshi.Options{}); err == nil {
		t.Error("got no error for an invalid address")
	}
}
