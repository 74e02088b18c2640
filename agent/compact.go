package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/trace"
)

// ErrShort is returned by Compact if the conversation would not get shorter. It is unchanged then.
var ErrShort = errors.New("the conversation is too short to be shortened")

const (
	fillPercent    = 80 // of the window: a fuller conversation is shortened
	tailPercent    = 25 // of the window: kept word for word
	worthPercent   = 10 // of the window: less is not worth a summary
	resultsPercent = 50 // of the window: limit of the results of one answer, and of the kept part if it has results

	summaryLimit = 4000  // tokens of a summary
	quoteLimit   = 2000  // characters of one part in what is summarised
	promptLimit  = 8000  // characters of the user's last prompt
	digestLimit  = 12000 // characters of a digest
	resultLeast  = 1000  // characters that each result may always have
)

// Compact shortens the conversation: all but its last turns become a summary, followed by the text of Options.Carry. The
// prefix stays unchanged. If the model cannot summarise, the first lines of the messages take the place of a summary. The notice
// tells the user what became of the messages. The error is ErrShort, that of ctx, or one for a call during an Ask.
func (c *Conversation) Compact(ctx context.Context) (notice string, err error) {
	if !c.busy.CompareAndSwap(false, true) {
		return "", errBusy
	}
	defer c.busy.Store(false)
	t := &turn{c: c, yield: func(s Step, _ error) bool { notice = s.Notice; return true }, start: c.o.Now(), before: c.spent}
	err = t.shorten(ctx, 0)
	return notice, err
}

// fit shortens the conversation if the next request would fill too much of the window. A conversation that cannot be
// shortened is sent unchanged.
func (t *turn) fit(ctx context.Context) error {
	t.spare()
	if t.c.Size() <= t.c.share(fillPercent) {
		return nil
	}
	if err := t.shorten(ctx, t.c.share(worthPercent)); !errors.Is(err, ErrShort) {
		return err
	}
	return nil
}

// tooLong shortens a conversation that the provider refused, and lowers the window to its size.
func (t *turn) tooLong(ctx context.Context) error {
	t.c.o.Window = min(t.c.o.Window, t.c.Size())
	t.c.refused = t.c.o.Window
	return t.shorten(ctx, t.c.share(worthPercent))
}

// share returns a part of the window, in tokens.
func (c *Conversation) share(percent int) int { return c.o.Window * percent / 100 }

// shorten replaces the messages before the last turns by a summary, unless they have fewer than least tokens. It also
// cuts the results in the part that stays, if that part alone fills the window.
func (t *turn) shorten(ctx context.Context, least int) error {
	c := t.c
	before, start := c.Size(), c.o.Now()
	at := c.cut()
	head, tail := c.messages[:at], c.messages[at:]
	lost := ""
	tail, squeezed := squeeze(tail, c.share(resultsPercent)*bytesPerToken)
	w := weight(head) / bytesPerToken
	alone := least // the least weight of a head that is a single message, perhaps a summary
	if least == 0 {
		alone = summaryLimit
	}
	switch {
	case at > 1 && w >= least, at == 1 && w >= alone:
		first, digested, err := t.summary(ctx, head, tail[0])
		if err != nil {
			return err
		}
		if tail[0].Role == llm.User {
			tail = tail[1:]
		}
		short := append([]llm.Message{first}, tail...)
		if least == 0 && weight(short) >= weight(c.messages) { // by hand: a summary may be longer than what it is of
			return ErrShort
		}
		c.exchange(short)
		lost = lostText(at, digested)
	case squeezed > 0:
		c.exchange(append(slices.Clone(head), tail...))
	default:
		return ErrShort
	}
	if squeezed > 0 {
		lost = strings.TrimPrefix(fmt.Sprintf("%s; results of calls that were cut: %d", lost, squeezed), "; ")
	}
	text := fmt.Sprintf("conversation shortened from about %d to about %d tokens: %s", before, c.Size(), lost)
	t.trace(ctx, trace.Event{Kind: ConversationShortened, Message: text, Duration: c.o.Now().Sub(start),
		Attrs: []slog.Attr{slog.Int("messages", at), slog.Int("depth", c.depth)}})
	t.step(Step{Notice: text})
	return nil
}

// lostText says what became of the messages that were left out.
func lostText(messages int, digested bool) string {
	became := "a summary"
	if digested {
		became = "their first lines, because the model made no summary"
	}
	return fmt.Sprintf("%d messages became %s", messages, became)
}

// squeeze cuts the results in messages if these have more than room bytes, and returns how many it cut.
func squeeze(messages []llm.Message, room int) (out []llm.Message, squeezed int) {
	results := 0
	for _, m := range messages {
		for _, p := range m.Parts {
			if p.Result != nil {
				results++
			}
		}
	}
	if results == 0 || weight(messages) <= room {
		return messages, 0
	}
	out = slices.Clone(messages)
	for i, m := range out {
		out[i].Parts = slices.Clone(m.Parts)
		for j, p := range m.Parts {
			if p.Result == nil {
				continue
			}
			r := *p.Result
			if text, cut := limitText(r.Text, room/results); cut && len(text) < len(r.Text) {
				r.Text, squeezed = text, squeezed+1
			}
			if part := (llm.Part{Result: &r}); mediaSize([]llm.Part{part}) > room/results {
				r, squeezed = *leftOut([]llm.Message{{Parts: []llm.Part{part}}})[0].Parts[0].Result, squeezed+1
			}
			out[i].Parts[j].Result = &r
		}
	}
	return out, squeezed
}

// cut returns the index at which the kept part of the history begins: at a prompt or an answer, never between a call and
// its result. It is the longest part that fits in a quarter of the window and of what was said, from the beginning of a turn if that leaves
// more than the present prompt. The last message always stays.
func (c *Conversation) cut() int {
	room := min(c.share(tailPercent)*bytesPerToken, weight(c.messages)*tailPercent/100)
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
