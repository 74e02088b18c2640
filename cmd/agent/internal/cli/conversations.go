package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/saved"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/cmd/agent/internal/worker"
	"github.com/agent-base/agent-base/llm"
)

func newConversationsCommand(s *app.Services) *cobra.Command {
	c := group(&cobra.Command{
		Use:        "conversations",
		Short:      "List, show, export and remove saved conversations",
		SuggestFor: []string{"sessions", "session", "history", "conversation"},
		Example: `  agent conversations list
  agent conversations show ID
  agent --resume ID`,
	})
	c.AddCommand(newConversationsListCommand(s), newConversationsShowCommand(s, "show", "Show what was said in a conversation"),
		newConversationsShowCommand(s, "export", "Print a whole conversation as Markdown"), newConversationsRemoveCommand(s))
	return c
}

type conversationsOptions struct {
	s         *app.Services
	ids       []string
	all, json bool
	yes, full bool
	limit     int
}

// where returns where the conversations are.
func (o *conversationsOptions) where() (*saved.Options, error) {
	where := o.s.Settings.Conversations()
	if where == nil {
		return nil, o.s.Settings.NeedHome()
	}
	return where, nil
}

func newConversationsListCommand(s *app.Services) *cobra.Command {
	o := &conversationsOptions{s: s}
	c := &cobra.Command{
		Use:   "list",
		Short: "List the conversations about this project",
		Long: `List the conversations about this project, the one that changed last being first. A project is known by its folder and, where the
system allows, by its repository: a folder that was moved and a linked work tree have the same conversations.`,
		Example: `  agent conversations list
  agent conversations list --all-projects --json`,
		Args: arguments(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return runConversationsList(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.all, "all-projects", false, "list those of all projects")
	c.Flags().IntVar(&o.limit, "limit", 100, "list at most N; 0 lists all")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

// listJSON is the output of agent conversations list --json.
type listJSON struct {
	Conversations []saved.Summary `json:"conversations"`
	More          int             `json:"more,omitempty"` // that were not listed
}

func runConversationsList(ctx context.Context, o *conversationsOptions) error {
	where, err := o.where()
	if err != nil {
		return err
	}
	list, more, err := saved.List(ctx, where, o.all, max(o.limit, 0))
	if err != nil {
		return err
	}
	if o.json {
		return o.s.Out.JSON(listJSON{append([]saved.Summary{}, list...), more})
	}
	if len(list) == 0 {
		o.s.Out.Printf("No conversation is saved.\n")
		return nil
	}
	head := []string{"ID", "CHANGED", "TURNS", "TITLE"}
	if o.all {
		head = append(head, "PROJECT")
	}
	var rows [][]string
	for _, c := range list {
		row := []string{c.ID, c.Updated.Local().Format("2006-01-02 15:04"), fmt.Sprint(c.Turns), c.Label()}
		if o.all {
			row = append(row, c.Project)
		}
		rows = append(rows, row)
	}
	if err := o.s.Out.Table(head, rows); err != nil || more == 0 {
		return err
	}
	o.s.Out.Printf("\n%d more: --limit 0 lists all\n", more)
	return nil
}

func newConversationsShowCommand(s *app.Services, name, short string) *cobra.Command {
	o := &conversationsOptions{s: s, full: name == "export"}
	c := &cobra.Command{
		Use:               name + " ID",
		Short:             short,
		Example:           "  agent conversations " + name + " ID",
		Args:              arguments(1, 1, "the ID of a conversation"),
		ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			o.ids = args
			return runConversationsShow(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func (o *conversationsOptions) complete(c *cobra.Command, _ []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	return conversationIDs(c.Context(), o.s), cobra.ShellCompDirectiveNoFileComp
}

// shownJSON is a conversation in the output of agent conversations show --json.
type shownJSON struct {
	saved.Summary
	Damage    string           `json:"damage,omitempty"`
	Approvals []saved.Approval `json:"approvals"`
	Said      []saved.Turn     `json:"said"`
	Subs      []saved.Summary  `json:"sub_agents,omitempty"`
}

func runConversationsShow(ctx context.Context, o *conversationsOptions) error {
	where, err := o.where()
	if err != nil {
		return err
	}
	c, err := saved.Read(where, o.ids[0], true)
	if err != nil && !errors.Is(err, saved.ErrNewer) {
		return worker.ExplainPast(ctx, where, o.ids[0], err)
	}
	for i := range c.Turns {
		c.Turns[i].Messages = llm.Without(c.Turns[i].Messages, func(*llm.Media, bool) string { return "not shown here" })
	}
	if o.json {
		about := saved.Summary{ID: c.ID, Title: c.Title, Project: c.Project, Updated: c.Updated, Turns: len(c.Turns), From: c.From}
		return o.s.Out.JSON(map[string]shownJSON{"conversation": {about, c.Damage(), append([]saved.Approval{}, c.Approvals...), append([]saved.Turn{}, c.Turns...), saved.Subs(where, c.ID)}})
	}
	if text := c.Damage(); text != "" {
		o.s.Out.Warn(text)
	}
	return o.s.Out.Foreign(o.markdown(c) + subAgents(saved.Subs(where, c.ID)))
}

// subAgents lists the sub-agents of a conversation, for people.
func subAgents(list []saved.Summary) string {
	var b strings.Builder
	for i, s := range list {
		if i == 0 {
			b.WriteString("\n## Sub-agents\n\n")
		}
		fmt.Fprintf(&b, "* %s: %s\n", s.ID, s.Title)
	}
	return b.String()
}

// mostResult is how many bytes of a result are shown.
const mostResult = 400

// markdown returns what was said, for people.
func (o *conversationsOptions) markdown(c *saved.Conversation) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s, about %s\n", c.Title, c.ID, c.Project)
	for _, t := range c.Turns {
		fmt.Fprintf(&b, "\n## Turn %d, %s, %s\n", t.Number, t.Began.Local().Format("2006-01-02 15:04"), t.Model)
		for _, m := range t.Messages {
			for _, p := range m.Parts {
				switch {
				case p.Call != nil:
					fmt.Fprintf(&b, "\n* %s %s\n", p.Call.Name, p.Call.Args)
				case p.Result != nil:
					text := p.Result.Text
					if !o.full && len(text) > mostResult {
						text = strings.ToValidUTF8(text[:mostResult], "") + "…"
					}
					fmt.Fprintf(&b, "  → %s\n", strings.ReplaceAll(text, "\n", "\n    "))
				case p.State != nil:
				case m.Role == llm.User:
					fmt.Fprintf(&b, "\n> %s\n", strings.ReplaceAll(p.Text, "\n", "\n> "))
				default:
					fmt.Fprintf(&b, "\n%s\n", strings.TrimRight(p.Text, "\n"))
				}
			}
		}
		if t.End != nil && t.End.Error != "" {
			fmt.Fprintf(&b, "\n(ended early: %s)\n", t.End.Error)
		}
	}
	return b.String()
}

func newConversationsRemoveCommand(s *app.Services) *cobra.Command {
	o := &conversationsOptions{s: s}
	c := &cobra.Command{
		Use:               "remove ID...",
		Short:             "Remove conversations",
		Example:           "  agent conversations remove ID",
		Args:              arguments(1, -1, "the ID of a conversation"),
		ValidArgsFunction: o.complete,
		RunE: func(c *cobra.Command, args []string) error {
			o.ids = args
			return runConversationsRemove(c.Context(), o)
		},
	}
	c.Flags().BoolVarP(&o.yes, "yes", "y", false, "do not ask")
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runConversationsRemove(ctx context.Context, o *conversationsOptions) error {
	if _, err := o.where(); err != nil {
		return err
	}
	if !o.yes {
		q := &consent.Question{Text: "Remove " + output.Count(len(o.ids), "conversation") + "? It cannot be taken back.", Details: o.ids,
			Nobody: "nobody can be asked here", Instead: "agent conversations remove --yes ID"}
		if ok, err := o.s.Approver.Ask(ctx, q); err != nil || !ok {
			return err
		}
	}
	for _, id := range o.ids {
		if err := worker.RemovePast(ctx, o.s, id); err != nil {
			return err
		}
	}
	if o.json {
		return o.s.Out.JSON(map[string][]string{"removed": o.ids})
	}
	o.s.Out.Printf("Removed %s\n", ui.Safe(output.Count(len(o.ids), "conversation")))
	return nil
}
