package manifest

import "encoding/binary"

// PackProblems appends problems to b in a compact form. UnpackProblems decodes it.
func PackProblems(b []byte, list []Problem) []byte {
	for i := range list {
		p := &list[i]
		fatal := byte(0)
		if p.Fatal {
			fatal = 1
		}
		b = append(b, byte(p.Severity)<<1|fatal)
		b = binary.AppendUvarint(b, uint64(p.Line))
		b = binary.AppendUvarint(b, uint64(p.Col))
		b = packText(b, p.Code)
		b = packText(b, p.Field)
		b = packText(b, p.Message)
		if r := findRule(p.Code); r != nil && r.cure == p.Cure {
			b = append(b, 0)
			continue
		}
		b = packText(append(b, 1), p.Cure)
	}
	return b
}

// UnpackProblems returns the problems that PackProblems encoded in packed. It sets the File of each to file.
func UnpackProblems(packed, file string) []Problem {
	var list []Problem
	for u := (unpacker{packed}); u.rest != ""; {
		first := u.octet()
		p := Problem{Severity: Severity(first >> 1), Fatal: first&1 != 0, File: file}
		p.Line, p.Col = u.number(), u.number()
		p.Code, p.Field, p.Message = u.text(), u.text(), u.text()
		if u.octet() != 0 {
			p.Cure = u.text()
		} else if r := findRule(p.Code); r != nil {
			p.Cure = r.cure
		}
		list = append(list, p)
	}
	return list
}

func packText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// unpacker decodes values from the beginning of a text.
type unpacker struct{ rest string }

func (u *unpacker) octet() byte {
	c := u.rest[0]
	u.rest = u.rest[1:]
	return c
}

func (u *unpacker) number() (n int) {
	for shift := 0; ; shift += 7 {
		c := u.octet()
		n |= int(c&0x7f) << shift
		if c < 0x80 {
			return n
		}
	}
}

func (u *unpacker) text() string {
	n := u.number()
	s := u.rest[:n]
	u.rest = u.rest[n:]
	return s
}
