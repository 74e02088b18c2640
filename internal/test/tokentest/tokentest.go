// Package tokentest counts tokens as a current model does: what the estimate of package disclose and the cost of a
// request are measured against.
//
// It is for tests alone: the tables of the tokenizer are 13.5 MB.
package tokentest

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// Counter returns a function that counts the tokens of a text and fails the test where it cannot. The function is for
// one goroutine.
func Counter(t testing.TB) func(text string) int {
	t.Helper()
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) int {
		n, err := codec.Count(text)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
}
