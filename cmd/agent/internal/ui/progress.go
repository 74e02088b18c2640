package ui

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// Work that ends within patience shows nothing. After that, a spinner turns once per frame.
const (
	patience = time.Second
	frame    = 100 * time.Millisecond
)

const spinner = `|/-\`

// Busy runs work and returns its error. When the work takes more than a second, Busy shows its label on Err. A terminal
// gets a spinner with the seconds, erased at the end; other outputs get one line for each label.
//
// Work may call say, from any goroutine, with a new label for what it does now. Labels may hold foreign text. Work must
// not write to Err itself. On a terminal, what live returns is shown after the label: it is asked for ten times a second, and
// may hold foreign text. A nil live shows nothing.
func (s *Streams) Busy(label string, live func() string, work func(say func(string)) error) error {
	done := make(chan struct{})
	labels := make(chan string, 1)
	var group sync.WaitGroup
	group.Go(func() { s.report(label, live, labels, done) })
	defer group.Wait()
	defer close(done)
	return work(func(label string) {
		select {
		case labels <- label:
		case <-done:
		}
	})
}

// report waits for patience, then shows the newest label until done is closed.
func (s *Streams) report(label string, live func() string, labels <-chan string, done <-chan struct{}) {
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
		case next := <-labels:
			shown = shown && (s.Cursor || next == label)
			label = next
			if time.Since(start) < patience {
				continue
			}
		case <-timer.C:
			timer.Reset(frame)
		}
		switch {
		case s.Cursor:
			s.spin(label, live, turn, time.Since(start))
		case !shown:
			fmt.Fprintf(s.Err, "%s ...\n", Line(label))
		}
		shown = true
	}
}

func (s *Streams) spin(label string, live func() string, turn int, since time.Duration) {
	width := s.Width
	if width == 0 {
		width = fallbackWidth
	}
	line := fmt.Sprintf("%c %s (%d s)", spinner[turn%len(spinner)], Line(label), int(since.Seconds()))
	if live != nil {
		line = strings.TrimRight(line+"  "+Line(live()), " ")
	}
	fmt.Fprintf(s.Err, "\r\x1b[K%s", Truncate(line, width-1))
}
