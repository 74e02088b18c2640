// Package subject makes names into parts of NATS subjects.
package subject

import (
	"encoding/base32"
	"strings"
)

// Token returns a part of a subject that stands for a name and for no other: one of letters and digits, whatever the name has. That of
// "" is not empty.
func Token(name string) string {
	return "t" + strings.ToLower(base32.HexEncoding.WithPadding(base32.NoPadding).EncodeToString([]byte(name)))
}
