package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/trace"
)

// ErrShort is returned by Compact for a conversation that has nothing to shorten.
var ErrShort = errors.New("the conversation is too short to be shortened")

const (
	fillPercent    = 80 // of the window: above it the conversation is shortened
	tailPercent    = 25 // of the window: what stays word for word
	worthPercent   = 10 // of the window: less than that is not worth a summary by itself
	resultsPercent = 50 // of the window: the results of one answer have no more, and what stays with results in it

	summaryLimit = 4000  // tokens of a summary
	quoteLimit   = 2000  // characters of one part in what is summarised
	promptLimit  = 8000  // characters of the request that the rest of the conversation works on
	digestLimit  = 12000 // characters of a digest
	resultLeast  = 1000  // characters that a result has, however many there are
)

// Compact shortens the conversation by hand: all but its last turns become a summary, and what Options.Carry returns
// is added. The prefix stays as it is. The error is ErrShort, ErrBusy or the context's; a model that cannot summarise
// is no error, for then the first lines of what was said do.
func (c *Conversation) Compact(ctx context.Context) error {
	if !c.busy.CompareAndSwap(false, true) {
		return ErrBusy
	}
	defer c.busy.Store(false)
	t := &turn{c: c, yield: func(Step, error) bool { return true }, start: c.o.Now(), before: c.spent}
	return t.shorten(ctx, 0)
}

// fit shortens the conversation when the next request would fill the window too much. What cannot be shortened is
// sent as it is.
func (t *turn) fit(ctx context.Context) error {
	if t.c.Size() <= t.c.share(fillPercent) {
		return nil
	}
	if err := t.shorten(ctx, t.c.share(worthPercent)); !errors.Is(err, ErrShort) {
		return err
	}
	return nil
}

// tooLong shortens the conversation because the provider did not take it, and learns how small its window is.
func (t *turn) tooLong(ctx context.Context) error {
	t.c.o.Window = min(t.c.o.Window, t.c.Size())
	return t.shorten(ctx, t.c.share(worthPercent))
}

// share returns a part of the window, in tokens.
func (c *Conversation) share(percent int) int { return c.o.Window * percent / 100 }

// shorten replaces the messages ahead of the last turns by a summary, unless they have fewer than least tokens, and
// cuts the results in what stays where these alone fill the window.
func (t *turn) shorten(ctx context.Context, least int) error {
	c := t.c
	before, start := c.Size(), c.o.Now()
	at := c.cut()
	head, tail := c.messages[:at], c.messages[at:]
	tail, squeezed := squeeze(tail, c.share(resultsPercent)*bytesPerToken)
	w := weight(head) / bytesPerToken
	switch {
	case at > 1 && w >= least, at == 1 && w >= c.share(worthPercent):
		first, err := t.summary(ctx, head, tail[0])
		if err != nil {
			return err
		}
		if tail[0].Role == llm.User {
			tail = tail[1:]
		}
		c.replace(append([]llm.Message{first}, tail...))
	case squeezed:
		c.replace(append(slices.Clone(head), tail...))
	default:
		return ErrShort
	}
	text := fmt.Sprintf("conversation shortened from about %d to about %d tokens", before, c.Size())
	t.trace(ctx, trace.Event{Kind: ConversationShortened, Message: text, Duration: c.o.Now().Sub(start),
		Attrs: []slog.Attr{slog.Int("messages", at), slog.Int("depth", c.depth)}})
	t.step(Step{Notice: text})
	return nil
}

// squeeze cuts the results among messages when all of it has more bytes than there is room, and reports whether it did.
func squeeze(messages []llm.Message, room int) ([]llm.Message, bool) {
	results := 0
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				results++
			}
		}
	}
	if results == 0 || weight(messages) <= room {
		return messages, false
	}
	out, squeezed := slices.Clone(messages), false
	for i, m := range out {
		out[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			r := *p.Result
			if text, cut := limitText(r.Text, room/results); cut && len(text) < len(r.Text) {
				r.Text, squeezed = text, true
			}
			out[i].Parts[j].Result = &r
		}
	}
	return out, squeezed
}

// cut returns where the part of the history begins that stays: at a prompt or at an answer, never between a call and
// its result. It is the longest one that takes a quarter of the window, from the beginning of a turn if that leaves
// more than the present prompt; the last message stays in any case.
func (c *Conversation) cut() int {
	room := min(c.share(tailPercent), c.Size()*tailPercent/100) * bytesPerToken
	last, at, prompt, used := len(c.messages)-1, 0, 0, 0
	for i := last; i > 0; i-- {
		used += size(c.messages[i].Parts)
		if used > room && at > 0 {
			break
		}
		m := c.messages[i]
		switch {
		case m.Role == llm.Assistant:
			at = i
		case m.Parts[0].Result == nil:
			at, prompt = i, i
		}
	}
	if prompt > 0 && prompt < last {
		return prompt
	}
	return at
}

func weight(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += size(m.Parts)
	}
	return n
}
