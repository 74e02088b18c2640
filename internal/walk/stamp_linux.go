package walk

import (
	"io/fs"
	"syscall"
)

func stampOf(info fs.FileInfo) Stamp {
	s := Stamp{Size: info.Size(), MTime: info.ModTime().UnixNano()}
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		s.CTime, s.Inode = st.Ctim.Nano(), st.Ino
	}
	return s
}
