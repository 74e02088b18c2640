package redact

import (
	"io"
	"strings"
)

// Writer returns a writer that passes what is written to it on to w, without the secrets. A secret may come in pieces: what may be the
// beginning of one waits for what follows, and is lost at the end. Each Write is at most one Write of w. The writer is for one
// goroutine at a time.
func (r *Redactor) Writer(w io.Writer) io.Writer {
	if r == nil || len(r.forms) == 0 {
		return w
	}
	out := &writer{r: r, w: w}
	for _, f := range r.forms {
		out.first[f.text[0]] = true
	}
	return out
}

type writer struct {
	r     *Redactor
	w     io.Writer
	first [256]bool // the bytes with which secrets begin
	held  string    // the beginning of a secret, perhaps
}

// Write returns the error of the other writer.
func (w *writer) Write(p []byte) (int, error) {
	text := w.held + string(p)
	var out strings.Builder
	at := 0
	for at < len(text) {
		if !w.first[text[at]] {
			out.WriteByte(text[at])
			at++
			continue
		}
		mark, n := w.r.secret(text[at:])
		if n < 0 {
			break
		}
		out.WriteString(mark)
		at += n
	}
	w.held = text[at:]
	if out.Len() == 0 {
		return len(p), nil
	}
	if _, err := io.WriteString(w.w, out.String()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// secret returns what replaces the beginning of a text, and how many bytes it replaces: the first byte itself if no secret begins there.
// It returns -1 bytes if the whole text may be the beginning of one.
func (r *Redactor) secret(text string) (mark string, n int) {
	for _, f := range r.forms { // the longest first
		switch {
		case len(text) < len(f.text) && strings.HasPrefix(f.text, text):
			return "", -1
		case strings.HasPrefix(text, f.text):
			return f.mark, len(f.text)
		}
	}
	return text[:1], 1
}
