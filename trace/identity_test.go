package trace

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// R130: an event knows for whom its step was taken.
func TestIdentity(t *testing.T) {
	ctx := t.Context()
	if got := IdentityOf(ctx); got != (Identity{}) {
		t.Errorf("identity of an empty context is %+v", got)
	}
	ctx = WithIdentity(ctx, Identity{Agent: "main", Task: "t1", Tenant: "acme", Model: "one"})
	inner := WithIdentity(ctx, Identity{Agent: "fork", Correlation: "c9", Model: "two"})
	want := Identity{Agent: "fork", Task: "t1", Tenant: "acme", Correlation: "c9", Model: "two"}
	if d := cmp.Diff(want, IdentityOf(inner)); d != "" {
		t.Errorf("identity (-want +got):\n%s", d)
	}
	if got := IdentityOf(ctx); got.Agent != "main" || got.Correlation != "" {
		t.Errorf("the outer identity changed: %+v", got)
	}
}
