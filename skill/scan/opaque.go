package scan

import (
	"bytes"
	"strings"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// opaque says what a file that is no text is. Pictures, fonts and sounds are nothing that a skill runs or says.
func (r *reader) opaque(at int, content []byte) {
	file := &r.r.Files[at]
	class, kind := classOf(content)
	if file.Kind = kind; class == "media" {
		return
	}
	r.found = append(r.found, fact.Fact{Kind: fact.Holds, Object: fact.Opaque, Name: kind, Place: file.place()})
	r.partly(at, "it is no text")
}

// classOf returns the class of a file that is no text, and what it is, by its first bytes: "unknown bytes" if nothing knows it.
func classOf(content []byte) (class, kind string) {
	class, kind = magic(content)
	switch {
	case kind == "Java byte code" && bytes.HasPrefix(content[4:], []byte("\x00\x00\x00")) && (len(content) < 8 || content[7] < 45): // a count of programs, no version of Java
		return class, "a native program"
	case class != "":
	case len(content) < 16:
		return "", "unknown bytes"
	case content[2] == '\r' && content[3] == '\n' && (content[1] >= 0x0b && content[1] <= 0x0f || content[1] == 0xf3):
		return "program", "Python byte code"
	case string(content[:4]) == "RIFF" && strings.Contains("WEBP WAVE AVI ", string(content[8:12])):
		return "media", "a picture or a sound"
	case string(content[4:8]) == "ftyp":
		return "media", "a picture or a film"
	default:
		return "", "unknown bytes"
	}
	return class, kind
}

// magic returns what names.txt says of the first bytes of a file: a class and a kind.
func magic(content []byte) (class, kind string) {
	for _, begin := range names().lists["magic"] {
		if bytes.HasPrefix(content, []byte(begin)) {
			value, _ := named("magic", begin)
			class, kind, _ = strings.Cut(value, " ")
			return class, kind
		}
	}
	return "", ""
}
