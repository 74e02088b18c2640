package acp

import (
	"context"
	"fmt"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/tool"
)

// ask asks the user a question through the editor. The answer is "" if the user leaves it open, or cannot choose among its answers.
func (s *session) ask(ctx context.Context, q *ui.Question) (string, error) {
	switch {
	case s.talk.Load() == nil: // before the session has an answer, the editor knows none
		return "", nil
	case q.Free:
		return s.askText(ctx, q)
	}
	id, name := tool.Called(ctx)
	call := s.callID(id)
	if id == "" {
		s.mu.Lock()
		s.asked++
		call, name = protocol.ToolCallId(fmt.Sprintf("question/%d", s.asked)), ""
		s.mu.Unlock()
		s.update(protocol.StartToolCall(call, ui.Line(q.Text), protocol.WithStartKind(protocol.ToolKindOther), protocol.WithStartStatus(protocol.ToolCallStatusPending)))
	}
	kind := kindOf(name)
	options := options(q, s.a.forms.Load())
	answer, err := protocol.SendRequest[protocol.RequestPermissionResponse](s.a.conn, ctx, protocol.ClientMethodSessionRequestPermission, protocol.RequestPermissionRequest{
		SessionId: s.id, Options: options,
		ToolCall: protocol.ToolCallUpdate{ToolCallId: call, Title: protocol.Ptr(ui.Line(q.Text)), Kind: &kind, Content: shown(q), Status: protocol.Ptr(protocol.ToolCallStatusPending)},
	})
	if err != nil {
		return "", unanswered(ctx, q, err)
	}
	chosen := picked(options, &answer.Outcome)
	s.answered(call, id, chosen)
	return chosen, nil
}

// unanswered is the error of a question that the editor did not answer.
func unanswered(ctx context.Context, q *ui.Question, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return fmt.Errorf("the editor did not answer %q: %w", q.Text, err)
}

// askText asks a question whose answer is a text, as a form of one field. An editor that shows no forms is not asked.
func (s *session) askText(ctx context.Context, q *ui.Question) (string, error) {
	if !s.a.forms.Load() {
		return "", nil
	}
	type field struct {
		Type  string `json:"type"`
		Title string `json:"title,omitempty"`
	}
	type form struct {
		Type       string           `json:"type"`
		Properties map[string]field `json:"properties"`
	}
	answer, err := protocol.SendRequest[struct {
		Action  string
		Content struct{ Answer string }
	}](s.a.conn, ctx, protocol.ClientMethodElicitationCreate, struct {
		SessionID protocol.SessionId `json:"sessionId"`
		Mode      string             `json:"mode"`
		Message   string             `json:"message"`
		Schema    form               `json:"requestedSchema"`
	}{s.id, "form", ui.Text(strings.Join(append([]string{q.Text}, q.Details...), "\n")),
		form{"object", map[string]field{"answer": {Type: "string", Title: "Answer"}}}})
	switch {
	case err != nil:
		return "", unanswered(ctx, q, err)
	case answer.Action != "accept":
		return "", nil
	}
	return answer.Content.Answer, nil
}

// picked returns the answer that the user chose, "" if none was chosen, or one that was not offered.
func picked(options []protocol.PermissionOption, out *protocol.RequestPermissionOutcome) string {
	for _, o := range options {
		if out.Selected != nil && out.Selected.OptionId == o.OptionId {
			return string(o.OptionId)
		}
	}
	return ""
}

// answered shows what became of a question: the call that it was about goes on under its own title.
func (s *session) answered(call protocol.ToolCallId, id, chosen string) {
	if id != "" {
		s.live.resume(call)
		return
	}
	status := protocol.ToolCallStatusCompleted
	if chosen == "" || chosen == "n" {
		status = protocol.ToolCallStatusFailed
	}
	s.update(protocol.UpdateToolCall(call, protocol.WithUpdateStatus(status)))
}

// options are the answers to a question. Without forms those are left out that a text would follow.
func options(q *ui.Question, forms bool) (out []protocol.PermissionOption) {
	for _, c := range q.Answers() {
		kind := protocol.PermissionOptionKindAllowOnce
		switch {
		case c.Writes && !forms:
			continue
		case c.Key == "n":
			kind = protocol.PermissionOptionKindRejectOnce
		case c.Lasts:
			kind = protocol.PermissionOptionKindAllowAlways
		}
		out = append(out, protocol.PermissionOption{OptionId: protocol.PermissionOptionId(c.Key), Name: ui.Line(c.Label), Kind: kind})
	}
	return out
}

// shown is what the user has to see to answer a question.
func shown(q *ui.Question) []protocol.ToolCallContent {
	lines := q.Shown().Details
	out := []protocol.ToolCallContent{}
	if q.Change != nil && len(q.Change.Before)+len(q.Change.After) <= mostDiff {
		out, lines = append(out, diffOf(q.Change)), []string{q.Note}
	}
	if strings.Join(lines, "") == "" {
		return out
	}
	text := make([]string, len(lines))
	for i, line := range lines {
		text[i] = ui.Text(line)
	}
	return append(out, textOf(fenced(strings.Join(text, "\n"))))
}
