package models

import (
	"fmt"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/openai"
)

// The values of Finder.Reads.
const (
	asKnown      = "auto"
	onlyText     = "text"
	andImages    = "images"
	andDocuments = "documents"
)

// senses say what a model is shown. The zero value is shown everything.
type senses struct {
	said    string // Finder.Reads
	known   bool   // whether the model reads images and documents
	images  bool
	pdf     bool
	noFiles bool // its protocol has no PDF documents
}

// sensesOf returns the senses of a model. The models of a vendor at its own address read what those that are known read.
func sensesOf(p *provider, w *wire, facts *Facts, said string) senses {
	s := senses{said: said, known: facts.Name != "", images: facts.Images, pdf: facts.PDF, noFiles: p.protocol == chat && !openai.TakesDocuments(w.base)}
	if !s.known && p.family != "" && w.base == p.url {
		s.known, s.images, s.pdf = true, true, true
	}
	return s
}

// Unseen returns why the model is not shown an image or a PDF document, as the end of a sentence about it; "" if it is. ofTool says that one
// is of the result of a tool: such ones are shown only to a model that is known to read them, because a server that refuses one
// refuses all that follows.
func (f *Found) Unseen(mediaType string, ofTool bool) string {
	return f.senses.unseen(mediaType, ofTool)
}

func (s *senses) unseen(mediaType string, ofTool bool) string {
	what, reads, said := "images", s.images, s.said == andImages || s.said == andDocuments
	if !media.IsImage(mediaType) {
		what, reads, said = "PDF documents", s.pdf, s.said == andDocuments
	}
	switch {
	case *s == senses{}:
	case s.noFiles && what != "images":
		return "the protocol of its server has no PDF documents"
	case s.said == onlyText, s.said == andImages && !said:
		return fmt.Sprintf("the setting modelReads is %s", s.said)
	case said:
	case !s.known && ofTool:
		return fmt.Sprintf("it is not known whether it reads %s; the setting modelReads can say it", what)
	case s.known && !reads:
		return "it reads no " + what
	}
	return ""
}

// seen returns a request with a text in place of what the model is not shown.
func (s *senses) seen(r *llm.Request) *llm.Request {
	out := *r
	out.Messages = llm.Without(r.Messages, func(m *llm.Media, ofTool bool) string {
		if why := s.unseen(m.Type, ofTool); why != "" {
			return "not shown to this model: " + why
		}
		return ""
	})
	return &out
}
