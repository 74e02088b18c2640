//go:build !unix

package hosttool

// nonBlock is nothing where opening never waits.
const nonBlock = 0
