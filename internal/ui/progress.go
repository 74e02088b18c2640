package ui

import (
	"fmt"
	"sync"
	"time"
)

// Work that is done within patience shows nothing; after it a spinner turns once per frame.
const (
	patience = time.Second
	frame    = 100 * time.Millisecond
)

const spinner = `|/-\`

// Busy runs work and returns its error. When it takes more than a second, Err says so: with a spinner and the seconds
// on a terminal, which is wiped away at the end; elsewhere with one plain line.
//
// The label may hold foreign text. Work must not write to Err itself.
func (s *Streams) Busy(label string, work func() error) error {
	done := make(chan struct{})
	var group sync.WaitGroup
	group.Go(func() { s.report(label, done) })
	defer group.Wait()
	defer close(done)
	return work()
}

// report shows the label from the end of patience until done is closed.
func (s *Streams) report(label string, done <-chan struct{}) {
	start := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-done:
		return
	case <-timer.C:
	}
	if !s.Cursor {
		fmt.Fprintf(s.Err, "%s ...\n", Line(label))
		return
	}
	width := s.Width
	if width == 0 {
		width = fallbackWidth
	}
	defer fmt.Fprint(s.Err, "\r\x1b[K")
	for turn := 0; ; turn++ {
		line := fmt.Sprintf("%c %s (%d s)", spinner[turn%len(spinner)], label, int(time.Since(start).Seconds()))
		fmt.Fprintf(s.Err, "\r\x1b[K%s", Truncate(line, width-1))
		timer.Reset(frame)
		select {
		case <-done:
			return
		case <-timer.C:
		}
	}
}
