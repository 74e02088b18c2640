//go:build !linux

package cli

// Protect does nothing here: see the one for Linux.
func Protect() {}
