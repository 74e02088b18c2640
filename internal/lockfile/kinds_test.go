package lockfile

import (
	"errors"
	"fmt"
	"testing"
)

// The errors of two files are told apart, and each stays what it was.
func TestKinds(t *testing.T) {
	kinds := func() Kinds {
		return Kinds{Corrupt: errors.New("damaged"), Newer: errors.New("newer"), Unsafe: errors.New("unsafe"), Locked: errors.New("locked")}
	}
	a, b := kinds(), kinds()
	other := errors.New("other")
	for _, c := range []struct {
		err, want, not error
	}{
		{fmt.Errorf("x: %w", ErrLocked), a.Locked, b.Locked},
		{fmt.Errorf("x: %w", &UnsafeError{Path: "p"}), a.Unsafe, b.Unsafe},
		{other, other, a.Locked},
	} {
		got := a.Known(c.err)
		if !errors.Is(got, c.want) || errors.Is(got, c.not) || !errors.Is(got, errors.Unwrap(c.err)) && errors.Unwrap(c.err) != nil || got.Error() != c.err.Error() {
			t.Errorf("%v: %v", c.err, got)
		}
	}
	if a.Known(nil) != nil {
		t.Error("nil is an error")
	}
	if err := a.Damaged("/d/f.json", "approval", other); !errors.Is(err, a.Corrupt) || errors.Is(err, b.Corrupt) ||
		err.Error() != `"/d/f.json" is damaged (other): repair it; the next approval moves it to "f.json.corrupt-…" and starts a new file` {
		t.Error(err)
	}
	if err := a.TooNew("/d/f", 3, 1); !errors.Is(err, a.Newer) || errors.Is(err, b.Newer) {
		t.Error(err)
	}
}
