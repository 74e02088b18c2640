//go:build !unix

package skill

const nonBlock = 0
