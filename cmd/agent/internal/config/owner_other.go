//go:build !unix

package config

import "io/fs"

// ours is not asked here: an owner is no number.
func ours(fs.FileInfo) bool { return true }
