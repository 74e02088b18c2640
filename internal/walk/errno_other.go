//go:build !unix

package walk

import "errors"

var (
	errNotDir      = errors.New("not a directory")
	errNameTooLong = errors.New("file name too long")
	errAgain       = errors.New("try again")
)

const nonBlock = 0
