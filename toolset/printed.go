package toolset

import (
	"bytes"
	"io"
	"strings"
)

// maxShown is how much of a line is given to Options.Printed, in bytes.
const maxShown = 2 << 10

// printer is the standard error of a process, whose lines are also wanted one by one.
type printer struct {
	all  io.Writer // takes everything
	p    *process
	line []byte // what was written of the next one, up to maxShown+1 bytes
}

// Write gives each line that is complete to Options.Printed, and to whoever watches a call.
func (w *printer) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		part, after, ended := bytes.Cut(rest, []byte("\n"))
		w.line = append(w.line, part[:min(len(part), maxShown+1-len(w.line))]...)
		if ended {
			w.end()
		}
		rest = after
	}
	return w.all.Write(b)
}

func (w *printer) end() {
	text := string(w.line[:min(len(w.line), maxShown)])
	if w.p.serving != nil {
		text = w.p.serving.Redact.String(text)
	}
	if len(w.line) > maxShown {
		text += " …"
	}
	w.line = w.line[:0]
	if text = strings.TrimRight(strings.ToValidUTF8(text, ""), " \t\r"); text != "" {
		if printed := w.p.u.owner.h.o.Printed; printed != nil {
			printed(w.p.u.owner.name, text)
		}
		w.p.wrote(text)
	}
}
