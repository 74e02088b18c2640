package mcphost

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Limits of a stream of changes.
const (
	maxEvent   = 64 << 10        // bytes of a line
	listenWait = time.Second     // remote.relisten
	listenMost = 5 * time.Minute // before it is begun again
)

// listened returns the body of a subscriptions/listen that goes on when its server ends it: it is begun again, after a while that gets
// longer, and what may have changed in between is told as changed.
func (g *guard) listened(q *http.Request, body io.ReadCloser) io.ReadCloser {
	ctx, cancel := context.WithCancel(q.Context())
	in, out := io.Pipe()
	go func() {
		wait := g.r.relisten
		for body != nil {
			began := time.Now()
			pass(ctx, out, &metered{ReadCloser: body, r: g.r})
			if time.Since(began) > listenMost {
				wait = g.r.relisten
			}
			if body = g.again(ctx, q, &wait); body == nil {
				break
			}
			for _, list := range []string{"tools", "prompts", "resources"} {
				fmt.Fprintf(out, "data:{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s/list_changed\"}\n\n", list)
			}
		}
		_ = out.CloseWithError(cmp.Or(ctx.Err(), io.EOF))
	}()
	return &cancelling{in, cancel}
}

// again sends the request for a stream until it begins. It returns nil if the server refuses it, or ctx is done.
func (g *guard) again(ctx context.Context, q *http.Request, wait *time.Duration) io.ReadCloser {
	for q.GetBody != nil {
		select {
		case <-time.After(*wait):
		case <-ctx.Done():
			return nil
		}
		*wait = min(2**wait, listenMost)
		next := q.Clone(ctx)
		var err error
		if next.Body, err = q.GetBody(); err != nil {
			return nil
		}
		resp, err := g.send(next)
		switch {
		case err != nil:
			continue
		case resp.StatusCode == http.StatusOK && isStream(resp):
			return resp.Body
		}
		if drop(resp); resp.StatusCode < http.StatusInternalServerError {
			return nil
		}
	}
	return nil
}

// pass copies the notifications of a stream, until it ends, has its answer, or ctx is done.
func pass(ctx context.Context, to io.Writer, from io.ReadCloser) {
	stop := context.AfterFunc(ctx, func() { _ = from.Close() })
	defer func() {
		if stop() {
			_ = from.Close()
		}
	}()
	lines := bufio.NewScanner(from)
	lines.Buffer(nil, maxEvent)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data:")
		var m struct {
			Method        string
			Result, Error json.RawMessage
		}
		switch {
		case !ok || json.Unmarshal([]byte(data), &m) != nil:
		case m.Result != nil || m.Error != nil:
			return
		case strings.HasSuffix(m.Method, "/list_changed"):
			if _, err := fmt.Fprintf(to, "data:%s\n\n", data); err != nil {
				return
			}
		}
	}
}
