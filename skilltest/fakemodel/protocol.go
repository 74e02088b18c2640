package fakemodel

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// protocol holds the functions that differ between wires.
type protocol struct {
	wire    Wire
	read    func(*Request) error                        // fills the view from path, header and body
	whole   func(*answer) node                          // the answer without streaming
	events  func(*answer) []event                       // the streamed answer
	failure func(status int, code, message string) node // the body of an error
	broken  func(code, message string) event            // the event of an error within a stream
}

// node is a JSON object of an answer.
type node map[string]any

// event is one event of a stream. Most wires have no event names.
type event struct {
	name string
	data any // a node, or the text itself
}

func (e event) bytes() []byte {
	var b bytes.Buffer
	if e.name != "" {
		b.WriteString("event: " + e.name + "\n")
	}
	b.WriteString("data: ")
	if text, ok := e.data.(string); ok {
		b.WriteString(text)
	} else {
		b.Write(encode(e.data))
	}
	b.WriteString("\n\n")
	return b.Bytes()
}

// encode writes JSON as the vendors do: without escapes for HTML and letters.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(fmt.Sprintf("fakemodel: %v", err)) // a node holds only JSON values
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// protocolOf returns the wire of a path. For OpenAI's wires /v1 is optional, as on some servers.
func protocolOf(path string) (protocol, bool) {
	switch strings.TrimPrefix(path, "/v1") {
	case "/messages":
		return anthropicProtocol(), path != "/messages"
	case "/responses":
		return responsesProtocol(), true
	case "/chat/completions":
		return chatProtocol(), true
	}
	_, method := geminiPath(path)
	return geminiProtocol(), method != ""
}

func writeModels(w http.ResponseWriter, path string) {
	w.Header().Set("Content-Type", "application/json")
	if strings.HasPrefix(path, "/v1beta") {
		_, _ = w.Write(encode(node{"models": []node{{"name": "models/fake-model", "displayName": "Fake",
			"supportedGenerationMethods": []string{"generateContent"}}}}))
		return
	}
	_, _ = w.Write(encode(node{"object": "list", "has_more": false, "data": []node{{"id": "fake-model", "object": "model",
		"created": 1, "owned_by": "fake", "type": "model", "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z"}}}))
}

func writeFailure(w http.ResponseWriter, p protocol, s *Step) {
	if s.RetryAfter != "" {
		w.Header().Set("Retry-After", s.RetryAfter)
	}
	body := []byte(s.Body)
	if s.Body == "" {
		body = encode(p.failure(s.Status, s.Code, s.Message))
		w.Header().Set("Content-Type", "application/json")
	}
	w.WriteHeader(s.Status)
	_, _ = w.Write(body)
}

// answer sends the answer with its fault, if it has one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, p protocol, a *answer) {
	if a.Fault.Kind == Failure && !a.request.Stream {
		a.Status = http.StatusInternalServerError
	}
	if a.Fault.Kind == Mute {
		s.hang(r.Context().Done(), a.Fault.Release)
		a.Fault = Fault{}
	}
	if a.Status >= 400 {
		writeFailure(w, p, &a.Step)
		return
	}
	s.remember(a)
	var chunks [][]byte
	switch {
	case !a.request.Stream:
		w.Header().Set("Content-Type", "application/json")
		chunks = [][]byte{encode(p.whole(a))}
		w.Header().Set("Content-Length", fmt.Sprint(len(chunks[0])))
	case a.request.array:
		w.Header().Set("Content-Type", "application/json")
		chunks = array(p.events(a))
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range p.events(a) {
			chunks = append(chunks, e.bytes())
		}
	}
	if a.Fault.Kind == Garbage || a.Fault.Kind == End {
		w.Header().Del("Content-Length")
	}
	(&sender{server: s, w: w, gone: r.Context().Done(), p: p, a: a}).send(chunks)
}

// array writes the events as the elements of one JSON array.
func array(events []event) [][]byte {
	var chunks [][]byte
	for i, e := range events {
		before := ",\n"
		if i == 0 {
			before = "["
		}
		chunks = append(chunks, append([]byte(before), encode(e.data)...))
	}
	return append(chunks, []byte("]"))
}

// sender writes one answer.
type sender struct {
	server *Server
	w      http.ResponseWriter
	gone   <-chan struct{} // closed when the client disconnects
	p      protocol
	a      *answer
}

func (s *sender) send(chunks [][]byte) {
	s.write(nil) // the header is sent before any fault
	f := s.a.Fault
	if f.Kind != "" && f.After > len(chunks) {
		s.server.problem(fmt.Errorf("request %d: fault after %d events, but the answer has %d", s.a.request.Number, f.After, len(chunks)))
	}
	for i := 0; i <= len(chunks); i++ {
		var chunk []byte
		if i < len(chunks) {
			chunk = chunks[i]
		}
		if f.Kind != "" && i == f.After {
			var goesOn bool
			if chunk, goesOn = s.fail(f, chunk); !goesOn {
				return
			}
		}
		s.write(chunk)
	}
}

// fail applies the fault. It returns the part of the chunk that is still to be sent, and whether the answer continues.
func (s *sender) fail(f Fault, chunk []byte) (rest []byte, goesOn bool) {
	some := min(f.Bytes, len(chunk))
	switch f.Kind {
	case Cut:
		s.write(chunk[:some])
		panic(http.ErrAbortHandler) // the only way to abort a connection
	case End:
		s.write(chunk[:some])
		return nil, false
	case Hang:
		s.write(chunk[:some])
		s.server.hang(s.gone, f.Release)
		return chunk[some:], true
	case Garbage:
		return bytes.Replace(chunk, []byte(`{"`), []byte(`{]"`), 1), true
	case Failure:
		s.write(s.p.broken(s.a.Code, s.a.Message).bytes())
		return nil, false
	}
	panic("fakemodel: unknown fault " + string(f.Kind))
}

// hang waits for the release of a fault. If the client or the server closes the connection first, it ends the answer.
func (s *Server) hang(gone, release <-chan struct{}) {
	select {
	case <-release:
	case <-gone:
		panic(http.ErrAbortHandler)
	case <-s.closing:
		panic(http.ErrAbortHandler)
	}
}

// write sends b at once. It ignores a client that has disconnected.
func (s *sender) write(b []byte) {
	flush := http.NewResponseController(s.w)
	if !s.a.Drip {
		_, _ = s.w.Write(b)
		_ = flush.Flush()
		return
	}
	for i := range b {
		_, _ = s.w.Write(b[i : i+1])
		_ = flush.Flush()
	}
}
