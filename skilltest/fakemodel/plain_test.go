package fakemodel

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

// plainRequest is a request without an SDK.
type plainRequest struct {
	url    string
	body   any
	stream bool // the answer is a stream of events
}

// post sends the request and returns the body of the answer.
func (q *plainRequest) post(ctx context.Context) (io.ReadCloser, error) {
	body, err := json.Marshal(q.body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, q.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", "2023-06-01")
	req.Header.Set("X-Api-Key", "k")
	req.Header.Set("X-Goog-Api-Key", "k")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	return nil, &httpError{resp.StatusCode, string(text)}
}

// askPlain sends the request and passes the answer, or the data of each event, to take.
func askPlain(ctx context.Context, q *plainRequest, take func([]byte) error) error {
	body, err := q.post(ctx)
	if err != nil {
		return err
	}
	defer body.Close()
	if !q.stream {
		text, err := io.ReadAll(body)
		if err != nil {
			return err
		}
		return take(text)
	}
	lines := bufio.NewScanner(body)
	for lines.Scan() {
		if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
			if err := take([]byte(data)); err != nil {
				return err
			}
		}
	}
	return lines.Err()
}

// strictly decodes an answer: an unknown field or a wrong type is a fault of the server.
func strictly(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	return d.Decode(v)
}
