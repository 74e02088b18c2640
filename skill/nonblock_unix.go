//go:build unix

package skill

import "syscall"

const nonBlock = syscall.O_NONBLOCK
