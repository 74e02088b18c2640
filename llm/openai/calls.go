package openai

import (
	"encoding/json"

	"github.com/agent-base/agent-base/internal/wire"
	"github.com/agent-base/agent-base/llm"
)

// newCall returns a call from the fields that a model sent.
func newCall(ids *wire.IDs, id, name, args string) *llm.Call {
	c := &llm.Call{ID: ids.Unique(id), Name: name}
	c.Args, c.Raw = wire.Args(args)
	return c
}

func isObject(text []byte) bool {
	_, raw := wire.Args(string(text))
	return len(text) > 0 && raw == ""
}

// callDelta is a piece of a call in a chunk of Chat Completions.
type callDelta struct {
	Index    *int   `json:"index"`
	ID       string `json:"id"`
	Function struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"` // a string; an object from some servers
	} `json:"function"`
}

func (d *callDelta) arguments() string {
	if len(d.Function.Arguments) > 0 && d.Function.Arguments[0] == '{' {
		return string(d.Function.Arguments)
	}
	return words(d.Function.Arguments)
}

// draft is a call that is still incomplete.
type draft struct {
	index    *int
	id, name string
	args     []byte
}

// maxDrafts is how many calls an answer may have, because each piece is compared with all of them.
const maxDrafts = 1000

// drafts builds calls from their pieces, in the order of their beginnings.
type drafts []*draft

func (ds *drafts) add(d *callDelta) {
	args := d.arguments()
	t := ds.find(d)
	if t == nil {
		t = &draft{index: d.Index}
		*ds = append(*ds, t)
	}
	if t.id == "" {
		t.id = d.ID
	}
	if t.name == "" {
		t.name = d.Function.Name
	}
	t.args = append(t.args, args...)
}

// find returns the call that d continues, or nil if d begins a call. It is the last call with d's index, unless the id or
// name of d excludes it. Servers that leave out the index, or use one index for all calls, send calls one after another.
func (ds drafts) find(d *callDelta) *draft {
	var last *draft
	for _, t := range ds {
		if d.Index == nil || t.index == nil || *d.Index == *t.index {
			last = t
		}
	}
	if last == nil || d.Function.Name == "" || last.name == "" {
		return last
	}
	if d.ID != "" && last.id != "" {
		if d.ID != last.id {
			return nil
		}
		return last
	}
	if isObject(last.args) {
		return nil
	}
	return last
}
