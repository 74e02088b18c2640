package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/wiretest"
	"github.com/agent-base/agent-base/llm"
)

// Images and documents are parts of the user's content, and those of a result are within it on the wire that can have them there.
func TestMedia(t *testing.T) {
	const image, document = "data:image/png;base64,UE5H", "data:application/pdf;base64,UERG"
	tests := []struct {
		name, base string
		build      func(*Options) llm.Model
		field      string
		want       string
	}{
		{"responses", "https://host.example/v1", New, "input", `[
			{"role":"user","content":[{"type":"input_image","image_url":"` + image + `"}]},
			{"role":"user","content":[{"type":"input_file","filename":"b.pdf","file_data":"` + document + `"}]},
			{"role":"user","content":"compare"},
			{"type":"function_call","call_id":"c1","name":"read","arguments":"{}"},
			{"type":"function_call_output","call_id":"c1","output":[{"type":"input_text","text":"two"},
				{"type":"input_image","image_url":"` + image + `"},{"type":"input_file","filename":"b.pdf","file_data":"` + document + `"}]}]`},
		{"chat", "https://openrouter.ai/api/v1", NewChat, "messages", `[
			{"role":"user","content":[{"type":"image_url","image_url":{"url":"` + image + `"}},
				{"type":"file","file":{"filename":"b.pdf","file_data":"` + document + `"}},{"type":"text","text":"compare"}]},
			{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"read","arguments":"{}"}}]},
			{"role":"tool","content":"two","tool_call_id":"c1"},
			{"role":"user","content":[{"type":"text","text":"Of the result of read:"},{"type":"image_url","image_url":{"url":"` + image + `"}},
				{"type":"text","text":"Of the result of read:"},{"type":"file","file":{"filename":"b.pdf","file_data":"` + document + `"}}]}]`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sent []byte
			m := tt.build(&Options{BaseURL: tt.base, Model: "m", HTTP: &http.Client{Transport: wiretest.RoundTrip(func(r *http.Request) (*http.Response, error) {
				sent = []byte(bodyOf(t, r))
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(sse(chatDone, responsesDone)))}, nil
			})}})
			if _, err := lines(t.Context(), m, wiretest.Shown()); err != nil {
				t.Fatal(err)
			}
			var fields map[string]json.RawMessage
			var want bytes.Buffer
			if err := errors.Join(json.Unmarshal(sent, &fields), json.Compact(&want, []byte(tt.want))); err != nil {
				t.Fatal(err)
			}
			if got := string(fields[tt.field]); got != want.String() {
				t.Errorf("got  %s\nwant %s", got, want.String())
			}
		})
	}
}

// A server whose Chat Completions have no documents is sent none.
func TestChatRefusesDocuments(t *testing.T) {
	s := serve(t, chatDone)
	_, err := lines(t.Context(), NewChat(&Options{BaseURL: s.URL, Model: "m"}), wiretest.Shown())
	if kindOf(err) != string(llm.BadRequest) || !strings.Contains(err.Error(), "b.pdf (file, 3 bytes) cannot be sent: Chat Completions of this server have no PDF documents") {
		t.Errorf("got %v", err)
	}
	if n := len(s.Asked()); n != 0 {
		t.Errorf("got %d requests, want none", n)
	}
}

// A document without a name has one: a server refuses it otherwise.
func TestDocumentHasAName(t *testing.T) {
	if got := fileName(&llm.Media{Type: "application/pdf"}); got != "document.pdf" {
		t.Errorf("got %q", got)
	}
}
