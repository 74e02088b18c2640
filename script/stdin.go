package script

import (
	"bytes"
	"fmt"
	"io"
	"sync"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/script/survey"
)

// CheckStdin checks the length of a text that a script is to get on its standard input: at most 1 MiB. It returns an *Error with
// code ArgsTooLarge.
func CheckStdin(text string) error {
	if len(text) > runner.MaxStdin {
		return &Error{Code: ArgsTooLarge, Message: fmt.Sprintf("Standard input too large: %d bytes (max %d)", len(text), runner.MaxStdin)}
	}
	return nil
}

// feed gives what a reader has to the commands of one run, of which all but the last end before they read any of it. Nobody waits for
// a reader that has nothing more: a Read of it that does not return is left alone.
type feed struct {
	from   io.Reader
	begin  sync.Once
	chunks chan []byte
	stop   chan struct{}
	rest   []byte // of the last chunk
}

// newFeed returns the feed of a reader, nil for nil. The caller must end it.
func newFeed(from io.Reader) *feed {
	if from == nil {
		return nil
	}
	return &feed{from: from, chunks: make(chan []byte), stop: make(chan struct{})}
}

// end stops the reading.
func (f *feed) end() {
	if f != nil {
		close(f.stop)
	}
}

// input returns the standard input of one command. No other one may be read any more.
func (f *feed) input() io.ReadCloser {
	if f == nil {
		return nil
	}
	return &fed{feed: f, closed: make(chan struct{})}
}

func (f *feed) pump() {
	defer close(f.chunks)
	for {
		buf := make([]byte, 32<<10)
		n, err := f.from.Read(buf)
		if n > 0 {
			select {
			case f.chunks <- buf[:n]:
			case <-f.stop:
				return
			}
		}
		if err != nil {
			return
		}
	}
}

type fed struct {
	*feed
	once   sync.Once
	closed chan struct{}
}

func (i *fed) Read(p []byte) (int, error) {
	i.begin.Do(func() { go i.pump() })
	if len(i.rest) == 0 {
		select {
		case <-i.closed:
			return 0, io.ErrClosedPipe
		case chunk, ok := <-i.chunks:
			if !ok {
				return 0, io.EOF
			}
			i.rest = chunk
		}
	}
	n := copy(p, i.rest)
	i.rest = i.rest[n:]
	return n, nil
}

func (i *fed) Close() error {
	i.once.Do(func() { close(i.closed) })
	return nil
}

// maxSource is how much of a script's text is searched, in bytes.
const maxSource = 256 << 10

// nothingGiven says that a script, which failed or printed nothing, had an empty standard input that nobody gave, "" if its text does not
// read any.
func (c *call) nothingGiven(out *runner.Output) string {
	if c.input != nil || c.hook != nil || c.serve != nil || out.ExitCode == 0 && len(bytes.TrimSpace(out.Stdout)) > 0 {
		return ""
	}
	fsys := c.s.FS()
	reads := survey.LanguageIn(c.sc.File, survey.Head(fsys, c.sc.File)).Row().Input
	if reads == nil {
		return ""
	}
	f, err := fsys.Open(c.sc.File)
	if err != nil {
		return ""
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSource))
	if err != nil || !reads().Match(text) {
		return ""
	}
	return "the script reads its standard input, which was empty because none was given"
}
