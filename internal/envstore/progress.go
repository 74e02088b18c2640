package envstore

import (
	"sync"
	"time"
)

// Progress reports what is done, from the time on when the work has taken longer than a patience.
type Progress struct {
	tell  func(string) // nil means that nobody listens
	timer *time.Timer

	mu    sync.Mutex
	text  string
	ended bool
	told  bool // the patience is over
}

// Announce begins to report. tell may be nil. End must be called.
func Announce(tell func(string), patience time.Duration, text string) *Progress {
	p := &Progress{tell: tell, text: text}
	if p.tell != nil {
		p.timer = time.AfterFunc(patience, func() { p.report("", true) })
	}
	return p
}

// Say changes the text.
func (p *Progress) Say(text string) {
	if p.tell != nil {
		p.report(text, false)
	}
}

// report tells the text if it is new and it is time to.
func (p *Progress) report(text string, late bool) {
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

// End stops the reports: none comes after it has returned.
func (p *Progress) End() {
	if p.timer != nil {
		p.timer.Stop()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
}
