package gemini

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// The SDK holds JSON in maps: numbers become floats, so that an id of 19 digits comes out as another one, and
// arguments that are no object end the stream. What must stay as it is goes past it as text under exactKey: on the
// way out request puts it back, on the way in event wraps it.
const exactKey = "exact"

// exact is the transport below the SDK.
type exact struct {
	next    http.RoundTripper
	keyless bool
}

// RoundTrip sends a request; the events of its answer are made so that the SDK can read all of them.
func (t *exact) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.keyless {
		req = req.Clone(req.Context())
		req.Header.Del("X-Goog-Api-Key")
	}
	resp, err := t.next.RoundTrip(req)
	if err == nil && resp.StatusCode < 300 {
		resp.Body = &events{source: resp.Body, lines: bufio.NewReader(resp.Body)}
	}
	return resp, err
}

// events reads server-sent events and gives them on, each as one line of data.
type events struct {
	source io.Closer
	lines  *bufio.Reader // its source bounds the length of a line
	data   []byte        // of the event so far
	out    []byte        // what Read has to give
	ended  bool
}

// Read reads on. It hides errors of the source, which stand in the wire.Exchange: the SDK would print them.
func (e *events) Read(p []byte) (int, error) {
	for len(e.out) == 0 {
		if e.ended {
			return 0, io.EOF
		}
		line, err := e.lines.ReadBytes('\n')
		e.ended = err != nil
		e.take(bytes.TrimRight(line, "\r\n"))
	}
	n := copy(p, e.out)
	e.out = e.out[n:]
	return n, nil
}

// take takes a line; an empty one ends an event, and so does the end of the stream if the event is whole.
func (e *events) take(line []byte) {
	if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
		e.data = append(append(e.data, value...), ' ') // in JSON a space is as good as the line break
	}
	if len(line) > 0 && !e.ended {
		return // other fields say nothing here
	}
	if data := bytes.TrimSpace(e.data); len(data) > 0 && (!e.ended || json.Valid(data)) {
		e.out = append(append([]byte("data: "), event(data)...), "\n\n"...)
	}
	e.data = e.data[:0]
}

// Close ends the exchange.
func (e *events) Close() error { return e.source.Close() }

// The part of an answer that is read.
type (
	chunk struct {
		Candidates     []candidate     `json:"candidates,omitempty"`
		PromptFeedback json.RawMessage `json:"promptFeedback,omitempty"`
		UsageMetadata  json.RawMessage `json:"usageMetadata,omitempty"`
		Error          json.RawMessage `json:"error,omitempty"`
	}
	candidate struct {
		Content      content `json:"content"`
		FinishReason string  `json:"finishReason,omitempty"`
	}
	content struct {
		Parts []part `json:"parts,omitempty"`
	}
	part struct {
		Text             string `json:"text,omitempty"`
		Thought          bool   `json:"thought,omitempty"`
		ThoughtSignature string `json:"thoughtSignature,omitempty"`
		FunctionCall     *call  `json:"functionCall,omitempty"`
	}
	call struct {
		ID   string          `json:"id,omitempty"`
		Name string          `json:"name,omitempty"`
		Args json.RawMessage `json:"args,omitempty"`
	}
)

// event returns the data of an event with the arguments of calls wrapped, or something that the SDK refuses: a string
// that says what is wrong.
func event(data []byte) []byte {
	var c chunk
	err := json.Unmarshal(data, &c)
	if err == nil {
		for _, candidate := range c.Candidates {
			for _, p := range candidate.Content.Parts {
				if p.FunctionCall != nil {
					p.FunctionCall.Args = wrapped(p.FunctionCall.Args)
				}
			}
		}
		if data, err = json.Marshal(c); err == nil {
			return data
		}
	}
	text, _ := json.Marshal(err.Error()) // a string always goes
	return text
}

func wrapped(args json.RawMessage) json.RawMessage {
	if len(args) == 0 || string(args) == "null" {
		return nil
	}
	text, _ := json.Marshal(map[string]string{exactKey: string(args)}) // strings always go
	return text
}

// unwrap returns the arguments of a call as they came.
func unwrap(args map[string]any) string {
	text, _ := args[exactKey].(string)
	return text
}

// restore puts into a request's body what went past the SDK: arguments, schemas, and the text of parts that are
// nothing but a signature, since a part must be of some kind.
func restore(body map[string]any) map[string]any {
	each(body["contents"], func(content map[string]any) {
		each(content["parts"], func(p map[string]any) {
			if c, ok := p["functionCall"].(map[string]any); ok {
				args, _ := c["args"].(map[string]any)
				c["args"] = json.RawMessage(unwrap(args))
			}
			if _, signed := p["thoughtSignature"]; signed && len(p) == 1 {
				p["text"] = ""
			}
		})
	})
	each(body["tools"], func(tool map[string]any) {
		each(tool["functionDeclarations"], func(f map[string]any) {
			if schema, ok := f["parametersJsonSchema"].(string); ok {
				f["parametersJsonSchema"] = json.RawMessage(strings.TrimSpace(schema))
			}
		})
	})
	return body
}

// each calls f for the objects of a list.
func each(list any, f func(map[string]any)) {
	switch list := list.(type) {
	case []any:
		for _, item := range list {
			if object, ok := item.(map[string]any); ok {
				f(object)
			}
		}
	case []map[string]any:
		for _, object := range list {
			f(object)
		}
	}
}
