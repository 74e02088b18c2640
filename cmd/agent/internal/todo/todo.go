// Package todo has the list of steps that a model keeps of its work: the tool that writes it, its bounds, and how it reads.
//
// The texts of a list come from a model: whoever shows them to a person sanitises them.
package todo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/agent-base/agent-base/tool"
)

// Name is the name of the tool that writes a list.
const Name = "todo_write"

// The bounds of a list.
const (
	maxItems = 100
	maxText  = 500 // characters of an item
)

// State says how far an item is.
type State string

// The states.
const (
	Pending State = "pending"
	Active  State = "in_progress"
	Done    State = "completed"
)

// Item is one step.
type Item struct {
	Text  string `json:"text"`
	State State  `json:"state"`
}

// Row returns an item as a line of text.
func (i Item) Row() string {
	mark := " "
	switch i.State {
	case Active:
		mark = ">"
	case Done:
		mark = "x"
	}
	return "[" + mark + "] " + i.Text
}

// Count returns how many items are done.
func Count(items []Item) (done int) {
	for _, i := range items {
		if i.State == Done {
			done++
		}
	}
	return done
}

// List is the list of one conversation. The zero value is empty. It is safe for concurrent use; the items are never changed.
type List struct {
	mu    sync.Mutex
	items []Item
}

// Items returns the items.
func (l *List) Items() []Item {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.items
}

// Set replaces the items.
func (l *List) Set(items []Item) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.items = items
}

// JSON returns the items, [] if there are none.
func (l *List) JSON() []byte {
	b, err := json.Marshal(append([]Item{}, l.Items()...))
	if err != nil { // they are texts
		return nil
	}
	return b
}

// Text returns the list for a model, "" if it is empty.
func (l *List) Text() string {
	items := l.Items()
	if len(items) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("Your list of steps, as " + Name + " left it:")
	for _, i := range items {
		b.WriteString("\n" + i.Row())
	}
	return b.String()
}

// Brief returns a call of the tool in a few words: how many items are done, and the first that is worked on.
func Brief(args json.RawMessage) string {
	var a struct{ Items []Item }
	if tool.Arguments(args, &a) != nil {
		return ""
	}
	text := fmt.Sprintf("%d of %d", Count(a.Items), len(a.Items))
	if n := slices.IndexFunc(a.Items, func(i Item) bool { return i.State == Active }); n >= 0 {
		text += ": " + a.Items[n].Text
	}
	return text
}

// Read reads the items that a conversation was saved with. It returns none if they are not such as the tool accepts.
func Read(src json.RawMessage) []Item {
	var items []Item
	if json.Unmarshal(src, &items) != nil || check(items) != nil {
		return nil
	}
	return items
}

var schema = json.RawMessage(`{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{` +
	`"text":{"type":"string"},"state":{"enum":["pending","in_progress","completed"]}},"required":["text","state"]}}},"required":["items"]}`)

// Tool returns the tool that writes the list.
func (l *List) Tool() tool.Tool {
	return tool.Tool{Name: Name, Input: schema,
		Description: "Write your list of steps for a task with several; the user sees it. Each call replaces the whole list; [] removes it.",
		Call: func(_ context.Context, raw json.RawMessage) tool.Result {
			var a struct{ Items []Item }
			if err := tool.Arguments(raw, &a); err != nil {
				return tool.CauseArguments.Failure(fmt.Sprintf("arguments do not fit the tool's schema: %v", err))
			}
			if err := check(a.Items); err != nil {
				if errors.Is(err, errLarge) {
					return tool.Failure(tool.ArgsTooLarge, err.Error())
				}
				return tool.CauseArguments.Failure(err.Error())
			}
			l.Set(slices.Clip(a.Items))
			return tool.Success(nil, fmt.Sprintf("%d of %d done", Count(a.Items), len(a.Items)))
		}}
}

// errLarge is the error of a list that passes a bound.
var errLarge = errors.New("the list stays as it was")

// check returns an error for items that are no list.
func check(items []Item) error {
	if len(items) > maxItems {
		return fmt.Errorf("items has %d entries, the limit is %d: write larger steps; %w", len(items), maxItems, errLarge)
	}
	for n, i := range items {
		switch {
		case strings.TrimSpace(i.Text) == "":
			return fmt.Errorf("items[%d] has no text", n)
		case utf8.RuneCountInString(i.Text) > maxText:
			return fmt.Errorf("items[%d] has %d characters, the limit is %d; %w", n, utf8.RuneCountInString(i.Text), maxText, errLarge)
		case i.State != Pending && i.State != Active && i.State != Done:
			return fmt.Errorf("the state of items[%d] is %.40q: write pending, in_progress or completed", n, i.State)
		}
	}
	return nil
}
