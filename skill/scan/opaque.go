package scan

import (
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/text"
)

// opaque says what a file that is no text is. Pictures, fonts and sounds are nothing that a skill runs or says.
func (r *reader) opaque(at int, content []byte) {
	file := &r.r.Files[at]
	kind, class := text.Kind(content)
	file.Kind = kind
	if class == text.Media {
		return
	}
	r.found = append(r.found, fact.Fact{Kind: fact.Holds, Object: fact.Opaque, Name: kind, Place: file.place()})
	r.partly(at, "it is no text")
}
