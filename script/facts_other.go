//go:build !linux && !darwin

package script

import (
	"fmt"
	"io/fs"
)

// facts are what the file system says of a file that every system has.
func facts(info fs.FileInfo) string {
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}
