package house_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

var load = sync.OnceValues(func() (*deptest.Module, error) { return deptest.Load(".") })

// module returns the source of this module, parsed once.
func module(t *testing.T) *deptest.Module {
	t.Helper()
	m, err := load()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// report fails the test for each breach.
func report(t *testing.T, breaches []string) {
	t.Helper()
	for _, breach := range breaches {
		t.Error(breach)
	}
}

// checkBroken tests a check with source that breaks its rule: the check must report exactly the rows of want.
func checkBroken(t *testing.T, files map[string]string, check func(*deptest.Module) []string, want []string) {
	t.Helper()
	got := check(write(t, files))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("found:\n%q\nwant:\n%q", got, want)
	}
}
