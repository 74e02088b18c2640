package saved

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
)

// maxMedia is how many bytes of images and documents a conversation keeps.
const maxMedia = 48 << 20

// album has the images and documents of a file. Each stands there once, in a line of its own, and messages name it by its digest.
type album struct {
	all  map[string]llm.Media
	size int
}

// mediaLine is the content of a line with an image or a document.
type mediaLine struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// mediaName is an image or a document in a message.
type mediaName struct {
	ID   string `json:"id"`
	Name text   `json:"name,omitempty"`
}

func idOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

func (c cleaner) media(m *llm.Media) mediaName { return mediaName{idOf(m.Data), c.text(m.Name)} }

// add adds what a line has. It reports whether there was room.
func (a *album) add(id string, m llm.Media) bool {
	if _, ok := a.all[id]; ok {
		return true
	}
	if a.size+len(m.Data) > maxMedia {
		return false
	}
	if a.all == nil {
		a.all = map[string]llm.Media{}
	}
	a.all[id], a.size = m, a.size+len(m.Data)
	return true
}

// shown returns what a message names, as a part of it.
func (r *reader) shown(n mediaName) llm.Part {
	m, ok := r.c.album.all[n.ID]
	if m.Name = string(n.Name); ok {
		return llm.Part{Media: &m}
	}
	return llm.Part{Text: fmt.Sprintf("[%s: lost from the saved conversation]", cmp.Or(m.Name, "an image or a document"))}
}

func (r *reader) result(in *result) *llm.Result {
	out := &llm.Result{ID: string(in.ID), Name: string(in.Name), Text: string(in.Text), Failed: in.Failed}
	for _, n := range in.Media {
		if p := r.shown(n); p.Media != nil {
			out.Media = append(out.Media, *p.Media)
		} else {
			out.Text += "\n" + p.Text
		}
	}
	return out
}

// keep writes the images and documents of messages that are not in the file, and returns the messages with a text in place of those that
// have no room.
func (l *Log) keep(messages []llm.Message) []llm.Message {
	return llm.Without(messages, func(m *llm.Media, _ bool) string {
		id := idOf(m.Data)
		if _, ok := l.album.all[id]; ok {
			return ""
		}
		if !l.album.add(id, *m) {
			return fmt.Sprintf("not kept, since a conversation keeps %d MB of images and documents", maxMedia>>20)
		}
		l.album.all[id] = llm.Media{} // the bytes are on the disk
		l.appendLocked(&line{Kind: kindMedia, ID: id, Media: &mediaLine{m.Type, m.Data}})
		return ""
	})
}

func (r *reader) media(l *line) error {
	if l.Media == nil || media.Type(l.Media.Data) != l.Media.Type || l.Media.Type == "" || idOf(l.Media.Data) != l.ID ||
		!r.c.album.add(l.ID, llm.Media{Type: l.Media.Type, Data: l.Media.Data}) {
		return errLine
	}
	return nil
}
