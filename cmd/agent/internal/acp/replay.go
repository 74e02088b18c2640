package acp

import (
	"context"
	"encoding/base64"
	"strings"

	protocol "github.com/coder/acp-go-sdk"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/todo"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
)

// replay reads a conversation that continues, and shows what was said in it if that is wanted.
func (s *session) replay(ctx context.Context, services *app.Services, w *opening) error {
	c, err := worker.Saved(ctx, services, string(w.id))
	if err != nil {
		return err
	}
	s.turn = c.Last
	for i := range c.Turns {
		if w.shown {
			s.replayTurn(&c.Turns[i], services.Settings.Config().Paths.Project)
		}
	}
	return nil
}

// replayTurn shows what was said in a turn.
func (s *session) replayTurn(t *saved.Turn, workspace string) {
	names := map[string]string{}
	for n, m := range t.Messages {
		if n == 0 && m.Role == llm.User {
			for _, p := range m.Parts {
				if p.Media != nil && media.IsImage(p.Media.Type) {
					s.update(protocol.UpdateUserMessage(protocol.ImageBlock(base64.StdEncoding.EncodeToString(p.Media.Data), p.Media.Type)))
				}
			}
			s.update(protocol.UpdateUserMessageText(userText(m.Parts)))
		}
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				names[p.Call.ID] = p.Call.Name
				if p.Call.Name != todo.Name {
					s.update(start(callID(t.Number, p.Call.ID), p.Call, workspace))
				}
			case p.Result != nil && names[p.Result.ID] != todo.Name:
				status := protocol.ToolCallStatusCompleted
				if p.Result.Failed {
					status = protocol.ToolCallStatusFailed
				}
				s.update(protocol.UpdateToolCall(callID(t.Number, p.Result.ID), protocol.WithUpdateStatus(status),
					protocol.WithUpdateContent([]protocol.ToolCallContent{textOf(fenced(worker.Outcome(p.Result.Text)))})))
			case p.Text != "" && m.Role == llm.Assistant:
				s.update(protocol.UpdateAgentMessageText(p.Text))
			}
		}
	}
}

// userText is what the user wrote: the last text of the message, since what goes with a prompt comes before it. What was attached is not
// shown again.
func userText(parts []llm.Part) (text string) {
	for _, p := range parts {
		if p.Text != "" {
			text = p.Text
		}
	}
	text, _, _ = strings.Cut(text, attached)
	return text
}
