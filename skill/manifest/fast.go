package manifest

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Plain is what a catalogue keeps of a manifest that has nothing but the open standard's fields.
// Its slices are valid as long as the text that they come from.
type Plain struct {
	Description, Version []byte
	folded               []byte // memory for a description of several lines
}

// Skim reads the front matter of most manifests into p without a YAML parser. It knows a small part of YAML, which it reads as Parse does, and gives up on all else:
// where it says ok, Parse finds no problem, the same texts, and no field that a catalogue keeps
// besides. A differential fuzz test holds it to that (FuzzSkim).
//
// base is the name of the skill's folder, which the manifest must have.
func Skim(p *Plain, head []byte, base string) bool {
	if len(head) < 8 || string(head[:4]) != "---\n" {
		return false
	}
	head = head[:min(len(head), skimLimit)]
	s := skimmer{rest: head[4:], base: base, out: p}
	p.Description, p.Version = nil, nil
	for {
		line, ok := s.line()
		switch {
		case !ok:
			return false
		case string(line) == "---":
			return s.seen&(keyName|keyDescription) == keyName|keyDescription
		case !s.field(line):
			return false
		}
	}
}

// skimLimit keeps everything that skim accepts far below every limit of Parse.
const skimLimit = 4096

// The keys that skim accepts, each once.
const (
	keyName = 1 << iota
	keyDescription
	keyLicense
	keyCompatibility
	keyMetadata
	keyTools
)

// Lengths that no profile finds fault with.
const (
	skimDescription   = 490
	skimCompatibility = 490
)

type skimmer struct {
	rest []byte
	base string
	out  *Plain
	seen int
}

// tame reports whether a line has only characters that no rule speaks of: printable ASCII, and
// letters and dashes beyond.
func tame(b []byte) bool {
	for len(b) > 0 {
		if len(b) >= 8 && printable8(binary.LittleEndian.Uint64(b)) {
			b = b[8:]
			continue
		}
		if c := b[0]; c < utf8.RuneSelf {
			if c < ' ' || c == 0x7f {
				return false
			}
			b = b[1:]
			continue
		}
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError || !(r < 0x250 && unicode.IsLetter(r)) && (r < 0x2010 || r > 0x2015) {
			return false
		}
		b = b[n:]
	}
	return true
}

// printable8 reports whether all eight bytes are printable ASCII: none has the highest bit, none
// is below a blank, none is 0x7f. It may miss some that are.
func printable8(x uint64) bool {
	const ones = 0x0101010101010101
	return (x|(x-ones*' ')|(x+ones))&(ones*0x80) == 0
}

// line takes the next line. It is not ok without a line feed at its end, and not with characters
// that are not tame.
func (s *skimmer) line() ([]byte, bool) {
	i := bytes.IndexByte(s.rest, '\n')
	if i < 0 || !tame(s.rest[:i]) {
		return nil, false
	}
	line := s.rest[:i]
	s.rest = s.rest[i+1:]
	return line, true
}

// peek returns the next line without taking it.
func (s *skimmer) peek() []byte {
	if i := bytes.IndexByte(s.rest, '\n'); i >= 0 {
		return s.rest[:i]
	}
	return s.rest
}

func (s *skimmer) field(line []byte) bool {
	key, value, ok := keyValue(line)
	if !ok {
		return false
	}
	bit := 0
	switch string(key) {
	case "name":
		bit, ok = keyName, string(value) == s.base && simpleName(value) && s.single()
	case "description":
		bit, ok = keyDescription, s.description(value)
	case "license":
		bit, ok = keyLicense, certainText(value) && s.single()
	case "compatibility":
		bit, ok = keyCompatibility, len(value) <= skimCompatibility && certainText(value) && s.single()
	case "allowed-tools":
		bit, ok = keyTools, len(value) > 0 && toolList(value) && s.single()
	case "metadata":
		bit, ok = keyMetadata, len(value) == 0 && s.metadata()
	default:
		return false
	}
	ok = ok && s.seen&bit == 0
	s.seen |= bit
	return ok
}

// keyValue splits a line "key: value" that starts with the key.
func keyValue(line []byte) (key, value []byte, ok bool) {
	i := bytes.IndexByte(line, ':')
	if i <= 0 {
		return nil, nil, false
	}
	for _, c := range line[:i] {
		if !(c >= 'a' && c <= 'z' || c == '-' || c == '_') {
			return nil, nil, false
		}
	}
	if line[0] == '-' {
		return nil, nil, false
	}
	key, value = line[:i], line[i+1:]
	if len(value) == 0 {
		return key, nil, true
	}
	if len(value) < 2 || value[0] != ' ' || value[1] == ' ' || value[len(value)-1] == ' ' {
		return nil, nil, false
	}
	return key, value[1:], true
}

// single reports whether the value ends with its line: the next one starts a key or the end.
func (s *skimmer) single() bool {
	next := s.peek()
	return len(next) > 0 && next[0] != ' '
}

// simpleName accepts names that satisfy every profile.
func simpleName(name []byte) bool {
	if len(name) == 0 || len(name) > MaxName || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	for i, c := range name {
		switch {
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c == '-' && name[i-1] != '-' && i+1 < len(name):
		default:
			return false
		}
	}
	return !word(name) && !(len(name) <= len("com1") && reservedName(string(name)))
}

// word reports whether a plain scalar could be more than text to some reader: a truth value or
// nothing.
func word(v []byte) bool {
	if len(v) > 5 {
		return false
	}
	for _, w := range [...]string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"} {
		if len(v) == len(w) && strings.EqualFold(string(v), w) {
			return true
		}
	}
	return false
}

// certainText accepts a plain scalar on one line that is text beyond doubt: it begins with a
// letter, and has neither ": " nor " #".
func certainText(v []byte) bool {
	if len(v) == 0 || !letter(v[0]) || word(v) {
		return false
	}
	return plainRun(v)
}

func letter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf }

// plainRun reports whether nothing in v ends a plain scalar.
func plainRun(v []byte) bool {
	for rest := v; ; {
		i := bytes.IndexByte(rest, ':')
		if i < 0 {
			return !bytes.Contains(v, []byte(" #"))
		}
		if i+1 == len(rest) || rest[i+1] == ' ' {
			return false
		}
		rest = rest[i+1:]
	}
}

// quotedText returns the content of a double quoted scalar on one line without escapes.
func quotedText(v []byte) ([]byte, bool) {
	if len(v) < 3 || v[0] != '"' || v[len(v)-1] != '"' {
		return nil, false
	}
	in := v[1 : len(v)-1]
	return in, bytes.IndexByte(in, '"') < 0 && bytes.IndexByte(in, '\\') < 0 && in[0] != ' ' && in[len(in)-1] != ' '
}

func (s *skimmer) description(v []byte) bool {
	if string(v) == ">-" || string(v) == ">" {
		return s.folded()
	}
	ok := false
	if len(v) > 0 && v[0] == '"' {
		s.out.Description, ok = quotedText(v)
	} else {
		s.out.Description, ok = v, certainText(v)
	}
	return ok && len(v) <= skimDescription && letter(s.out.Description[0]) && s.single()
}

// folded reads a folded block of equally indented lines with no empty one among them. The lines
// are joined elsewhere: Parse may have to read them after all.
func (s *skimmer) folded() bool {
	out := s.out.folded[:0]
	for {
		next := s.peek()
		if len(next) == 0 || len(out)+len(next) > skimDescription {
			return false
		}
		if next[0] != ' ' {
			break
		}
		if len(next) < 3 || next[1] != ' ' || next[2] == ' ' || next[len(next)-1] == ' ' {
			return false
		}
		if _, ok := s.line(); !ok {
			return false
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		out = append(out, next[2:]...)
	}
	s.out.Description, s.out.folded = out, out
	return len(out) > 0 && letter(out[0])
}

// metadata reads a map of one level. Its keys with a meaning, but for author and version, are
// Parse's business.
func (s *skimmer) metadata() bool {
	n, seen := 0, [8][]byte{}
	for {
		next := s.peek()
		if len(next) == 0 {
			return false
		}
		if next[0] != ' ' {
			return n > 0
		}
		if len(next) < 3 || next[1] != ' ' || next[2] == ' ' || n == len(seen) {
			return false
		}
		key, value, ok := keyValue(next[2:])
		if !ok || !s.pair(key, value) {
			return false
		}
		for _, k := range seen[:n] {
			if bytes.Equal(k, key) {
				return false
			}
		}
		seen[n] = key
		n++
		if _, ok := s.line(); !ok {
			return false
		}
	}
}

func (s *skimmer) pair(key, value []byte) bool {
	text, quoted := value, len(value) > 0 && value[0] == '"'
	if quoted {
		var ok bool
		if text, ok = quotedText(value); !ok {
			return false
		}
	} else if !certainText(value) {
		return false
	}
	switch string(key) {
	case "author", "category":
		return true
	case "version":
		s.out.Version = text
		return quoted && numbers(text)
	}
	return false
}

// numbers accepts versions such as 1.2 and 1.2.3.
func numbers(v []byte) bool {
	for i, c := range v {
		if !(c >= '0' && c <= '9') && (c != '.' || i == 0 || i+1 == len(v) || v[i-1] == '.') {
			return false
		}
	}
	return len(v) > 0 && len(v) < 12
}

// toolList accepts a list of plain tools and of commands of Bash such as Bash(git:*).
func toolList(v []byte) bool {
	for len(v) > 0 {
		word := v
		if i := bytes.IndexByte(v, ' '); i >= 0 {
			word, v = v[:i], v[i+1:]
		} else {
			v = nil
		}
		if rule, ok := bytes.CutPrefix(word, []byte("Bash(")); ok {
			command, ok := bytes.CutSuffix(rule, []byte(":*)"))
			if !ok || !simpleName(command) {
				return false
			}
			continue
		}
		switch string(word) {
		case "Bash", "Edit", "Glob", "Grep", "Read", "Write", "WebFetch", "WebSearch":
		default:
			return false
		}
	}
	return true
}
