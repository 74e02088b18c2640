package state

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// A content is stored once, comes back as it was, and gives its room back. Without room nothing is stored.
func TestContents(t *testing.T) {
	n, err := node.Open(t.Context(), &node.Options{Dir: folder(t)})
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	s, err := Open(t.Context(), n.Conn(), &Options{contents: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	wrote := 0
	put := func(digest string, size int) error {
		return s.PutContent(t.Context(), digest, func(w io.Writer) error {
			wrote++
			_, err := io.Copy(w, strings.NewReader(strings.Repeat(digest[:1], size)))
			return err
		})
	}
	get := func(digest string) (string, error) {
		var b bytes.Buffer
		err := s.GetContent(t.Context(), digest, func(r io.Reader) error { b.Reset(); _, err := io.Copy(&b, r); return err })
		return b.String(), err
	}
	there := func() string {
		list, err := s.Contents(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return strings.Join(slices.Sorted(maps.Keys(list)), " ")
	}
	if _, err := get("a"); !errors.Is(err, ErrNoContent) || there() != "" {
		t.Errorf("nothing was stored: %v, %s", err, there())
	}
	if err := errors.Join(put("a", 600<<10), put("a", 600<<10)); err != nil || wrote != 1 {
		t.Errorf("%v, written %d times", err, wrote)
	}
	if err := put("b", 600<<10); !errors.Is(err, ErrNoRoom) {
		t.Errorf("too much: %v", err)
	}
	if err := put("c", 100<<10); err != nil || there() != "a c" { // what did not fit has left nothing
		t.Errorf("%v, %s", err, there())
	}
	own := errors.New("own")
	if err := s.PutContent(t.Context(), "d", func(io.Writer) error { return own }); !errors.Is(err, own) || there() != "a c" {
		t.Errorf("%v, %s", err, there())
	}
	if err := s.DropContent(t.Context(), "a", time.Minute); err != nil || there() != "a c" {
		t.Errorf("a new content: %v, %s", err, there())
	}
	if err := errors.Join(s.DropContent(t.Context(), "a", 0), s.DropContent(t.Context(), "a", 0), s.DropContent(t.Context(), "none", 0), put("b", 600<<10)); err != nil {
		t.Error(err)
	}
	for digest, size := range map[string]int{"b": 600 << 10, "c": 100 << 10} {
		if got, err := get(digest); err != nil || got != strings.Repeat(digest, size) {
			t.Errorf("%s: %d bytes, %v", digest, len(got), err)
		}
	}

	// Of two processes that store the same content one has stored it, and the other leaves nothing.
	err = s.PutContent(t.Context(), "e", func(w io.Writer) error {
		_, err := io.WriteString(w, "second")
		return errors.Join(put("e", 10), err)
	})
	if got, failed := get("e"); err != nil || failed != nil || got != strings.Repeat("e", 10) {
		t.Errorf("%v, %q, %v", err, got, failed)
	}
	info, err := s.bucket.Info(t.Context(), jetstream.WithSubjectFilter("content.e.>"))
	if err != nil || len(info.State.Subjects) != 2 {
		t.Errorf("%v, %v", info.State.Subjects, err)
	}
}
