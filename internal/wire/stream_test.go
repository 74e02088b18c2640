package wire_test

import (
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agent-base/agent-base/internal/wire"
)

func TestEvents(t *testing.T) {
	tests := []struct {
		name, stream string
		want         []string
	}{
		{"none", "", nil},
		{"two", "data: 1\n\ndata:2\n\n", []string{"1", "2"}},
		{"line breaks of Windows", "data: 1\r\n\r\ndata: 2\r\n\r\n", []string{"1", "2"}},
		{"other fields", ": ping\n\nevent: x\nid: 1\ndata: 1\nretry: 5\n\n", []string{"1"}},
		{"lines of one event", "data: {\ndata: \"a\":1}\n\n", []string{"{\n \"a\":1}"}},
		{"without data", "event: x\n\ndata:\n\ndata: 1\n\n", []string{"1"}},
		{"without the last line break", "data: 1\n\ndata: {}", []string{"1", "{}"}},
		{"cut", "data: 1\n\ndata: {\"a\"", []string{"1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			events := wire.NewEvents(iotest.OneByteReader(strings.NewReader(tt.stream)))
			var got []string
			for events.Next() {
				got = append(got, string(events.Data()))
			}
			if !slices.Equal(got, tt.want) || events.Err() != nil || events.Next() {
				t.Errorf("got %q, %v, want %q", got, events.Err(), tt.want)
			}
		})
	}
}

// An event before a failure is read; one that the failure cuts off is not.
func TestEventsFail(t *testing.T) {
	events := wire.NewEvents(io.MultiReader(strings.NewReader("data: 1\n\ndata: 2\n"), iotest.ErrReader(io.ErrUnexpectedEOF)))
	if !events.Next() || string(events.Data()) != "1" {
		t.Errorf("got %q, want the first event", events.Data())
	}
	if events.Next() || events.Err() != io.ErrUnexpectedEOF {
		t.Errorf("got %q, %v, want %v", events.Data(), events.Err(), io.ErrUnexpectedEOF)
	}
}

func TestNewPost(t *testing.T) {
	req, err := wire.NewPost(t.Context(), "http://localhost/x", map[string]string{"a": "<b>"})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil || string(body) != "{\"a\":\"<b>\"}\n" || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %q, %v, %v", body, req.Header, err)
	}
	if _, err := wire.NewPost(t.Context(), "http://localhost/x", json.RawMessage("{")); err == nil {
		t.Error("got no error for a body that is not JSON")
	}
}
