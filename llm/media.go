package llm

import (
	"fmt"

	"github.com/agent-base/agent-base/internal/media"
)

// Media is an image or a PDF document that the model is shown. Its bytes must not change.
type Media struct {
	Type string `json:"type"`           // image/png, image/jpeg, image/gif, image/webp or application/pdf
	Name string `json:"name,omitempty"` // of its file, for the model and for people; may be empty
	Data []byte `json:"data"`
}

// Document reports whether it is a PDF document and not an image.
func (m *Media) Document() bool { return m.Type == media.PDF }

// Tokens estimates how many tokens a model pays for it, from its header alone.
func (m *Media) Tokens() int { return media.Tokens(m.Data) }

// String says what it is, such as "shot.png (PNG image, 800 x 600, 120 KB)".
func (m *Media) String() string {
	if m.Name == "" {
		return media.Describe(m.Data)
	}
	return fmt.Sprintf("%s (%s)", m.Name, media.Describe(m.Data))
}

// Without returns messages with a text in place of some images and documents: those for which why returns a reason, which the text
// says. ofTool reports that one is of the result of a tool. It does not change messages.
func Without(messages []Message, why func(m *Media, ofTool bool) string) []Message {
	out := make([]Message, 0, len(messages))
	for _, m := range messages {
		parts := make([]Part, 0, len(m.Parts))
		for _, p := range m.Parts {
			switch {
			case p.Media != nil:
				if reason := why(p.Media, false); reason != "" {
					p = Part{Text: p.Media.standIn(reason)}
				}
			case p.Result != nil && len(p.Result.Media) > 0:
				p.Result = p.Result.without(why)
			}
			parts = append(parts, p)
		}
		out = append(out, Message{Role: m.Role, Parts: parts})
	}
	return out
}

func (r Result) without(why func(*Media, bool) string) *Result {
	all := r.Media
	r.Media = nil
	for i := range all {
		if reason := why(&all[i], true); reason != "" {
			r.Text += "\n" + all[i].standIn(reason)
		} else {
			r.Media = append(r.Media, all[i])
		}
	}
	return &r
}

func (m *Media) standIn(reason string) string { return fmt.Sprintf("[%s: %s]", m, reason) }
