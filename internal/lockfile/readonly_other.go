//go:build !linux

package lockfile

func readOnly(string) bool { return false }
