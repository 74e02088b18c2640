package git

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// contents are the contents of files in one file, as git cat-file writes them: each follows a line with its id and size.
type contents struct {
	file   *os.File
	end    int64
	places map[string]place // by id
}

// place is where a content lies.
type place struct{ offset, size int64 }

func newContents(dir string) (*contents, error) {
	f, err := os.OpenFile(filepath.Join(dir, "contents"), os.O_RDWR|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	return &contents{file: f, places: map[string]place{}}, nil
}

// add makes git write contents of a repository to the end of the file. It is an error if one is not in the repository.
func (c *contents) add(ctx context.Context, client *Client, dir string, ids []string) error {
	stdin := []byte(strings.Join(ids, "\n") + "\n")
	_, _, err := client.run(ctx, &call{args: []string{"cat-file", "--batch", "--buffer"}, dir: dir, stdin: stdin, file: c.file})
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(io.NewSectionReader(c.file, c.end, math.MaxInt64-c.end), 4<<10)
	at := c.end
	for _, id := range ids {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return fmt.Errorf("reading what git has: %w", err)
		}
		size, err := parseObject(string(line[:len(line)-1]), id)
		if err != nil {
			return err
		}
		at += int64(len(line))
		c.places[id] = place{at, size}
		if at += size + 1; size < int64(r.Buffered()) {
			_, err = r.Discard(int(size) + 1)
		} else {
			r.Reset(io.NewSectionReader(c.file, at, math.MaxInt64-at))
		}
		if err != nil {
			return fmt.Errorf("reading what git has: %w", err)
		}
	}
	info, err := c.file.Stat()
	if err != nil {
		return err
	}
	if c.end = info.Size(); c.end != at {
		return fmt.Errorf("%w: git wrote %d bytes where %d were expected", ErrHostile, c.end, at)
	}
	return nil
}

// parseObject reads what git cat-file says before the content with an id: the id, "blob" and the size.
func parseObject(line, id string) (size int64, err error) {
	text, ok := strings.CutPrefix(line, id+" blob ")
	if !ok {
		return 0, fmt.Errorf("%w: git says %.100q where the content %s was expected", ErrHostile, line, id)
	}
	if size, err = strconv.ParseInt(text, 10, 64); err != nil || size < 0 {
		return 0, fmt.Errorf("%w: git says %.100q where the size of a file was expected", ErrHostile, line)
	}
	return size, nil
}
