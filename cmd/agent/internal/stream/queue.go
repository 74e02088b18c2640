package stream

import (
	"errors"
	"os"
	"sync"
)

// Queue writes items in the order in which they come. It does so in a goroutine of its own, so nothing waits for their reader that does
// not want to. It is safe for concurrent use.
type Queue[T any] struct {
	write func(T) error

	mu      sync.Mutex
	changed *sync.Cond
	items   []queued[T]
	waiting int // bytes of the items, with the one that is being written
	added   int // items
	done    int // items that were written, or were not because of err
	closed  bool
	err     error         // the first one
	gone    chan struct{} // closed with the first error
}

type queued[T any] struct {
	item T
	size int
}

// NewQueue returns a Queue that writes with write, which is called by one goroutine at a time, and not after an error. Close ends it.
func NewQueue[T any](write func(T) error) *Queue[T] {
	q := &Queue[T]{write: write, gone: make(chan struct{})}
	q.changed = sync.NewCond(&q.mu)
	go q.run()
	return q
}

func (q *Queue[T]) run() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for {
		for len(q.items) == 0 {
			if q.closed {
				return
			}
			q.changed.Wait()
		}
		next := q.items[0]
		q.items = q.items[1:]
		if q.err == nil {
			q.mu.Unlock()
			err := q.write(next.item)
			q.mu.Lock()
			q.fail(err)
		}
		q.waiting -= next.size
		q.done++
		q.changed.Broadcast()
	}
}

// Add adds an item of some bytes. It never waits.
func (q *Queue[T]) Add(item T, size int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, queued[T]{item, size})
	q.added++
	q.waiting += size
	q.changed.Broadcast()
}

// Over reports whether more bytes wait than most, or nothing is written any more.
func (q *Queue[T]) Over(most int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting > most || q.err != nil
}

// Room waits until no more bytes wait than most. It returns an error if nothing is written any more.
func (q *Queue[T]) Room(most int) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.waiting > most && q.err == nil && !q.closed {
		q.changed.Wait()
	}
	if q.err != nil || q.closed {
		return errors.Join(q.err, os.ErrClosed)
	}
	return nil
}

// Flush waits until all that was added before is written, and returns the first error that there was.
func (q *Queue[T]) Flush() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for last := q.added; q.done < last && q.err == nil; {
		q.changed.Wait()
	}
	return q.err
}

// Close is Flush. Nothing may be added later.
func (q *Queue[T]) Close() error {
	err := q.Flush()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.changed.Broadcast()
	return err
}

// Fail ends the writing with an error, if it has none yet. What waits is not written.
func (q *Queue[T]) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail(err)
}

func (q *Queue[T]) fail(err error) {
	if err != nil && q.err == nil {
		q.err = err
		close(q.gone)
	}
	q.changed.Broadcast()
}

// Gone is closed when nothing is written any more because of an error.
func (q *Queue[T]) Gone() <-chan struct{} { return q.gone }
