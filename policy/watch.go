package policy

import (
	"cmp"
	"errors"
	"sync"
	"time"
)

// ErrChanged is why a document allows nothing that was changed while a program runs: some of what the program does was decided before.
var ErrChanged = errors.New("it was changed while this program runs: start it again")

// lookAgain is how long a document is held to be the same without a look.
const lookAgain = time.Second

// Watch returns a function for Policy.Changed. It calls read at most once a second, from one second after now on, and returns a document
// that allows nothing when read once returned another document than first. Both may be nil.
func Watch(first *Document, read func() *Document, now func() time.Time) func() *Document {
	var mu sync.Mutex
	var closed *Document
	looked := now()
	return func() *Document {
		mu.Lock()
		defer mu.Unlock()
		if closed != nil || now().Sub(looked) < lookAgain {
			return closed
		}
		if d := read(); !first.same(d) {
			closed = Closed(cmp.Or(first.File(), d.File()), ErrChanged)
			closed.contact = cmp.Or(first.Contact(), d.Contact())
		}
		looked = now()
		return closed
	}
}

// same reports whether two documents were read from the same content, or could not be read for the same reason.
func (d *Document) same(other *Document) bool {
	if d == nil || other == nil {
		return d == other
	}
	return d.file == other.file && d.sum == other.sum && (d.closed == nil) == (other.closed == nil) && (d.closed == nil || d.closed.Error() == other.closed.Error())
}
