package lockfile

import (
	"bytes"
	"encoding/json"
	"os"
)

// Records is a folder with JSON files of what a program has found out and can find out again. A program that has none asks.
type Records struct {
	Dir string // made with mode 0700; "" keeps nothing
	Max int64  // bytes of a file
}

// Keep writes v to the file of a name, unless it is there. It takes no lock: the last one counts.
func (r Records) Keep(name string, v any) error {
	if r.Dir == "" {
		return nil
	}
	b, err := json.Marshal(v)
	if err == nil {
		err = os.MkdirAll(r.Dir, 0o700)
	}
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	if old, err := ReadIn(root, name, r.Max); err == nil && bytes.Equal(old, b) {
		return nil
	}
	return Write(root, name, b, 0o600)
}

// Read reads the file of a name into v, and reports whether it could.
func (r Records) Read(name string, v any) bool {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	b, err := ReadIn(root, name, r.Max)
	return err == nil && json.Unmarshal(b, v) == nil
}
