package redact

import (
	"strings"
	"testing"
)

// A secret is found however the output is cut into pieces, and what comes out is what String returns for the whole.
func TestWriter(t *testing.T) {
	r := New([]Secret{{"TOKEN", "abcabcabd"}, {"LONG", "abcabcabd-and-more"}, {"OTHER", "12345678"}})
	text := "start abcabcabcabd, abcabcabd-and-mor. abcabcabd-and-more 1234567 12345678x 5a5a\nend.\n"
	want := r.String(text)
	if strings.Contains(want, "abcabcabd-and-more") || strings.Contains(want, "12345678") {
		t.Fatal(want)
	}
	for size := 1; size <= len(text); size++ {
		var got strings.Builder
		w := r.Writer(&got)
		for p := text; p != ""; p = p[min(size, len(p)):] {
			if _, err := w.Write([]byte(p[:min(size, len(p))])); err != nil {
				t.Fatal(err)
			}
		}
		if got.String() != want {
			t.Errorf("pieces of %d bytes: got %q\nwant %q", size, got.String(), want)
		}
	}
}

// What may be the beginning of a secret waits, and nothing else does.
func TestWriterHolds(t *testing.T) {
	var got strings.Builder
	w := New([]Secret{{"TOKEN", "topsecret"}}).Writer(&got)
	for _, p := range []string{"as it comes, top", "sec", "ular\n", "top"} {
		_, _ = w.Write([]byte(p))
	}
	if got.String() != "as it comes, topsecular\n" {
		t.Errorf("got %q", got.String())
	}
}

func FuzzWriter(f *testing.F) {
	f.Add("abcabcabd", "xabcabcabdx", uint8(3))
	f.Add("secret-value", "sec secret-valuesecret-value", uint8(1))
	f.Fuzz(func(t *testing.T, secret, text string, size uint8) {
		r := New([]Secret{{"S", secret}})
		var got strings.Builder
		w, n := r.Writer(&got), int(size)+1
		for p := text; p != ""; p = p[min(n, len(p)):] {
			_, _ = w.Write([]byte(p[:min(n, len(p))]))
		}
		if want := r.String(text); !strings.HasPrefix(want, got.String()) {
			t.Errorf("got %q, want a beginning of %q", got.String(), want)
		}
	})
}
