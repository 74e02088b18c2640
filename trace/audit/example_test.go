package audit_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"os"
	"testing/fstest"

	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trace/audit"
)

// Each part of the engine reports its own steps, so all of them get the same tracer: the session activations and violations, the
// executor calls, the kit files that are read and refusals of hooks. script.Options and toolset.Options have one, too. The
// identity in the context says for whom a step is taken; the audience of the catalogue says which skills are there for them.
func Example() {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	auditLog := audit.New(&audit.Options{Dir: dir})
	used := &audit.Stats{}
	tracer := trace.Tee(auditLog, used) // and a telemetry.Bridge, and trace.Log

	ctx := trace.WithIdentity(context.Background(), trace.Identity{Agent: "support", Tenant: "acme", Task: "t1", Correlation: "request 7"})
	catalog, err := skill.Open(ctx, &skill.Options{
		Audience: &skill.Audience{Agent: "support", Tenant: "acme"},
		Layers: []skill.Layer{{Name: "mine", Source: skill.FS(fstest.MapFS{
			"refunds/SKILL.md": {Data: []byte("---\nname: refunds\ndescription: Pays back.\nallowed-tools: Read\nscope: {tenants: [acme]}\n---\nBe kind.\n")},
			"payroll/SKILL.md": {Data: []byte("---\nname: payroll\ndescription: Pays wages.\nscope: {tenants: [other]}\n---\nBe exact.\n")},
		}, nil)}},
	})
	if err != nil {
		log.Fatal(err)
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return catalog },
		Session: session.New(&session.Options{Trace: tracer}),
		Trace:   tracer,
	})
	tools := &tool.Set{}
	own := tool.Tool{Name: "pay", Call: func(context.Context, json.RawMessage) tool.Result { return tool.Success("paid", "") }}
	for _, t := range append(kit.Tools(), own) {
		if err := tools.Add(t); err != nil {
			log.Fatal(err)
		}
	}
	calls := &tool.Executor{Tools: tools, Check: kit.Check, After: kit.After, Trace: tracer}
	for _, name := range []string{"refunds", "payroll"} {
		r := calls.Call(ctx, "skill", json.RawMessage(`{"skill_name":"`+name+`"}`))
		fmt.Println(r.Message)
	}
	calls.Call(ctx, "pay", nil)
	kit.End(ctx)

	for e, err := range audit.Read(ctx, dir) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(e.Event, e.Skill, e.Tool, "for", e.Tenant)
	}
	if lost, err := auditLog.Failure(); err != nil {
		fmt.Println(lost, "events could not be written:", err)
	}
	fmt.Println("refused:", used.Total().Violations)
	// Output:
	// Activated skill 'refunds'
	// Skill 'payroll' not found.
	// skill_activated refunds  for acme
	// tool_execution_in_skill refunds skill for acme
	// tool_restriction_violated refunds pay for acme
	// skill_deactivated refunds  for acme
	// refused: 1
}
