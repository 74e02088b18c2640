// Package tokentest counts tokens with the tokenizer of a current model, to check the estimate of package disclose and
// the cost of requests.
//
// It is for tests only: the tables of the tokenizer are 13.5 MB.
package tokentest

import (
	"testing"

	"github.com/tiktoken-go/tokenizer"
)

// Counter returns a function that counts the tokens of a text and fails the test on an error. The function is not safe
// for concurrent use.
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
