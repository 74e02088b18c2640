package wire

import (
	"net/http"
	"testing"
)

// issue 4.1: a proxy of the environment is not used.
func TestTransportHasNoProxy(t *testing.T) {
	g := Client(&Options{}).Transport.(*guard)
	if g.next.(*http.Transport).Proxy != nil {
		t.Error("got a proxy, want none")
	}
	own := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	if got := Client(&Options{HTTP: own}).Transport.(*guard).next; got != own.Transport {
		t.Error("the caller's transport is not kept")
	}
}
