package policy

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Read returns the document of this machine, from its one place: File. Without that file it returns nil. If there is one that cannot be
// used, because of what it says, who may change it, or any other reason, it returns a document that allows nothing; see Document.Err.
func Read() *Document { return read(File()) }

func read(name string) *Document {
	if name == "" {
		return nil
	}
	src, err := readFile(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return Closed(name, err)
	}
	d, _ := Parse(src, name) // the document has the error
	return d
}

// readFile reads a file of at most MaxFile bytes that only root can change, such as one that a document names.
func readFile(name string) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	src, err := whole(f)
	return src, reason(err)
}

// OfRoot returns an error unless a program is there that only root can change.
func OfRoot(name string) error {
	f, err := open(name)
	if err != nil {
		return err
	}
	return f.Close()
}

// file is an open file.
type file interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}

// whole returns what is in a file. What is written while it is read may be half of a document, which could say less than the whole.
func whole(f file) ([]byte, error) {
	before, err := f.Stat()
	if err != nil {
		return nil, err
	}
	src, err := readCapped(f)
	if err != nil {
		return nil, err
	}
	after, err := f.Stat()
	if err == nil && (after.Size() != int64(len(src)) || after.Size() != before.Size() || !after.ModTime().Equal(before.ModTime())) {
		err = errors.New("it was changed while it was read: try again")
	}
	return src, err
}

// reason returns an error without the operation and the path.
func reason(err error) error {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err
	}
	return err
}

// regular returns an error for what is no file.
func regular(info fs.FileInfo) error {
	if !info.Mode().IsRegular() {
		return fmt.Errorf("it is no regular file, but %s", info.Mode().Type())
	}
	return nil
}

// missing says whether a file is missing, or a link on its way leads nowhere: that is an error, since somebody meant a file to be there.
func missing(name, dir string) error {
	for _, path := range []string{dir, name} {
		if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return fmt.Errorf("%q is a link that leads nowhere", path)
		}
	}
	return fs.ErrNotExist
}
