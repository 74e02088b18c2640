package cli

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
)

// choosing is the value of --resume alone. No conversation has this ID.
const choosing = "true"

// pastID is the value of --resume. Its type is that of a flag that may stand alone, so the help does not show the value choosing.
type pastID string

func (p *pastID) String() string        { return string(*p) }
func (p *pastID) Set(text string) error { *p = pastID(text); return nil }
func (p *pastID) Type() string          { return "bool" }

// pastFlags gives a command the flags that continue a conversation.
func pastFlags(s *app.Services, c *cobra.Command, p *worker.Past) {
	f := c.Flags()
	f.BoolVarP(&p.Latest, "continue", "c", false, "continue the last conversation about this project")
	f.Var((*pastID)(&p.ID), "resume", "continue the conversation `ID`; alone, choose one")
	f.Lookup("resume").NoOptDefVal = choosing
	f.BoolVar(&p.Fork, "fork", false, "with --resume or --continue: continue a copy")
	f.BoolVar(&p.Unsaved, "no-save", false, "do not save the conversation")
	_ = c.RegisterFlagCompletionFunc("resume", func(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return conversationIDs(c.Context(), s), cobra.ShellCompDirectiveNoFileComp
	})
}

// pastArgs takes the ID that stands after --resume from the arguments.
func pastArgs(p *worker.Past, args []string) ([]string, error) {
	if p.ID == choosing {
		p.ID, p.Pick = "", true
		if len(args) > 0 {
			p.ID, p.Pick, args = args[0], false, args[1:]
		}
	}
	if p.Latest && (p.Pick || p.ID != "") {
		return nil, failure.Usage(errors.New("--continue and --resume exclude each other"), "--continue takes the last conversation, --resume ID another")
	}
	return args, nil
}

// conversationIDs returns the conversations of the project with their titles.
func conversationIDs(ctx context.Context, s *app.Services) []cobra.Completion {
	where := s.Settings.Conversations()
	if where == nil {
		return nil
	}
	var out []cobra.Completion
	list, _, _ := saved.List(ctx, where, false, 100)
	for _, one := range list {
		out = append(out, cobra.CompletionWithDesc(one.ID, ui.Truncate(one.Title, showWidth)))
	}
	return out
}
