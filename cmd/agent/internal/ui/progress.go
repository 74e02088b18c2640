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
// on a terminal, which is wiped away at the end; elsewhere with one plain line for each label.
//
// Work may call say, from any goroutine, with another label for what it does now. Labels may hold foreign text. Work
// must not write to Err itself.
func (s *Streams) Busy(label string, work func(say func(string)) error) error {
	done := make(chan struct{})
	labels := make(chan string, 1)
	var group sync.WaitGroup
	group.Go(func() { s.report(label, labels, done) })
	defer group.Wait()
	defer close(done)
	return work(func(label string) {
		select {
		case labels <- label:
		case <-done:
		}
	})
}

// report shows the newest label from the end of patience until done is closed.
func (s *Streams) report(label string, labels <-chan string, done <-chan struct{}) {
	start := time.Now()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	shown := false
	defer func() {
		if s.Cursor && shown {
			fmt.Fprint(s.Err, "\r\x1b[K")
		}
	}()
	for turn := 0; ; turn++ {
		select {
		case <-done:
			return
		case label = <-labels:
			shown = shown && s.Cursor
			if time.Since(start) < patience {
				continue
			}
		case <-timer.C:
			timer.Reset(frame)
		}
		switch {
		case s.Cursor:
			s.spin(label, turn, time.Since(start))
		case !shown:
			fmt.Fprintf(s.Err, "%s ...\n", Line(label))
		}
		shown = true
	}
}

func (s *Streams) spin(label string, turn int, since time.Duration) {
	width := s.Width
	if width == 0 {
		width = fallbackWidth
	}
	line := fmt.Sprintf("%c %s (%d s)", spinner[turn%len(spinner)], label, int(since.Seconds()))
	fmt.Fprintf(s.Err, "\r\x1b[K%s", Truncate(line, width-1))
}
