package pyenv

import (
	"sync"
	"time"
)

// progress reports what is done, from the time on when the work has taken longer than the store's patience.
type progress struct {
	tell  func(string) // nil means that nobody listens
	timer *time.Timer

	mu    sync.Mutex
	text  string
	ended bool
	told  bool // the patience is over
}

// announce begins to report. end must be called.
func (s *Store) announce(text string) *progress {
	p := &progress{tell: s.o.Progress, text: text}
	if p.tell != nil {
		p.timer = time.AfterFunc(s.patience, func() { p.report("", true) })
	}
	return p
}

// say changes the text.
func (p *progress) say(text string) {
	if p.tell != nil {
		p.report(text, false)
	}
}

// report tells the text if it is new and it is time to.
func (p *progress) report(text string, late bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	changed := text != "" && text != p.text
	if changed {
		p.text = text
	}
	first := late && !p.told
	p.told = p.told || late
	if p.told && !p.ended && (changed || first) {
		p.tell(p.text)
	}
}

// end stops the reports: none comes after it has returned.
func (p *progress) end() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
