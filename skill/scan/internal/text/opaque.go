package text

import (
	"bytes"
	"strings"

	"github.com/agent-base/agent-base/script/survey"
)

// Class says what the bytes of a file that is no text can do.
type Class uint8

// The classes.
const (
	Unknown Class = iota
	Media         // pictures, sounds and fonts
	Program       // code that nothing here reads
)

// formats are the first bytes of files. Those of native programs stand in script/survey.
var formats = []struct {
	begin, name string
	class       Class
}{
	{"\x00asm", "WebAssembly", Program},
	{"\xca\xfe\xba\xbe", "Java byte code", Program},
	{"dex\n", "Android byte code", Program},
	{"\x1bLua", "Lua byte code", Program},
	{"BC\xc0\xde", "LLVM byte code", Program},
	{"\xfe\xed\xfa\xce", "a native program", Program},
	{"\xfe\xed\xfa\xcf", "a native program", Program},
	{"\xce\xfa\xed\xfe", "a native program", Program},
	{"!<arch>\n", "a native library", Program},
	{"\x89PNG\r\n", "a picture", Media},
	{"\xff\xd8\xff", "a picture", Media},
	{"GIF8", "a picture", Media},
	{"BM", "a picture", Media},
	{"\x00\x00\x01\x00", "a picture", Media},
	{"II*\x00", "a picture", Media},
	{"MM\x00*", "a picture", Media},
	{"wOFF", "a font", Media},
	{"wOF2", "a font", Media},
	{"OTTO", "a font", Media},
	{"\x00\x01\x00\x00", "a font", Media},
	{"true\x00", "a font", Media},
	{"ID3", "a sound", Media},
	{"OggS", "a sound", Media},
	{"fLaC", "a sound", Media},
	{"%PDF-", "a PDF", Unknown},
	{"SQLite format 3\x00", "a database", Unknown},
}

// Kind says what a file that is no text is, by its first bytes, and its class: "unknown bytes" if nothing knows it.
func Kind(content []byte) (string, Class) {
	if survey.Platform(content) != "" {
		if bytes.HasPrefix(content, []byte("\xca\xfe\xba\xbe")) && len(content) > 7 && content[7] >= 45 { // the version of Java, not a count of programs
			return "Java byte code", Program
		}
		return "a native program", Program
	}
	for _, f := range formats {
		if bytes.HasPrefix(content, []byte(f.begin)) {
			return f.name, f.class
		}
	}
	if len(content) < 16 {
		return "unknown bytes", Unknown
	}
	switch {
	case content[2] == '\r' && content[3] == '\n' && (content[1] >= 0x0b && content[1] <= 0x0f || content[1] == 0xf3):
		return "Python byte code", Program
	case string(content[:4]) == "RIFF" && strings.Contains("WEBP WAVE AVI ", string(content[8:12])):
		return "a picture or a sound", Media
	case string(content[4:8]) == "ftyp":
		return "a picture or a film", Media
	}
	return "unknown bytes", Unknown
}
