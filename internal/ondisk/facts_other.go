//go:build !linux && !darwin

package ondisk

import (
	"fmt"
	"io/fs"
)

// Facts returns the metadata of a file that every system has.
func Facts(info fs.FileInfo) string {
	return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
}
