package toolset

import (
	"context"
	"maps"
	"slices"

	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/tool"
)

// watch passes what the process says to the watch of a call, until end is called. progress takes messages of progress; it is nil
// without a watch.
func (p *process) watch(ctx context.Context) (progress func(*mcphost.Progress), end func()) {
	if !tool.Watched(ctx) {
		return nil, func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watches++
	n := p.watches
	if p.watching == nil {
		p.watching = map[int]context.Context{}
	}
	p.watching[n] = ctx
	return func(said *mcphost.Progress) { p.progress(ctx, said) }, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watching, n)
	}
}

// wrote passes on what the process wrote to its standard error while calls run. Whose it is cannot be told.
func (p *process) wrote(line string) {
	p.mu.Lock()
	calls := slices.Collect(maps.Values(p.watching))
	p.mu.Unlock()
	for _, ctx := range calls {
		tool.Notify(ctx, tool.Event{Kind: tool.EventOutput, Text: line + "\n"})
	}
}

// progress passes on a message of progress.
func (p *process) progress(ctx context.Context, said *mcphost.Progress) {
	text := said.Message[:min(len(said.Message), maxShown)]
	tool.Notify(ctx, tool.Event{Kind: tool.EventProgress, Text: p.serving.Redact.String(text), Done: said.Done, Total: said.Total})
}
