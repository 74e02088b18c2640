package tool

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/agent-base/agent-base/want"
)

// What the errors of a tree lack is one set, and each want an event with its own advice, once.
func TestLacked(t *testing.T) {
	key := want.Want{Kind: want.Variable, Name: "KEY", From: want.Refused}
	host := want.Want{Kind: want.Host, Name: "a.example", From: want.Seen}
	err := errors.Join(errors.New("no"), fmt.Errorf("one: %w", errors.Join(lack{key}, lack{host})), lack{key})
	if got := Lacked(err); !slices.Equal(got, want.New(key, host)) {
		t.Errorf("got %v", got)
	}
	if got := Lacked(errors.New("no")); len(got) > 0 || Lacked(nil) != nil {
		t.Errorf("got %v", got)
	}
	ctx, got := watch(t.Context())
	ctx, _ = watching(ctx, "run")
	for range 2 {
		NotifyLacked(ctx, err, func(err error) string {
			if err.Error() == "KEY was refused" {
				return "Grant it."
			}
			return ""
		})
	}
	var texts []string
	for _, e := range *got {
		texts = append(texts, fmt.Sprint(e.Kind, " ", e.Need, ": ", e.Text))
	}
	if want := []string{"needs refused env:KEY: KEY was refused. Grant it.", "needs seen host:a.example: a.example is lacking"}; !slices.Equal(texts, want) {
		t.Errorf("got %q", texts)
	}
	NotifyLacked(t.Context(), err, func(error) string { t.Error("nobody watches"); return "" })
}
