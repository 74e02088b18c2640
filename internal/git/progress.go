package git

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/proc"
)

// steps are what git reports progress of. The first two are of the server, so anybody may have written them.
var steps = []string{"Counting objects", "Compressing objects", "Receiving objects", "Resolving deltas"}

// received is the step whose total is the number of objects that come.
const received = "Receiving objects"

var progressText = lazyregexp.New(`^(?:remote: )?([A-Z][a-z]+ [a-z]+): +\d{1,3}% \((\d{1,12})/(\d{1,12})\)`)

const mostLine = 1 << 10 // bytes of a line of progress; a longer one is none

// watcher keeps the end of what git writes to stderr, reports progress and ends git when too many objects come.
type watcher struct {
	tail   *proc.Tail
	report func(Progress) // may be nil
	most   int64          // objects
	stop   context.CancelCauseFunc
	line   []byte
}

// Write never fails.
func (w *watcher) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		end := bytes.IndexAny(p, "\r\n")
		part := p
		if end >= 0 {
			part = p[:end+1]
		}
		if len(w.line)+len(part) <= mostLine {
			w.line = append(w.line, part...)
		}
		if end >= 0 {
			w.read()
			w.line = w.line[:0]
		}
		p = p[len(part):]
	}
	return n, nil
}

// read reports a line if it is progress, and keeps it if it is not.
func (w *watcher) read() {
	at, ok := parseProgress(string(w.line))
	if !ok {
		w.tail.Write(w.line)
		return
	}
	if at.Step == strings.ToLower(received) && at.Total > w.most {
		w.stop(&tooMuch{fmt.Sprintf("the server sends %d objects, at most %d are taken", at.Total, w.most)})
	}
	if w.report != nil {
		w.report(at)
	}
}

func parseProgress(line string) (Progress, bool) {
	m := progressText().FindStringSubmatch(line)
	if m == nil || !slices.Contains(steps, m[1]) {
		return Progress{}, false
	}
	done, _ := strconv.ParseInt(m[2], 10, 64)
	total, _ := strconv.ParseInt(m[3], 10, 64)
	return Progress{Step: strings.ToLower(m[1]), Done: done, Total: total}, true
}
