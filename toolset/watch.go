package toolset

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/agent-base/agent-base/tool"
)

// watch passes what the process says to the watch of a call, until end is called. The token is for messages of progress; it is "" without
// a watch.
func (p *process) watch(ctx context.Context) (token string, end func()) {
	if !tool.Watched(ctx) {
		return "", func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watches++
	token = fmt.Sprintf("call-%d", p.watches)
	if p.watching == nil {
		p.watching = map[string]context.Context{}
	}
	p.watching[token] = ctx
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watching, token)
	}
}

// wrote passes on what the process wrote to its standard error while calls run. Whose it is cannot be told.
func (p *process) wrote(line string) {
	p.mu.Lock()
	var calls []context.Context
	for _, ctx := range p.watching {
		calls = append(calls, ctx)
	}
	p.mu.Unlock()
	for _, ctx := range calls {
		tool.Notify(ctx, tool.Event{Kind: tool.EventOutput, Text: line + "\n"})
	}
}

// progress passes on a message of progress. One that nobody waits for is dropped.
func (p *process) progress(params json.RawMessage) {
	var said struct {
		Token           any `json:"progressToken"`
		Progress, Total float64
		Message         string
	}
	if json.Unmarshal(params, &said) != nil {
		return
	}
	token, _ := said.Token.(string)
	p.mu.Lock()
	ctx := p.watching[token]
	p.mu.Unlock()
	if ctx != nil {
		text := said.Message[:min(len(said.Message), maxShown)]
		tool.Notify(ctx, tool.Event{Kind: tool.EventProgress, Text: p.serving.Redact.String(text), Done: max(said.Progress, 0), Total: max(said.Total, 0)})
	}
}
