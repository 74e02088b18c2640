package worker

import (
	"context"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
)

// PreviewOptions says what differs from the settings. The zero value changes nothing.
type PreviewOptions struct {
	Mode   disclose.Mode
	Budget int // tokens of the list of skills
}

// Preview is what the agent would send to a model now. It asks no model.
type Preview struct{ w *worker }

// NewPreview returns the preview of a conversation over the skills of cat.
func NewPreview(ctx context.Context, s *app.Services, cat *skill.Catalog, o *PreviewOptions) (*Preview, error) {
	var approver *consent.Approver
	if s.Approver.There() {
		approver = s.Approver
	}
	w := unready(s, s.Models.Facts(""), func() *skill.Catalog { return cat }, approver)
	if o.Mode != "" {
		w.mode = o.Mode
	}
	if o.Budget > 0 {
		w.budget = o.Budget
	}
	if err := w.openServers(ctx, false); err != nil {
		return nil, err
	}
	if w.servers != nil {
		w.servers.only = true
	}
	return &Preview{w}, w.compose(ctx)
}

// Skills returns the list of skills, from the system text or from the description of the tool skill. It is empty if
// neither has one.
func (p *Preview) Skills(ctx context.Context) (disclose.Text, error) {
	switch o := p.w.listOptions(); p.w.mode {
	case disclose.SystemXML:
		return disclose.Catalog(ctx, p.w.told, o)
	case disclose.ToolDescription:
		return disclose.ToolList(p.w.told, o)
	}
	return disclose.Text{}, nil
}

// Turn returns the text that goes with a prompt.
func (p *Preview) Turn(ctx context.Context, prompt string) (disclose.Text, error) {
	choice, err := p.w.kit.Turn(ctx, p.w.plan, prompt)
	return choice.Text, err
}

// System returns the whole system text.
func (p *Preview) System() string { return p.w.system }

// Tools returns the tools in the order in which they are sent.
func (p *Preview) Tools() []tool.Tool {
	var out []tool.Tool
	for t := range p.w.set.All() {
		out = append(out, t)
	}
	return out
}

// Window returns how many tokens a conversation may have.
func (p *Preview) Window() int { return p.w.window }

// Budget returns the limit on the tokens of the list of skills.
func (p *Preview) Budget() int { return p.w.budget }

// ToolTokens estimates the tokens of a tool: its name, its description and its arguments.
func ToolTokens(t tool.Tool) int {
	return disclose.Tokens(t.Name) + disclose.Tokens(t.Description) + disclose.Tokens(string(t.Input))
}
