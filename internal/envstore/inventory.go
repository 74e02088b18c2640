package envstore

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/agent-base/agent-base/internal/ondisk"
)

// Inventory returns a digest of every path below a folder and its metadata, which differs if anything was changed. It reads
// no file: a thousand files take about 5 ms.
func Inventory(folder string) (string, error) {
	info, err := os.Lstat(folder)
	if err != nil {
		return "", err
	}
	v := &inventory{slots: make(chan struct{}, runtime.GOMAXPROCS(0)-1)}
	sum := v.folder(folder)
	if v.err != nil {
		return "", v.err
	}
	h := sha256.Sum256(append([]byte(ondisk.Facts(info)), sum...))
	return hex.EncodeToString(h[:]), nil
}

// inventory visits folders on all processors.
type inventory struct {
	slots chan struct{} // for goroutines besides the caller's
	mu    sync.Mutex
	err   error
}

// folder returns a digest of the entries of a folder and of all below.
func (v *inventory) folder(path string) []byte {
	entries, err := os.ReadDir(path)
	if err != nil {
		v.fail(err)
		return nil
	}
	h := sha256.New()
	below := make([][]byte, len(entries))
	var work sync.WaitGroup
	for i, d := range entries {
		info, err := d.Info()
		if err != nil {
			v.fail(err)
			continue
		}
		fmt.Fprintf(h, "%d:%s %s\n", len(d.Name()), d.Name(), ondisk.Facts(info))
		if !d.IsDir() {
			continue
		}
		visit := func() { below[i] = v.folder(filepath.Join(path, d.Name())) }
		select {
		case v.slots <- struct{}{}:
			work.Go(func() {
				visit()
				<-v.slots
			})
		default:
			visit()
		}
	}
	work.Wait()
	for _, sum := range below {
		h.Write(sum)
	}
	return h.Sum(nil)
}

func (v *inventory) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.err = errors.Join(v.err, err)
}
