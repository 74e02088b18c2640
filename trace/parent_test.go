package trace

import "testing"

func TestParent(t *testing.T) {
	const good = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	ctx := WithParent(t.Context(), good)
	if got := ParentOf(ctx); got != good {
		t.Errorf("got %q", got)
	}
	for _, bad := range []string{
		"", "01" + good[2:], good + "-x", good[:len(good)-1] + "\n", "00-00000000000000000000000000000000-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", "00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	} {
		if got := ParentOf(WithParent(ctx, bad)); got != good {
			t.Errorf("%q takes the place of a parent: %q", bad, got)
		}
		if got := ParentOf(WithParent(t.Context(), bad)); got != "" {
			t.Errorf("%q is taken for a parent", bad)
		}
	}
}
