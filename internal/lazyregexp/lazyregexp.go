// Package lazyregexp compiles regular expressions when they are first used. Most runs of the command use few of them;
// compiling all of them would take a quarter of its start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that returns the compiled expression. The function panics if text is not a valid expression. It is
// safe for concurrent use.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
