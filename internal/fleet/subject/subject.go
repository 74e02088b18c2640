// Package subject makes names into parts of NATS subjects.
package subject

import (
	"encoding/base32"
	"strings"
)

// Token returns a part of a subject that stands for a name and for no other: one of letters and digits, whatever the name has. That of
// "" is not empty.
func Token(name string) string { return "t" + strings.ToLower(letters().EncodeToString([]byte(name))) }

// Name returns the name that a Token stands for; what is none it returns as it is.
func Name(token string) string {
	of, ok := strings.CutPrefix(token, "t")
	name, err := letters().DecodeString(strings.ToUpper(of))
	if !ok || err != nil {
		return token
	}
	return string(name)
}

func letters() *base32.Encoding { return base32.HexEncoding.WithPadding(base32.NoPadding) }
