package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/patience"
)

// Codes of the server.
const (
	codeSequence   = jetstream.ErrorCode(10071) // the log has grown
	codeSequence2  = jetstream.ErrorCode(10164) // likewise, by a batch that is not complete yet
	codeIncomplete = jetstream.ErrorCode(10176) // the server did not take a message of the batch
	codeTooMany    = jetstream.ErrorCode(10210) // incomplete batches; that of a killed writer counts for ten seconds
)

// Headers of messages.
const (
	headChange = "Change" // the id of the change that a message belongs to
	headWriter = "Writer" // the process that made it, see Options.Writer
	headPart   = "Part"   // the name of the part, quoted
	headGone   = "Gone"   // the part was removed
	headBatch  = "Nats-Batch-Id"
	headNumber = "Nats-Batch-Sequence"
	headCommit = "Nats-Batch-Commit"
	headExpect = "Nats-Expected-Last-Subject-Sequence"
	headRollup = "Nats-Rollup"
)

// batch is a change as it is stored.
type batch struct {
	id       string
	messages []*nats.Msg
}

// add adds a message.
func (b *batch) add(subject string, data []byte, headers ...string) {
	m := nats.NewMsg(subject)
	m.Data = data
	for i := 0; i < len(headers); i += 2 {
		m.Header.Set(headers[i], headers[i+1])
	}
	b.messages = append(b.messages, m)
}

// check returns an error for a batch that no server stores.
func (b *batch) check(kind string) error {
	for _, m := range b.messages {
		if len(m.Data) > maxPart {
			return fmt.Errorf("the %s of %s would have %d bytes, more than %d: nothing was written (each file of a skill is listed, so a skill with fewer files needs less)",
				kind, m.Header.Get(headPart), len(m.Data), maxPart)
		}
	}
	if len(b.messages) > maxBatch {
		return fmt.Errorf("the change of the %s has %d parts and records, more than %d, and nothing was written: change fewer skills at a time", kind, len(b.messages), maxBatch)
	}
	return nil
}

// commit stores a batch: all of it or nothing. The error is errConflict if another change came first, and errUnknown if no answer came.
func (s *State) commit(ctx context.Context, b *batch) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	last := len(b.messages) - 1
	for i, m := range b.messages {
		m.Header.Set(headBatch, b.id)
		m.Header.Set(headNumber, strconv.Itoa(i+1))
		if i < last {
			if err := s.conn.PublishMsg(m); err != nil {
				return err
			}
		}
	}
	m := b.messages[last]
	m.Header.Set(headCommit, "1")
	answer, err := s.conn.RequestMsgWithContext(ctx, m)
	if errors.Is(err, nats.ErrNoResponders) { // no server got the end of it
		return err
	}
	if err == nil && s.o.broken.deaf {
		err = nats.ErrTimeout
	}
	if err != nil {
		return fmt.Errorf("%w (%w)", errUnknown, err)
	}
	var ack struct {
		Error *jetstream.APIError `json:"error"`
		Count int                 `json:"count"`
	}
	if err := json.Unmarshal(answer.Data, &ack); err != nil {
		return fmt.Errorf("%w (%w)", errUnknown, err)
	}
	switch {
	case ack.Error == nil && ack.Count == len(b.messages):
		return nil
	case ack.Error == nil:
		return fmt.Errorf("the server stores no batches (%d of %d messages): nats-server 2.12 or later does", ack.Count, len(b.messages))
	case ack.Error.ErrorCode == codeSequence, ack.Error.ErrorCode == codeSequence2:
		return errConflict
	case ack.Error.ErrorCode == patience.CodeStore, ack.Error.ErrorCode == patience.CodeResources:
		return fmt.Errorf("%w (%w)", errFull, ack.Error)
	}
	return ack.Error
}
