package agent

import (
	"fmt"
	"slices"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// errMedia is the error of a prompt with more than a request may have.
var errMedia = fmt.Errorf("a prompt may have %d images and documents, with %d MB together", media.MaxCount, media.MaxAll>>20)

// shown returns the images and documents of a prompt as parts.
func shown(all []llm.Media) ([]llm.Part, error) {
	parts, room := []llm.Part(nil), media.Whole()
	for i := range all {
		if !room.Take(len(all[i].Data)) {
			return nil, errMedia
		}
		parts = append(parts, llm.Part{Media: &all[i]})
	}
	return parts, nil
}

// ofParts returns the images and documents of parts.
func ofParts(parts []llm.Part) (out []*llm.Media) {
	for _, p := range parts {
		if p.Media != nil {
			out = append(out, p.Media)
		}
		for i := 0; p.Result != nil && i < len(p.Result.Media); i++ {
			out = append(out, &p.Result.Media[i])
		}
	}
	return out
}

// mediaSize estimates the bytes of text that cost as much as the images and documents of parts.
func mediaSize(parts []llm.Part) (n int) {
	for _, m := range ofParts(parts) {
		n += m.Tokens() * bytesPerToken
	}
	return n
}

// spare leaves out the oldest images and documents if a request has too many. Those of the last message stay.
func (t *turn) spare() {
	over, room := false, media.Whole()
	for _, m := range t.c.messages {
		for _, one := range ofParts(m.Parts) {
			over = !room.Take(len(one.Data)) || over
		}
	}
	if !over {
		return
	}
	old, keep, last := map[*llm.Media]bool{}, media.Half(), len(t.c.messages)-1
	for i, m := range slices.Backward(t.c.messages) {
		for _, one := range slices.Backward(ofParts(m.Parts)) {
			if keep.Take(len(one.Data)) {
				continue
			}
			keep.Count = 0 // none that is older stays
			if i < last {
				old[one] = true
			}
		}
	}
	t.c.exchange(llm.Without(t.c.messages, func(m *llm.Media, _ bool) string {
		if old[m] {
			return "no longer shown"
		}
		return ""
	}))
	t.step(Step{Notice: fmt.Sprintf("older images and documents are no longer sent: %d; a request may have %d, with %d MB", len(old), media.MaxCount, media.MaxAll>>20)})
}

// leftOut returns messages without images and documents.
func leftOut(messages []llm.Message) []llm.Message {
	return llm.Without(messages, func(*llm.Media, bool) string { return "left out" })
}

// show makes the images and documents of a result those that the model gets, as far as there is room.
func (b *batch) show(c *called, all []tool.Media) {
	for i := range all {
		m := llm.Media(all[i])
		if m.Tokens()*bytesPerToken > b.left || !b.media.Take(len(m.Data)) {
			c.text += fmt.Sprintf("\n[%s: left out, since the results of one answer may show %d images and documents, with %d MB and about %d tokens]",
				&m, media.Half().Count, media.Half().Bytes>>20, b.t.c.share(resultsPercent))
			continue
		}
		b.left -= m.Tokens() * bytesPerToken
		c.media = append(c.media, m)
	}
}
