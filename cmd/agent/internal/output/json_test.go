package output

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Control characters of a terminal do not come out of --json unchanged (security 2.14 #184), and the value is the same.
func TestWriteJSON(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"plain", "a<b>é日本", `"a<b>é日本"`},
		{"controls", "\x1b[2J\x7f\u009b2J\u0085", `"\u001b[2J\u007f\u009b2J\u0085"`},
		{"directions and hidden letters", "\u202ea\u200bb\u2028\U000e0041", `"\u202ea\u200bb\u2028\udb40\udc41"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := writeJSON(&b, c.text); err != nil || b.String() != c.want+"\n" {
				t.Errorf("got %s, %v; want %s", b.String(), err, c.want)
			}
			var back string
			if err := json.Unmarshal(b.Bytes(), &back); err != nil || back != c.text {
				t.Errorf("it reads as %q, %v", back, err)
			}
		})
	}
}

// A long list is written in blocks, and reads the same.
func TestPrintList(t *testing.T) {
	items := make([]string, 1000)
	for i := range items {
		items[i] = strings.Repeat("é\u200b", 200) + strconv.Itoa(i)
	}
	var b bytes.Buffer
	l := &List[string]{Key: "items", Items: items, Append: AppendText, More: []Member{{Key: "more", Value: "\u202e"}}}
	if err := l.write(&b); err != nil || bytes.ContainsRune(b.Bytes(), '\u200b') {
		t.Fatalf("got %v, %.100q", err, b.String())
	}
	var got struct {
		Items []string
		More  string
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || !slices.Equal(got.Items, items) || got.More != "\u202e" {
		t.Errorf("it reads as %.100q, %v", got, err)
	}
	b.Reset()
	if err := (&List[string]{Key: "items", Append: AppendText}).write(&b); err != nil || b.String() != "{\"items\":[]}\n" {
		t.Errorf("an empty list: got %q, %v", b.String(), err)
	}
}

// AppendText writes what the encoder writes.
func FuzzAppendText(f *testing.F) {
	for _, s := range []string{"", "plain text of more than eight bytes", `12345678"\/<&>`, "\x00\b\f\n\r\t\x1f\x7f", "é日本\u202e\u2028\U000e0041\u0085", "a\xffb\xc3", "\ufffd", "1234567\x7f", "\x80234567890"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var want bytes.Buffer
		if err := writeJSON(&want, s); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendText(nil, s)) + "\n"; got != want.String() {
			t.Errorf("got %s, want %s", got, want.String())
		}
	})
}
