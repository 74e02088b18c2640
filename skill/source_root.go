package skill

import (
	"errors"
	"os"
	"sync"
)

var errIrregular = errors.New("not a regular file")

// onceRoot opens an os.Root when it is first needed.
type onceRoot struct {
	open func() (*os.Root, error)

	mu     sync.Mutex
	root   *os.Root
	closed bool
}

func (o *onceRoot) get() (*os.Root, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.closed {
		return nil, ErrClosed
	}
	if o.root == nil {
		root, err := o.open()
		if err != nil {
			return nil, err
		}
		o.root = root
	}
	return o.root, nil
}

func (o *onceRoot) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.closed = true
	if o.root != nil {
		o.root.Close()
	}
}
