package proc

import (
	"io"
	"os/exec"
)

// Input gives a process what a reader yields, while it runs. A nil Input does nothing.
type Input struct {
	in   io.ReadCloser
	pipe io.WriteCloser
	done chan struct{} // nil before Begin
}

// NewInput connects a reader with the standard input of cmd, which is not started yet. It returns nil for a nil reader. An
// error is that of cmd.Start.
func NewInput(cmd *exec.Cmd, in io.ReadCloser) *Input {
	if in == nil {
		return nil
	}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		cmd.Err = err
		return nil
	}
	return &Input{in: in, pipe: pipe}
}

// Begin reads from now on. The process has been started.
func (i *Input) Begin() {
	if i == nil {
		return
	}
	i.done = make(chan struct{})
	go func() {
		defer close(i.done)
		_, _ = io.Copy(i.pipe, i.in) // the process has ended, or wants no more
		_ = i.pipe.Close()
	}()
}

// End closes the reader and waits until it is not read any more, if Begin was called. The process has ended and was waited for.
func (i *Input) End() {
	switch {
	case i == nil:
	case i.done == nil:
		_ = i.pipe.Close()
	default:
		_ = i.in.Close()
		<-i.done
	}
}

// Into returns the writer for the standard output of a process: one that counts what is written and passes it on to w,
// and closes w at the end of the output. For a nil w it is that of s.
func (s *Streams) Into(w io.WriteCloser) io.Writer {
	if w == nil {
		return &s.Stdout
	}
	return &outlet{io.MultiWriter(&s.Stdout, w), w}
}

// outlet closes w at the end of what os/exec copies to it.
type outlet struct {
	io.Writer
	w io.Closer
}

// ReadFrom is what os/exec calls once, with the output of the process.
func (o *outlet) ReadFrom(r io.Reader) (int64, error) {
	n, err := io.Copy(o.Writer, r)
	_ = o.w.Close() // it has all
	return n, err
}

// ErrInto returns the writer for the standard error of a process: one that keeps its end and also passes everything on to w. For a
// nil w it only keeps.
func (s *Streams) ErrInto(w io.Writer) io.Writer {
	if w == nil {
		return &s.Stderr
	}
	return io.MultiWriter(&s.Stderr, w)
}
