package audit

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// maxLine is the most bytes of a line with its end. The texts of a record are cut so that it holds them.
const maxLine = 64 << 10

// hashMember stands between the hashed part of a line and the hash.
const hashMember = `,"hash":"`

const hashDigits = 2 * sha256.Size

// encode sets r.Hash and returns the line, with its end. The hash is the SHA-256, in hexadecimal, of the line up to
// `,"hash":`.
func encode(r *Record) ([]byte, error) {
	r.Hash = ""
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	line := bytes.TrimSuffix(b.Bytes(), []byte("}\n"))
	r.Hash = sumOf(line)
	line = append(line, hashMember+r.Hash+"\"}\n"...)
	if len(line) > maxLine {
		return nil, fmt.Errorf("record of %d bytes, more than %d", len(line), maxLine)
	}
	return line, nil
}

// errUnfinished is the error for a line that does not end as a record does: its writer stopped, or it never was one.
var errUnfinished = errors.New("the line is not a whole record")

// decode reads a line without its end and checks its hash. An error says what is wrong with the line.
func decode(line []byte) (Record, error) {
	var r Record
	at := len(line) - len(hashMember) - hashDigits - len(`"}`)
	if at < 0 || string(line[at:at+len(hashMember)]) != hashMember || string(line[len(line)-2:]) != `"}` {
		return r, errUnfinished
	}
	if sumOf(line[:at]) != string(line[at+len(hashMember):len(line)-2]) {
		return r, errors.New("the line was changed: its hash is that of another text")
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return r, fmt.Errorf("the line is not a record: %w", err)
	}
	return r, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
