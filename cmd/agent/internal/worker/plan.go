package worker

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/tool"
)

// proposePlan is the tool by which the model ends the mode plan.
const proposePlan = "propose_plan"

// planText tells the model what the mode plan is.
const planText = "The user wants a plan first: read, search and ask, and change nothing. When you know what to do, call " + proposePlan + "."

// planCommand is /plan.
func (t *talk) planCommand(context.Context, string) (string, error) {
	if err := t.w.gate.setMode(permit.Plan); err != nil {
		return "", err
	}
	return "nothing is changed until you approve a plan; say what to plan", nil
}

// tellPlan tells the model with a prompt that the mode plan has begun, however it did.
func (t *talk) tellPlan() {
	now := t.w.gate.current().Mode() == permit.Plan
	if now && !t.planned {
		t.w.tell(planText)
	}
	t.planned = now
}

// planTools returns the tool that proposes a plan, in the mode plan and where a person can approve one.
func (w *worker) planTools() []tool.Tool {
	if w.approver == nil || w.gate.current().Mode() != permit.Plan {
		return nil
	}
	return []tool.Tool{{Name: proposePlan, Description: "Propose a plan to the user, who approves it or says what to change. Until then nothing may be changed.",
		Input: json.RawMessage(`{"type":"object","properties":{"plan":{"type":"string","description":"The plan, as Markdown"}},"required":["plan"]}`),
		Call:  w.propose}}
}

// propose asks the user about a plan.
func (w *worker) propose(ctx context.Context, raw json.RawMessage) tool.Result {
	var args struct {
		Plan string `json:"plan"`
	}
	if err := json.Unmarshal(raw, &args); err != nil || strings.TrimSpace(args.Plan) == "" {
		return tool.Result{Error: tool.ExecutionFailed, Reason: tool.ReasonArguments, Message: "plan is required"}
	}
	answer, err := w.approver.Answer(ctx, &ui.Question{Text: "Carry out this plan?", Details: commandLines(args.Plan), Choices: []ui.Choice{
		{Key: "y", Label: "yes, and ask about each change"}, {Key: "e", Label: "yes, and change files without a question"}, {Key: "n", Label: "no"}}})
	mode := permit.Ask
	switch {
	case err != nil:
		return tool.Interruption(ctx, "The question")
	case answer == "e":
		mode = permit.AcceptEdits
	case answer != "y":
		var why hosttool.Answer
		if answer == "n" {
			if why, err = w.gate.why(ctx); err != nil {
				return tool.Interruption(ctx, "The question")
			}
		}
		return *refusal(tool.ReasonNotApproved, "%s", why.Refusal("The plan", nil))
	}
	if err := w.gate.setMode(mode); err != nil {
		return *refusal("not_allowed", "%v", err)
	}
	return tool.Success(nil, "The user approved the plan: carry it out")
}
