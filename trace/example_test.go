package trace_test

import (
	"context"
	"log/slog"
	"os"

	"github.com/agent-base/agent-base/trace"
)

// Events in the log of a server, each with the tenant and the task that it is for.
func ExampleLog() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{} // no time, since this is an example
		}
		return a
	}}))
	tracer := trace.TracerFunc(func(ctx context.Context, e trace.Event) {
		id := trace.IdentityOf(ctx)
		trace.Log(logger.With("tenant", id.Tenant, "task", id.Task)).Trace(ctx, e)
	})

	ctx := trace.WithIdentity(context.Background(), trace.Identity{Tenant: "acme", Task: "t1"})
	trace.Emit(ctx, tracer, trace.Event{Kind: trace.SkillActivated, Skill: "pdf", Message: "Activated skill 'pdf'"})
	// Output:
	// level=INFO msg="Activated skill 'pdf'" tenant=acme task=t1 skill=pdf
}
