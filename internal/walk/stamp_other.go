//go:build !linux

package walk

import "io/fs"

func stampOf(info fs.FileInfo) Stamp {
	return Stamp{Size: info.Size(), MTime: info.ModTime().UnixNano()}
}
