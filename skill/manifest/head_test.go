package manifest

import "testing"

func TestHeadEnd(t *testing.T) {
	rows := []struct {
		name, text string
		want       string
	}{
		{"plain", "---\na: b\n---\nbody", "---\na: b\n---\n"},
		{"blanks after the dashes", "--- \na: b\n---  \nbody", "--- \na: b\n---  \n"},
		{"CRLF", "---\r\na: b\r\n---\r\nbody", "---\r\na: b\r\n---\r\n"},
		{"four dashes do not end it", "---\na: b\n----\n---\nbody", "---\na: b\n----\n---\n"},
		{"dashes in a line do not end it", "---\na: b---\n ---\n---\nbody", "---\na: b---\n ---\n---\n"},
		{"not certain at the end of what was read", "---\na: b\n---", ""},
		{"empty", "---\n---\n", "---\n---\n"},
		{"a mark at the start", "\ufeff---\na: b\n---\nx", "\ufeff---\na: b\n---\n"},
		{"none", "text", ""},
	}
	for _, r := range rows {
		if got := r.text[:HeadEnd([]byte(r.text))]; got != r.want {
			t.Errorf("%s: got %q, want %q", r.name, got, r.want)
		}
	}
}
