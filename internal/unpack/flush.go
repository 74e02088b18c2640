package unpack

import (
	"errors"
	"os"
	"runtime"
	"sync"
)

// parallel is how many files are flushed at the same time. The kernel commits them together, so this costs far less than
// one after the other.
const parallel = 16

// flush flushes files to the disk, and then the folders that name them. It never flushes one twice after an error: the kernel
// may have dropped the content and would then report success.
func (w *Writer) flush(files, dirs []string) error {
	if err := w.each(files, os.O_WRONLY); err != nil {
		return err
	}
	if runtime.GOOS == "windows" { // folders cannot be flushed there
		return nil
	}
	return w.each(dirs, os.O_RDONLY)
}

// each opens and flushes every name.
func (w *Writer) each(names []string, flag int) error {
	next := make(chan string)
	errs := make([]error, min(parallel, len(names)))
	var work sync.WaitGroup
	for i := range errs {
		work.Go(func() {
			for name := range next {
				if errs[i] == nil {
					errs[i] = w.sync(name, flag)
				}
			}
		})
	}
	for _, name := range names {
		next <- name
	}
	close(next)
	work.Wait()
	return errors.Join(errs...)
}

func (w *Writer) sync(name string, flag int) error {
	f, err := w.root.OpenFile(name, flag, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
