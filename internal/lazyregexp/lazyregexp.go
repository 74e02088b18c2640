// Package lazyregexp compiles regular expressions when they are first used. The command starts without
// most of them: together they would cost it a quarter of its time.
package lazyregexp

import (
	"regexp"
	"sync"
)

// New returns a function that gives the compiled expression. Calling it panics when text is not an
// expression, which is a mistake of this program. It is safe for concurrent use.
func New(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}
