//go:build !linux

package state

// serve is for the tests of a cluster, which kill processes.
func serve() {}
