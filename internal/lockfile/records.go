package lockfile

import (
	"bytes"
	"encoding/json"
	"os"
)

// Records is a folder with JSON files that a program can make again, such as the tools that a server has. Without a file, the program asks
// the server.
type Records struct {
	Dir string // made with mode 0700; "" keeps nothing
	Max int64  // bytes of a file
}

// Keep writes v to the file of a name, unless the file has it already. It takes no lock: the last writer wins.
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

// Read reads the file of a name into v, and reports whether that was possible.
func (r Records) Read(name string, v any) bool {
	root, err := os.OpenRoot(r.Dir)
	if err != nil {
		return false
	}
	defer root.Close()
	b, err := ReadIn(root, name, r.Max)
	return err == nil && json.Unmarshal(b, v) == nil
}
