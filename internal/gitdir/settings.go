// Package gitdir reads what git keeps on the disk: settings, and which folders belong to the repository of a work tree. It runs nothing,
// and reads only files of bounded size. Its functions are safe for concurrent use.
package gitdir

import (
	"errors"
	"io"
	"os"
	"strings"
)

// Setting is one line of settings.
type Setting struct {
	Section string // in lower case, such as "includeif"
	Sub     string // as written, such as "gitdir:~/work/"; "" for none
	Key     string // in lower case
	Value   string
	Bare    bool // the key stands alone, which means true
}

// Name returns what git calls the setting, without the subsection: "core.worktree".
func (s *Setting) Name() string { return s.Section + "." + s.Key }

// Last returns the value that counts of a setting without a subsection, "" for none.
func Last(list []Setting, name string) string {
	value := ""
	for _, s := range list {
		if s.Sub == "" && s.Name() == name {
			value = s.Value
		}
	}
	return value
}

// maxFile is how many bytes of a file of git are read. A longer one is an error.
const maxFile = 256 << 10

// errSyntax is the error for settings that git would not read.
var errSyntax = errors.New("these are no settings of git")

// Settings reads settings as git does, but for a key before the first section, which is an error.
func Settings(text []byte) ([]Setting, error) {
	p := parser{rest: strings.TrimPrefix(strings.ReplaceAll(string(text), "\r\n", "\n"), "\ufeff")}
	for p.rest != "" && p.err == nil {
		switch c := p.rest[0]; {
		case isSpace(c):
			p.rest = p.rest[1:]
		case c == '#' || c == ';':
			p.line()
		case c == '[':
			p.header()
		default:
			p.setting()
		}
	}
	if p.err != nil {
		return nil, p.err
	}
	return p.out, nil
}

// parser reads settings from rest.
type parser struct {
	rest         string
	section, sub string
	out          []Setting
	err          error
}

func isSpace(c byte) bool {
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f'
}

func isName(c byte, first bool) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || !first && (c >= '0' && c <= '9' || c == '-')
}

// line takes the rest of the line.
func (p *parser) line() { _, p.rest, _ = strings.Cut(p.rest, "\n") }

// header takes `[section]`, `[section "sub"]` or `[section.sub]`.
func (p *parser) header() {
	end := 1
	for end < len(p.rest) && (isName(p.rest[end], false) || p.rest[end] == '.') {
		end++
	}
	name := strings.ToLower(p.rest[1:end])
	p.rest, p.sub = p.rest[end:], ""
	if trimmed := strings.TrimLeft(p.rest, " \t"); trimmed != p.rest && strings.HasPrefix(trimmed, `"`) {
		p.rest = trimmed[1:]
		p.quoted()
	} else {
		name, p.sub, _ = strings.Cut(name, ".")
	}
	p.section = name
	if !strings.HasPrefix(p.rest, "]") || name == "" {
		p.err = errSyntax
		return
	}
	p.rest = p.rest[1:]
}

// quoted takes a subsection up to its closing quote.
func (p *parser) quoted() {
	var b strings.Builder
	for i := 0; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == '"':
			p.sub, p.rest = b.String(), p.rest[i+1:]
			return
		case c == '\n':
			p.err = errSyntax
			return
		case c == '\\' && i+1 < len(p.rest) && p.rest[i+1] != '\n':
			i++
			b.WriteByte(p.rest[i])
		default:
			b.WriteByte(c)
		}
	}
	p.err = errSyntax
}

// setting takes a key with its value.
func (p *parser) setting() {
	end := 0
	for end < len(p.rest) && isName(p.rest[end], end == 0) {
		end++
	}
	s := Setting{Section: p.section, Sub: p.sub, Key: strings.ToLower(p.rest[:end])}
	p.rest = strings.TrimLeft(p.rest[end:], " \t")
	switch {
	case end == 0 || p.section == "":
		p.err = errSyntax
	case p.rest == "" || p.rest[0] == '\n':
		s.Bare = true
	case p.rest[0] != '=':
		p.err = errSyntax
	default:
		p.rest = p.rest[1:]
		s.Value = p.value()
	}
	p.out = append(p.out, s)
}

// escapes are what stands for a character after a backslash.
var escapes = map[byte]byte{'t': '\t', 'b': '\b', 'n': '\n', '\\': '\\', '"': '"'}

// value takes a value to the end of its line, which a backslash continues.
func (p *parser) value() string {
	var b strings.Builder
	quoted, solid := false, 0 // solid is the length without spaces at the end
	for i := 0; i < len(p.rest); i++ {
		c := p.rest[i]
		switch {
		case c == '\n' && quoted:
			p.err = errSyntax
			return ""
		case c == '\n', !quoted && (c == '#' || c == ';'):
			p.rest = p.rest[i:]
			if c != '\n' {
				p.line()
			}
			return b.String()[:solid]
		case c == '"':
			quoted = !quoted
			solid = b.Len()
		case c == '\\' && i+1 < len(p.rest) && p.rest[i+1] == '\n':
			i++
		case c == '\\' && i+1 < len(p.rest):
			i++
			if escapes[p.rest[i]] == 0 {
				p.err = errSyntax
				return ""
			}
			b.WriteByte(escapes[p.rest[i]])
			solid = b.Len()
		case c == '\\': // at the very end it continues nothing
		case isSpace(c) && !quoted:
			if b.Len() > 0 {
				b.WriteByte(c)
			}
		default:
			b.WriteByte(c)
			solid = b.Len()
		}
	}
	if quoted {
		p.err = errSyntax
	}
	p.rest = ""
	return b.String()[:solid]
}

// Read returns the content of a regular file, where a link may lead to it, too. It returns an error for a file of more than 256 KiB.
func Read(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, &os.PathError{Op: "read", Path: path, Err: os.ErrInvalid}
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}
