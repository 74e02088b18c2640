package chat

import (
	"encoding/json"
	"testing"
)

func TestPretty(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"no JSON", "plain\ntext", "plain\ntext"},
		{"empty", "", ""},
		{"object", `{"a":1,"b":"x"}`, "{\n  \"a\": 1,\n  \"b\": \"x\"\n}"},
		{"lines", `{"a":"one\n two\n","b":2}`, "{\n  \"a\":\n    one\n     two\n  \"b\": 2\n}"},
		{"lines in a list", `["one\ntwo","x\n"]`, "[\n  -\n    one\n    two\n  \"x\\n\"\n]"},
		{"a name with quotes", `{"a\": ":"one\ntwo"}`, "{\n  \"a\\\": \":\n    one\n    two\n}"},
		{"one string", `"one\ntwo"`, "-\n  one\n  two"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := pretty(tt.text); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

func FuzzPretty(f *testing.F) {
	f.Add(`{"a":"one\ntwo","b":["\\\"",{}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		got := pretty(text)
		if !json.Valid([]byte(text)) && got != text {
			t.Errorf("text that is no JSON becomes %q", got)
		}
	})
}
