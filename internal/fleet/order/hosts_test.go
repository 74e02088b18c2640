package order

import (
	"errors"
	"fmt"
	"os/exec"
	"testing"

	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
)

// Each tenant has a host of its own, a worker keeps so many of them, and the one that was used least lately gives way.
func TestHosts(t *testing.T) {
	made := map[string]int{}
	cache := scratch.Dir(t)
	hs := &hosts{options: func(tenant string) (*script.Options, error) {
		if made[tenant]++; tenant == "bad" {
			return nil, errors.New("invalid tenant")
		}
		return &script.Options{LookPath: exec.LookPath, Cache: cache}, nil
	}}
	of := func(tenant string) *host {
		h, err := hs.of(tenant)
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	first := of("t0")
	for n := range mostHosts {
		if h := of(fmt.Sprint("t", n)); (h == first) != (n == 0) {
			t.Errorf("%d has that of another one: %v", n, h == first)
		}
	}
	of("t0")
	of("more")
	of("t0")
	of("t2")
	if len(hs.open) != mostHosts || made["t0"] != 1 || made["t2"] != 1 || hs.open["t1"] != nil {
		t.Errorf("%d are open: %v", len(hs.open), made)
	}
	if of("t1"); made["t1"] != 2 || len(hs.open) != mostHosts {
		t.Errorf("%d are open: %v", len(hs.open), made)
	}
	if _, err := hs.of("bad"); err == nil || len(hs.open) != mostHosts {
		t.Errorf("%v, and %d are open", err, len(hs.open))
	}
}
