package library

import (
	"fmt"
	"testing"
)

// A conversation that works everywhere finds a bounded number of packages, and looks at a bounded number of folders. C71
func TestTouchIsBounded(t *testing.T) {
	each := func(dir string) []string { return []string{dir} }
	b := &below{}
	for i := range 100 {
		b.touch(fmt.Sprint("/", i), each)
	}
	if n := len(b.packages()); n != 32 {
		t.Errorf("%d packages", n)
	}
	b, n := &below{}, 0
	for i := range 2_000 {
		for range 2 {
			b.touch(fmt.Sprint("/", i), func(string) []string { n++; return nil })
		}
	}
	if n != 1_000 {
		t.Errorf("looked at %d folders", n)
	}
}
