package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// bytesPerToken estimates the tokens that no request has counted yet.
const bytesPerToken = 4

// reasonNotRun is the reason in the result of a call that was not run.
const reasonNotRun = "not_run"

// replace sets the history and everything derived from it.
func (c *Conversation) replace(messages []llm.Message) {
	c.messages = messages
	c.ids = map[string]bool{}
	c.known, c.held, c.bytes = 0, 0, prefixSize(c.o.System, c.tools)
	for _, m := range messages {
		c.bytes += size(m.Parts)
		for _, p := range m.Parts {
			if p.Call != nil {
				c.ids[p.Call.ID] = true
			}
		}
	}
}

// add appends parts to the history, as a new message or to the last one if that has the same role, because no provider
// takes two messages of one role in a row.
func (c *Conversation) add(role llm.Role, parts ...llm.Part) {
	c.bytes += size(parts)
	c.record(Change{Added: llm.Message{Role: role, Parts: parts}})
	n := len(c.messages)
	if n == 0 || c.messages[n-1].Role != role {
		c.messages = append(c.messages, llm.Message{Role: role, Parts: parts})
		return
	}
	last := llm.Message{Role: role, Parts: slices.Concat(c.messages[n-1].Parts, parts)}
	c.messages = append(slices.Clone(c.messages[:n-1]), last)
}

// takeBackPrompt removes the last parts of the history: the prompt, with its images and documents.
func (c *Conversation) takeBackPrompt() {
	for c.takeBack(); ; c.takeBack() {
		n := len(c.messages) - 1
		if n < 0 || c.messages[n].Parts[len(c.messages[n].Parts)-1].Media == nil {
			return
		}
	}
}

func (c *Conversation) takeBack() {
	n := len(c.messages) - 1
	m := c.messages[n]
	keep := len(m.Parts) - 1
	c.bytes -= size(m.Parts[keep:])
	c.record(Change{Taken: true})
	c.messages = slices.Clip(c.messages[:n])
	if keep > 0 {
		c.messages = append(c.messages, llm.Message{Role: m.Role, Parts: slices.Clip(m.Parts[:keep])})
	}
}

// addAnswer appends an answer and returns its calls. If the answer is not whole, states at its end are left out, because
// they belong to parts that did not arrive. An empty answer is not added, because providers refuse messages without
// content.
func (c *Conversation) addAnswer(a llm.Answer, whole bool) []*llm.Call {
	var parts []llm.Part
	var calls []*llm.Call
	end := 0
	for _, p := range a.Message.Parts {
		switch {
		case p.Call != nil:
			p.Call = c.ownCall(p.Call)
			calls = append(calls, p.Call)
			if name := c.historyName(p.Call.Name); name != p.Call.Name {
				written := *p.Call
				written.Name = name
				p.Call = &written
			}
		case p.State == nil && strings.TrimSpace(p.Text) == "":
			continue
		}
		parts = append(parts, p)
		if p.State == nil {
			end = len(parts)
		}
	}
	if end == 0 {
		return nil
	}
	if !whole {
		parts = parts[:end]
	}
	c.add(llm.Assistant, parts...)
	return calls
}

// ownCall returns the call, or a copy with a unique id and with arguments that are JSON.
func (c *Conversation) ownCall(call *llm.Call) *llm.Call {
	own := *call
	for n := len(c.ids) + 1; own.ID == "" || c.ids[own.ID]; n++ {
		own.ID = fmt.Sprintf("call_%d", n)
		if c.number > 0 { // others run at the same time
			own.ID = fmt.Sprintf("sub%d_%d", c.number, n)
		}
	}
	c.ids[own.ID] = true
	if own.Raw == "" && len(own.Args) > 0 && !isObject(own.Args) {
		own.Raw = string(own.Args)
	}
	if own.Raw != "" || len(own.Args) == 0 {
		own.Args = json.RawMessage("{}")
	}
	return &own
}

// longestName is the most that all providers accept of a tool's name.
const longestName = 64

// historyName returns the name of a called tool as it stands in the history. Providers refuse a whole conversation for a name with
// other characters than these, which a model can call but not be offered.
func (c *Conversation) historyName(name string) string {
	if c.offers(name) {
		return name
	}
	plain := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) || r == '_' || r == '-' {
			return r
		}
		return '_'
	}, name)
	if plain == "" {
		return "unknown"
	}
	return plain[:min(len(plain), longestName)]
}

func isObject(b json.RawMessage) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(b, &members) == nil && members != nil
}

// notRun is the result of a call that was not run. Every call needs a result.
func (c *Conversation) notRun(call *llm.Call, why string) llm.Part {
	r := tool.Failure(tool.ExecutionFailed, why)
	r.Reason = reasonNotRun
	return llm.Part{Result: &llm.Result{ID: call.ID, Name: c.historyName(call.Name), Text: string(r.Encode()), Failed: true}}
}

// repair returns a history that every provider accepts: the user's message first, the roles alternating, each call
// followed by its one result, and no result without a call. A valid history stays unchanged.
func repair(history []llm.Message) []llm.Message {
	c := &Conversation{ids: map[string]bool{}}
	var open []*llm.Call
	for _, m := range history {
		if m.Role == llm.Assistant {
			c.settle(&open, nil)
			if len(c.messages) > 0 {
				open = c.addAnswer(llm.Answer{Message: m}, true)
			}
			continue
		}
		c.settle(&open, m.Parts)
		for _, p := range m.Parts {
			if strings.TrimSpace(p.Text) != "" || p.Media != nil {
				c.add(llm.User, llm.Part{Text: p.Text, Media: p.Media})
			}
		}
	}
	c.settle(&open, nil)
	return c.messages
}

// settle adds a result for each open call: the one in parts, or one that says that it was not run.
func (c *Conversation) settle(open *[]*llm.Call, parts []llm.Part) {
	for _, call := range *open {
		i := slices.IndexFunc(parts, func(p llm.Part) bool { return p.Result != nil && p.Result.ID == call.ID })
		if i < 0 {
			c.add(llm.User, c.notRun(call, "the result of this call was lost: look whether it happened before you call it again"))
			continue
		}
		c.add(llm.User, llm.Part{Result: parts[i].Result})
	}
	*open = nil
}

// prefixSize estimates the bytes of the prefix in a request.
func prefixSize(system string, tools []llm.Tool) int {
	n := len(system)
	for _, t := range tools {
		n += len(t.Name) + len(t.Description) + len(t.Input)
	}
	return n
}

// size estimates the bytes of parts in a request.
func size(parts []llm.Part) int {
	n := mediaSize(parts)
	for _, p := range parts {
		n += 16 + len(p.Text)
		switch {
		case p.Call != nil:
			n += len(p.Call.ID) + len(p.Call.Name) + len(p.Call.Args) + len(p.Call.Raw)
		case p.Result != nil:
			n += len(p.Result.ID) + len(p.Result.Text)
		case p.State != nil:
			n += len(p.State.Data)
		}
	}
	return n
}
