package audit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// The names of files in the log's folder. An older file has the number of its last record in its name.
const (
	currentName = "audit.jsonl"
	lockName    = "audit.lock"
	lossName    = "audit.lost" // has a byte for each event that could not be written; it is sparse, so it fits on a full disk
	oldPrefix   = "audit-"
	oldSuffix   = ".jsonl"
)

func oldName(last uint64) string { return fmt.Sprintf("%s%012d%s", oldPrefix, last, oldSuffix) }

// isOld reports whether a name is that of an older file, and returns the number of its last record.
func isOld(name string) (last uint64, ok bool) {
	digits, ok := strings.CutPrefix(name, oldPrefix)
	if ok {
		digits, ok = strings.CutSuffix(digits, oldSuffix)
	}
	if !ok {
		return 0, false
	}
	last, err := strconv.ParseUint(digits, 10, 64)
	return last, err == nil && name == oldName(last)
}

// oldFiles returns the names of the older files, the oldest first.
func oldFiles(dir *os.Root) ([]string, error) {
	all, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range all {
		if _, ok := isOld(e.Name()); ok {
			out = append(out, e.Name())
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		x, _ := isOld(a)
		y, _ := isOld(b)
		return int(min(max(int64(x-y), -1), 1))
	})
	return out, nil
}

// open opens the file that records are appended to, unless the one that is open still has its name.
func (l *Log) open() error {
	if l.file != nil {
		is, err := l.file.Stat()
		at, err2 := l.dir.Lstat(currentName)
		if err == nil && err2 == nil && os.SameFile(is, at) && lockfile.Names(at) <= 1 {
			return nil
		}
		l.file.Close()
	}
	f, err := l.dir.OpenFile(currentName, os.O_CREATE|os.O_RDWR|os.O_APPEND|syscall.O_NONBLOCK, 0o600)
	l.file = f
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%q is not a regular file (%s)", f.Name(), info.Mode().Type())
	}
	if err == nil && lockfile.Names(info) > 1 {
		err = fmt.Errorf("%q is another name of a file elsewhere (a hard link): remove it, and the log begins anew", f.Name())
	}
	if err != nil {
		f.Close()
		l.file = nil
	}
	return err
}

// notedLoss returns how many events processes could not write, as far as they could note it.
func notedLoss(dir *os.Root) int64 {
	info, err := dir.Lstat(lossName)
	if err != nil || !info.Mode().IsRegular() {
		return 0
	}
	return info.Size()
}

// noteLoss tells the next writer, in whichever process, of one more event that could not be written. It reports whether it could.
func (l *Log) noteLoss() bool {
	dir, err := os.OpenRoot(l.o.Dir)
	if err != nil {
		return false
	}
	defer dir.Close()
	f, err := dir.OpenFile(lossName, os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return false
	}
	defer f.Close()
	info, err := f.Stat()
	return err == nil && info.Mode().IsRegular() && lockfile.Names(info) == 1 && f.Truncate(info.Size()+1) == nil
}

// rotate renames the present file, removes the oldest ones, and opens the file to go on with: the same if it cannot be renamed.
func (l *Log) rotate(end position) error {
	if err := l.dir.Rename(currentName, oldName(end.seq)); err != nil {
		return l.open()
	}
	old, err := oldFiles(l.dir)
	if err != nil {
		return err
	}
	for len(old) > 0 && len(old) >= l.o.maxFiles {
		if err := l.dir.Remove(old[0]); err != nil {
			return err
		}
		old = old[1:]
	}
	return l.open()
}

// position is where the next record goes.
type position struct {
	file os.FileInfo // of the present file; nil if it must be read
	size int64       // of the present file
	seq  uint64      // of the last record
	hash string      // of the last record

	open bool   // the last line has no end
	torn debris // after the last record
}

// position returns the end of the log.
func (l *Log) position() (position, error) {
	info, err := l.file.Stat()
	if err != nil {
		return position{}, err
	}
	if l.end.file != nil && os.SameFile(l.end.file, info) && info.Size() == l.end.size {
		return l.end, nil
	}
	if info.Size() == 0 {
		return lastOld(l.dir)
	}
	return endOf(l.file, info.Size())
}

// lastOld returns the position at the beginning of a file after the older ones.
func lastOld(dir *os.Root) (position, error) {
	old, err := oldFiles(dir)
	if err != nil || len(old) == 0 {
		return position{}, err
	}
	f, err := openOld(dir, old[len(old)-1])
	if err != nil {
		return position{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return position{}, err
	}
	end, err := endOf(f, info.Size())
	return position{seq: end.seq, hash: end.hash}, err
}

// openOld opens a file of the log for reading.
func openOld(dir *os.Root, name string) (*os.File, error) {
	f, err := dir.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, errors.Join(err, fmt.Errorf("%q is not a regular file", name))
	}
	return f, nil
}

// endOf returns the position at the end of a file. It reads the last lines: more of them, and at last the whole file, as long as there is
// no record in them.
func endOf(f *os.File, size int64) (end position, err error) {
	for last := int64(lastLines); ; last *= 8 {
		from := max(size-last, 0)
		var found bool
		end, found, err = scan(io.NewSectionReader(f, from, size-from), from > 0)
		if err != nil || found || from == 0 {
			end.size = size
			return end, err
		}
	}
}

// lastLines is how much of a file is read to find its last record, in bytes.
const lastLines = 16 << 10

// scan returns the position after the last record of r, and whether there is one. inside says that r may begin inside a
// line.
func scan(r io.Reader, inside bool) (end position, found bool, err error) {
	lines := newLineReader(r)
	for {
		line, err := lines.next()
		if errors.Is(err, io.EOF) {
			return end, found, nil
		}
		if err != nil {
			return end, found, err
		}
		end.open = !line.whole
		if inside {
			inside = false
			continue
		}
		rec, err := line.record()
		if err == nil {
			end.seq, end.hash, end.torn, found = rec.Seq, rec.Hash, debris{}, true
		} else {
			end.torn.add(&line)
		}
	}
}
