package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/consent"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/mcphost"
)

// form asks the user what an MCP server asks. The label, which the user chose, stands in each question; the words of the server are
// details.
type form struct {
	approver *consent.Approver
	q        *mcphost.Question
	open     func(ctx context.Context, address string) // shows a page in a browser
}

// fill asks, and returns what the server gets. An error means that nobody can be asked any more.
func (f *form) fill(ctx context.Context) (*mcphost.Answer, error) {
	if f.q.Mode == mcphost.ModeURL {
		return f.visit(ctx)
	}
	details := strings.Split(ui.Exact(f.q.Message), "\n")
	for _, field := range f.q.Fields {
		details = append(details, "  "+about(&field))
	}
	if yes, err := f.yes(ctx, fmt.Sprintf("The MCP server %s asks you something. Answer it?", f.q.Label), details); err != nil || !yes {
		return &mcphost.Answer{Action: mcphost.ActionDecline}, err
	}
	content, shown := map[string]any{}, []string{}
	for _, field := range f.q.Fields {
		value, ok, err := f.field(ctx, &field)
		if err != nil {
			return nil, err
		}
		if !ok && field.Required {
			return &mcphost.Answer{Action: mcphost.ActionCancel}, nil
		}
		if ok {
			content[field.Name] = value
			shown = append(shown, fmt.Sprintf("%s: %s", field.Name, written(value)))
		}
	}
	if yes, err := f.yes(ctx, fmt.Sprintf("Send this to the MCP server %s?", f.q.Label), strings.Split(ui.Exact(strings.Join(shown, "\n")), "\n")); err != nil || !yes {
		return &mcphost.Answer{Action: mcphost.ActionDecline}, err
	}
	return &mcphost.Answer{Action: mcphost.ActionAccept, Content: content}, nil
}

// written returns a value as the server gets it.
func written(value any) string {
	if text, ok := value.(string); ok {
		return text
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	return string(raw)
}

// visit asks whether a page is shown.
func (f *form) visit(ctx context.Context) (*mcphost.Answer, error) {
	u, err := url.Parse(f.q.URL)
	if err != nil || u.Host == "" || u.User != nil {
		return &mcphost.Answer{Action: mcphost.ActionDecline}, nil //nolint:nilerr // the server gets a no: this is no page for a person
	}
	details := append(strings.Split(ui.Exact(f.q.Message), "\n"), "", ui.Exact(f.q.URL))
	yes, err := f.yes(ctx, fmt.Sprintf("The MCP server %s wants you to see a page of %s. Open it?", f.q.Label, ui.Exact(u.Host)), details)
	if err != nil || !yes {
		return &mcphost.Answer{Action: mcphost.ActionDecline}, err
	}
	f.open(ctx, f.q.URL)
	return &mcphost.Answer{Action: mcphost.ActionAccept}, nil
}

func (f *form) yes(ctx context.Context, text string, details []string) (bool, error) {
	answer, err := f.approver.Answer(ctx, &ui.Question{Text: text, Details: details})
	return answer == "y", err
}

// about describes a field in a line.
func about(field *mcphost.Field) string {
	text := field.Name
	if field.Title != "" && field.Title != field.Name {
		text += " (" + field.Title + ")"
	}
	if field.Description != "" {
		text += ": " + field.Description
	}
	if !field.Required {
		text += " [may be left out]"
	}
	return ui.Exact(strings.Join(strings.Fields(text), " "))
}

// several is the type of a field with some of several values.
const several = "array"

// mostKeys is how many values can be chosen by one key.
const mostKeys = 9

// field asks for the value of a field until it has one. It reports false if the user leaves it out.
func (f *form) field(ctx context.Context, field *mcphost.Field) (value any, ok bool, err error) {
	details := []string{about(field)}
	if n := len(field.Enum); n > 0 && n <= mostKeys && field.Type != several || field.Type == "boolean" {
		return f.chosen(ctx, field, details)
	}
	if field.Type == several {
		details = append(details, "Some of these, with commas:")
	}
	for i := range field.Enum {
		details = append(details, "  "+ui.Exact(named(field, i)))
	}
	shown, text := details, fmt.Sprintf("%s, for the MCP server %s?", field.Name, f.q.Label)
	if field.Default != nil {
		text += " Enter means " + ui.Exact(string(field.Default)) + "."
	}
	for {
		line, err := f.approver.Answer(ctx, &ui.Question{Text: text, Details: details, Free: true})
		switch {
		case err != nil:
			return nil, false, err
		case line == "" && field.Default != nil:
			return field.Default, true, nil // JSON
		case line == "":
			return nil, false, nil
		}
		value, err := read(field, line)
		if err == nil {
			return value, true, nil
		}
		details = append(slices.Clone(shown), err.Error())
	}
}

// chosen asks for one of a few values.
func (f *form) chosen(ctx context.Context, field *mcphost.Field, details []string) (any, bool, error) {
	values, choices := map[string]any{"y": true, "n": false}, []ui.Choice{{Key: "y", Label: "yes"}, {Key: "n", Label: "no"}}
	if field.Type != "boolean" {
		values, choices = map[string]any{}, nil
		for i, v := range field.Enum {
			key := strconv.Itoa(i + 1)
			values[key], choices = v, append(choices, ui.Choice{Key: key, Label: ui.Exact(named(field, i))})
		}
	}
	answer, err := f.approver.Answer(ctx, &ui.Question{Text: fmt.Sprintf("%s, for the MCP server %s?", field.Name, f.q.Label), Details: details, Choices: choices})
	value, ok := values[answer]
	return value, ok, err
}

// named returns the value of an enumeration as a person reads it.
func named(field *mcphost.Field, i int) string {
	if i < len(field.EnumTitles) && field.EnumTitles[i] != field.Enum[i] {
		return field.Enum[i] + ": " + field.EnumTitles[i]
	}
	return field.Enum[i]
}

// read returns the value that a line is.
func read(field *mcphost.Field, line string) (any, error) {
	switch {
	case field.Type == several:
		values := []string{}
		for word := range strings.SplitSeq(line, ",") {
			if word = strings.TrimSpace(word); !slices.Contains(field.Enum, word) {
				return nil, fmt.Errorf("%q is not one of the values", word)
			}
			values = append(values, word)
		}
		return values, nil
	case len(field.Enum) > 0 && !slices.Contains(field.Enum, line):
		return nil, fmt.Errorf("%q is not one of the values", line)
	case field.Type == "integer":
		n, err := strconv.ParseInt(line, 10, 54)
		if err != nil {
			return nil, fmt.Errorf("%q is no whole number", line)
		}
		return n, nil
	case field.Type == "number":
		n, err := strconv.ParseFloat(line, 64)
		if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
			return nil, fmt.Errorf("%q is no number", line)
		}
		return n, nil
	case field.Type == "string":
		return line, nil
	}
	return nil, errors.New("a value of the type " + field.Type + " cannot be typed")
}
