package script

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// errHeld is what tryLock returns while another one holds the lock.
var errHeld = errors.New("held")

// lockFile takes the lock of a file, which it makes, and waits for it as long as ctx lasts. A process
// that dies frees its locks.
func lockFile(ctx context.Context, name string) (unlock func(), err error) {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	pause := time.NewTicker(20 * time.Millisecond)
	defer pause.Stop()
	for {
		err := tryLock(f)
		if err == nil {
			return func() { f.Close() }, nil
		}
		if !errors.Is(err, errHeld) {
			f.Close()
			return nil, fmt.Errorf("locking %q: %w", name, err)
		}
		select {
		case <-ctx.Done():
			f.Close()
			return nil, ctx.Err()
		case <-pause.C:
		}
	}
}
