package ondisk

import (
	"fmt"
	"io/fs"
	"syscall"
)

// Facts returns the metadata of a file; any change of the file changes it.
func Facts(info fs.FileInfo) string {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Sprint(info.Mode(), info.Size(), info.ModTime().UnixNano())
	}
	return fmt.Sprint(st.Dev, st.Ino, st.Mode, st.Size, st.Mtim.Nano(), st.Ctim.Nano())
}
