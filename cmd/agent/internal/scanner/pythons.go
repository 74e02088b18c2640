package scanner

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/agent-base/agent-base/skill/scan"
)

// pythons keeps processes that read one input after another: starting Python takes longer than reading most skills. Each input is read by
// a copy of the process, so that none changes what is said of the next. It is safe for concurrent use.
type pythons struct {
	// run runs one process until its input ends or ctx is done. It closes both ends.
	run func(ctx context.Context, program string, in io.ReadCloser, out io.WriteCloser) error

	mu   sync.Mutex
	idle []*pythonProcess
	lost int // processes that ended while they read
}

// pythonProcess is one process.
type pythonProcess struct {
	in    *io.PipeWriter
	from  *io.PipeReader
	left  *io.LimitedReader // of from, what one input may still get
	out   *bufio.Reader     // of left
	end   context.CancelFunc
	ended chan error
}

// read is a scan.Options.Python.
func (p *pythons) read(ctx context.Context, program string, input []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, readTime)
	defer cancel()
	one, err := p.take(ctx, program)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, one.end)
	printed, whole := one.ask(input)
	if stop() && whole {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.idle = append(p.idle, one)
		return printed, nil
	}
	one.end()
	one.from.Close() // nobody reads what it still says
	p.mu.Lock()
	p.lost++
	p.mu.Unlock()
	err = cmp.Or(<-one.ended, errors.New("it ended"))
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return printed, fmt.Errorf("the reading by Python failed: %w", err)
}

// take returns an idle process, or starts one, unless too many were lost.
func (p *pythons) take(ctx context.Context, program string) (*pythonProcess, error) {
	p.mu.Lock()
	if p.lost >= maxLost {
		p.mu.Unlock()
		return nil, fmt.Errorf("no more Python is started: %d ended while they read skills", maxLost)
	}
	if n := len(p.idle) - 1; n >= 0 {
		one := p.idle[n]
		p.idle = p.idle[:n]
		p.mu.Unlock()
		return one, nil
	}
	p.mu.Unlock()
	ctx, end := context.WithCancel(context.WithoutCancel(ctx)) // it goes on after this input
	in, toIn := io.Pipe()
	fromOut, out := io.Pipe()
	left := &io.LimitedReader{R: fromOut}
	one := &pythonProcess{in: toIn, from: fromOut, left: left, out: bufio.NewReader(left), end: end, ended: make(chan error, 1)}
	go func() {
		err := p.run(ctx, program, in, out)
		in.Close()
		out.Close()
		one.ended <- err
	}()
	return one, nil
}

// close ends the processes, and waits for them.
func (p *pythons) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.idle {
		one.in.Close()
		<-one.ended
		one.end()
	}
	p.idle = nil
}

// ask gives a process an input. It returns what the process printed, and whether that is all of it.
func (one *pythonProcess) ask(input []byte) (printed []byte, whole bool) {
	go one.in.Write(input) // it fails if the process ends
	one.left.N = readOutput
	var out bytes.Buffer
	for {
		line, err := one.out.ReadBytes('\n')
		if err != nil {
			return append(out.Bytes(), line...), false
		}
		if bytes.HasSuffix(line, []byte(scan.PythonEnd)) { // a copy that was killed may have begun a line
			return out.Bytes(), true
		}
		out.Write(line)
	}
}
