package kalshi

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// bounds are the limits of a number in a query, and its default.
type bounds struct{ low, high, absent int }

func integer(q url.Values, name string, b bounds) (int, error) {
	text := q.Get(name)
	if text == "" {
		return b.absent, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < b.low || n > b.high {
		return 0, fmt.Errorf("%s %q is not a number from %d to %d", name, text, b.low, b.high)
	}
	return n, nil
}

// span reads two times in Unix seconds. The default of each is far away.
func span(q url.Values, from, to string) (low, high time.Time, err error) {
	far := int(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC).Unix())
	first, err := integer(q, from, bounds{0, far, 0})
	if err != nil {
		return low, high, err
	}
	last, err := integer(q, to, bounds{0, far, far})
	return time.Unix(int64(first), 0), time.Unix(int64(last), 0), err
}

// page returns the part of the list that the query asks for, and the cursor of the next page. A cursor is opaque to
// clients: here it encodes the name of the list and the number of items before the page.
func (s *Server) page(name string, list []object, q url.Values, b bounds) (object, error) {
	limit, err := integer(q, "limit", b)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		limit = b.absent
	}
	if s.o.PageSize > 0 {
		limit = min(limit, s.o.PageSize)
	}
	start, err := place(name, q.Get("cursor"))
	if err != nil {
		return nil, err
	}
	start = min(start, len(list))
	end := min(start+limit, len(list))
	next := ""
	if end < len(list) {
		next = base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%s:%d", name, end))
	}
	return object{name: list[start:end], "cursor": next}, nil
}

func place(name, cursor string) (int, error) {
	if cursor == "" {
		return 0, nil
	}
	text, err := base64.RawURLEncoding.DecodeString(cursor)
	number, mine := strings.CutPrefix(string(text), name+":")
	n, numErr := strconv.Atoi(number)
	if err != nil || !mine || numErr != nil || n < 0 {
		return 0, fmt.Errorf("unknown cursor %q", cursor)
	}
	return n, nil
}
