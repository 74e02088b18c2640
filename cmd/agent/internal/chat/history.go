package chat

import (
	"bytes"
	"context"
	"encoding/json"
	"time"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// maxHistory is the largest size of the file in bytes. The oldest entries are dropped first.
const maxHistory = 4 << 20

// History keeps what was typed from one conversation to the next. It is safe for concurrent use.
type History interface {
	// Load returns the entries, oldest first.
	Load() ([]string, error)
	// Add adds the newest entry.
	Add(ctx context.Context, entry string) error
}

// HistoryFile is what was typed in one project, in a file with that of all projects: an object of JSON per line, the newest last, each text
// of a project once, at most 1,000 of all. A missing file is an empty history. The first entry creates it, readable by its owner only.
// Several conversations may share the file. A line that cannot be read is dropped.
type HistoryFile struct {
	Path    string
	Project string // absolute path
}

// entryLine is one line of the file. A line that is a string alone is of no project, and shown in all.
type entryLine struct {
	Text    string `json:"text"`
	Project string `json:"project"`
}

func (h *HistoryFile) file() *lockfile.File {
	return &lockfile.File{Path: h.Path, Wait: 2 * time.Second, Max: 2 * maxHistory}
}

// Load returns the entries of the project.
func (h *HistoryFile) Load() ([]string, error) {
	content, err := h.file().Read()
	var out []string
	for _, t := range decode(content) {
		if t.Project == "" || t.Project == h.Project {
			out = append(out, t.Text)
		}
	}
	return out, err
}

// Add adds an entry at the end of the file. It ignores one that is longer than 64 KiB.
func (h *HistoryFile) Add(ctx context.Context, entry string) error {
	if len(entry) > 64<<10 {
		return nil
	}
	return h.file().Edit(ctx, func(old []byte) ([]byte, error) {
		return encode(join(decode(old), entryLine{entry, h.Project}))
	})
}

func decode(content []byte) []entryLine {
	var entries []entryLine
	for line := range bytes.Lines(content) {
		var t entryLine
		if (json.Unmarshal(line, &t.Text) == nil || json.Unmarshal(line, &t) == nil) && t.Text != "" {
			entries = append(entries, t)
		}
	}
	return entries
}

// encode writes the entries. It leaves out the oldest ones where all of them are too large.
func encode(entries []entryLine) ([]byte, error) {
	var lines [][]byte
	size := 0
	for _, e := range entries {
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		lines = append(lines, append(line, '\n'))
		size += len(line) + 1
	}
	for len(lines) > 1 && size > maxHistory {
		size -= len(lines[0])
		lines = lines[1:]
	}
	return bytes.Join(lines, nil), nil
}
