package telemetry_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/agent-base/agent-base/telemetry"
	"github.com/agent-base/agent-base/trace"
)

// A program that has no providers of its own sends to a collector. The Bridge is the tracer of all parts of the engine: see the
// example of package audit.
func Example() {
	sent := map[string]bool{}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent[r.URL.Path] = true }))
	defer collector.Close()

	export, err := telemetry.Start(&telemetry.ExportOptions{
		Endpoint: collector.URL, // "" is a collector on this machine; OptionsFrom(os.Getenv) reads the usual variables
		Resource: map[string]string{"service.name": "my-agent"},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	bridge, err := telemetry.New(&telemetry.Options{Tracer: export.Tracer(), Meter: export.Meter()})
	if err != nil {
		fmt.Println(err)
		return
	}
	trace.Emit(context.Background(), bridge, trace.Event{Kind: trace.SkillActivated, Skill: "pdf"})
	if err := export.Close(context.Background()); err != nil { // sends what is left
		fmt.Println(err)
	}
	fmt.Println(sent)
	// Output:
	// map[/v1/metrics:true]
}
