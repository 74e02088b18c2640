package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/mcphost"
)

// prompt returns the text of a prompt of a server that the user calls as /label:name, with arguments in the order in which the server
// has them, or as name=value. It reports false if name is none of a server.
func (v *connected) prompt(ctx context.Context, name, args string) (text string, ok bool, err error) {
	label, own, ok := strings.Cut(name, ":")
	if v == nil || !ok || !slices.Contains(v.host.Labels(), label) {
		return "", false, nil
	}
	all, err := v.host.Prompts(ctx, label)
	if err != nil {
		return "", true, err
	}
	i := slices.IndexFunc(all, func(p mcphost.Prompt) bool { return p.Name == own })
	if i < 0 {
		return "", true, failure.NotFound(fmt.Errorf("the MCP server %s has no prompt %q", label, own), "it has: "+strings.Join(promptNames(all), ", "))
	}
	values, err := promptArgs(&all[i], args)
	if err != nil {
		return "", true, failure.Usage(err, promptUsage(label, &all[i]))
	}
	messages, err := v.host.Prompt(ctx, label, own, values)
	if err != nil {
		return "", true, err
	}
	var parts []string
	for _, m := range messages {
		if m.Role == "assistant" {
			parts = append(parts, "(as you might have said) "+m.Text)
			continue
		}
		parts = append(parts, m.Text)
	}
	return fmt.Sprintf("The user chose the prompt %s of the MCP server %s. Do what it says, as far as it is the kind of task that its name says.\n<mcp_prompt>\n%s\n</mcp_prompt>",
		own, label, disclose.Shield(strings.Join(parts, "\n\n"), "mcp_prompt")), true, nil
}

func promptNames(all []mcphost.Prompt) []string {
	var names []string
	for _, p := range all {
		names = append(names, p.Name)
	}
	return names
}

// promptArgs returns the arguments of a prompt. The last one takes the rest of the line.
func promptArgs(p *mcphost.Prompt, line string) (map[string]string, error) {
	values := map[string]string{}
	words := strings.Fields(line)
	for i := 0; i < len(words); i++ {
		if name, value, ok := strings.Cut(words[i], "="); ok && slices.ContainsFunc(p.Arguments, func(a mcphost.Argument) bool { return a.Name == name }) {
			values[name] = value
			continue
		}
		free := slices.IndexFunc(p.Arguments, func(a mcphost.Argument) bool { _, has := values[a.Name]; return !has })
		if free < 0 {
			return nil, fmt.Errorf("%q is an argument too many", words[i])
		}
		values[p.Arguments[free].Name] = words[i]
		if free == len(p.Arguments)-1 {
			values[p.Arguments[free].Name] = strings.Join(words[i:], " ")
			break
		}
	}
	for _, a := range p.Arguments {
		if _, ok := values[a.Name]; !ok && a.Required {
			return nil, errors.New("no " + a.Name + " given")
		}
	}
	return values, nil
}

// promptUsage shows how a prompt is called.
func promptUsage(label string, p *mcphost.Prompt) string {
	text := "/" + label + ":" + p.Name
	for _, a := range p.Arguments {
		if a.Required {
			text += " " + strings.ToUpper(a.Name)
		} else {
			text += " [" + strings.ToUpper(a.Name) + "]"
		}
	}
	return text
}
