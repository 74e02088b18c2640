//go:build !unix

package program

import "io/fs"

// writableByOthers returns "": modes say nothing here.
func writableByOthers(fs.FileInfo) string { return "" }
