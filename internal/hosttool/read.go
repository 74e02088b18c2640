package hosttool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/tool"
)

// Page is the result of read_file.
type Page struct {
	FilePath   string `json:"file_path"`
	Content    string `json:"content"`
	Offset     int    `json:"offset"`                // number of the first line, from 1
	Lines      int    `json:"lines"`                 // number of lines in content
	NextOffset int    `json:"next_offset,omitempty"` // offset of the next call; absent at the end
}

// Brief says for people how much was read.
func (p Page) Brief() string { return plural(p.Lines, "line") }

// maxScan is how many bytes before a page are skipped at most.
const maxScan = 256 << 20

var readSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"file_path":{"type":"string","description":"Path below the workspace, or skills/NAME/FILE"},` +
	`"offset":{"type":"integer","description":"First line, from 1"},` +
	`"limit":{"type":"integer","description":"Number of lines; at most 2000"}},"required":["file_path"]}`)

func (h *host) readTool() tool.Tool {
	return tool.Tool{Name: "read_file", Input: readSchema, Call: call(h.read),
		Description: "Read a text file, an image or a PDF of the workspace or of a skill, of a text at most 2000 lines at a time. Scripts of skills are run, not read."}
}

type readArguments struct {
	FilePath string `json:"file_path"`
	Offset   int
	Limit    int
}

func (h *host) read(ctx context.Context, a *readArguments) (tool.Result, string, error) {
	if a.Offset < 0 || a.Limit < 0 {
		return tool.Result{}, a.FilePath, unusable("offset and limit must not be negative")
	}
	f, p, err := h.open(ctx, a.FilePath)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, sniffed)
	head, err := r.Peek(sniffed)
	if err != nil && err != io.EOF {
		return tool.Result{}, a.FilePath, err
	}
	if kind := media.Type(head); kind == media.PDF || kind != "" && binary(head) {
		result, err := show(r, p.shown)
		return result, a.FilePath, err
	}
	if err := refuseBinary(r, f, p.shown); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	offset, limit := max(a.Offset, 1), a.Limit
	if limit == 0 || limit > PageLines {
		limit = PageLines
	}
	if err := skip(ctx, r, offset-1); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	page, notes, err := readPage(ctx, r, limit)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	page.FilePath, page.Offset = p.shown, offset
	if page.NextOffset > 0 {
		page.NextOffset = offset + page.Lines
		notes = append(notes, fmt.Sprintf("the file continues at offset %d", page.NextOffset))
	}
	message := fmt.Sprintf("Read %s of '%s'", plural(page.Lines, "line"), p.shown)
	return tool.Success(page, strings.Join(append([]string{message}, notes...), "; ")), "", nil
}

// Shown is the result of read_file for an image or a PDF document, which the model gets as such.
type Shown struct {
	FilePath string `json:"file_path"`
	Type     string `json:"media_type"`
}

// show reads an image or a document.
func show(r io.Reader, name string) (tool.Result, error) {
	data, err := media.Read(r)
	if err != nil && data == nil {
		return tool.Result{}, err
	}
	if err != nil {
		return tool.Result{}, failed("binary", "'%s' (%s) is not shown: %v", name, media.Describe(data), err)
	}
	shown := Shown{name, media.Type(data)}
	result := tool.Success(shown, fmt.Sprintf("Read '%s' (%s)", name, media.Describe(data)))
	result.Media = []tool.Media{{Type: shown.Type, Name: name, Data: data}}
	return result, nil
}

// readPage reads lines up to one of the limits. NextOffset is 1 if the file continues.
func readPage(ctx context.Context, r *bufio.Reader, limit int) (page Page, notes []string, err error) {
	var text strings.Builder
	for page.Lines < limit {
		line, cut, err := readLine(ctx, r, PageBytes)
		if err == io.EOF {
			break
		}
		if err != nil {
			return page, nil, err
		}
		if page.Lines > 0 && text.Len()+len(line) > PageBytes {
			// The next call reads this line again.
			page.NextOffset = 1
			break
		}
		if cut {
			notes = append(notes, fmt.Sprintf("a line is longer than %d bytes and was cut", PageBytes))
		}
		text.Write(line)
		page.Lines++
	}
	if _, err := r.Peek(1); err == nil {
		page.NextOffset = 1
	}
	page.Content = strings.ToValidUTF8(text.String(), "\ufffd")
	return page, notes, nil
}

// readLine returns the next line with its end, at most limit bytes of it. The error is io.EOF at the end of the file,
// or the error of ctx.
func readLine(ctx context.Context, r *bufio.Reader, limit int) (line []byte, cut bool, err error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		part, err := r.ReadSlice('\n')
		if room := limit - len(line); len(part) > room {
			part, cut = part[:room], true
		}
		line = append(line, part...)
		switch {
		case err == bufio.ErrBufferFull:
		case err == io.EOF && len(line) > 0, err == nil:
			if cut {
				line = append(bytes.TrimRight(line, "\n"), '\n')
			}
			return line, cut, nil
		default:
			return nil, false, err
		}
	}
}

// skip skips n lines.
func skip(ctx context.Context, r *bufio.Reader, n int) error {
	passed := 0
	for i := 0; i < n; {
		part, err := r.ReadSlice('\n')
		passed += len(part)
		switch {
		case err == nil:
			i++
		case err == io.EOF:
			return unusable("offset %d is beyond the last line", n+1)
		case err != bufio.ErrBufferFull:
			return err
		}
		if passed > maxScan {
			return unusable("offset %d is more than %d bytes into the file, too far for this tool", n+1, maxScan)
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if _, err := r.Peek(1); n > 0 && errors.Is(err, io.EOF) {
		return unusable("offset %d is beyond the last line", n+1)
	}
	return nil
}

// sniffed is how many bytes decide whether a file is text.
const sniffed = 8 << 10

func refuseBinary(r *bufio.Reader, f *os.File, shown string) error {
	head, err := r.Peek(sniffed)
	if err != nil && err != io.EOF {
		return err
	}
	if !binary(head) {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return failed("binary", "'%s' is binary (%s, %d bytes) and is not read as text", shown, kind(head), info.Size())
}

// binary reports whether the beginning of a file is not text. A character that is cut at the end counts as whole.
func binary(head []byte) bool {
	if bytes.IndexByte(head, 0) >= 0 {
		return true
	}
	for i := 1; i < utf8.UTFMax && i <= len(head) && len(head) >= sniffed; i++ {
		if tail := head[len(head)-i:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				head = head[:len(head)-i]
			}
			break
		}
	}
	return !utf8.Valid(head)
}

// kinds are the first bytes of well-known files.
var kinds = []struct{ magic, name string }{
	{"PK\x03\x04", "ZIP archive or office document"}, {"\x1f\x8b", "gzip archive"}, {"\x7fELF", "program"}, {"MZ", "program"},
	{"SQLite format 3", "SQLite database"}, {"\xff\xfe", "UTF-16 text"}, {"\xfe\xff", "UTF-16 text"},
}

func kind(head []byte) string {
	if name := media.Name(head); name != "" {
		return name
	}
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.magic)) {
			return k.name
		}
	}
	if bytes.IndexByte(head, 0) < 0 {
		return "text that is not UTF-8"
	}
	return "unknown type"
}

func plural(n int, word string) string {
	switch {
	case n == 1:
		return "1 " + word
	case strings.HasSuffix(word, "ch"):
		return fmt.Sprintf("%d %ses", n, word)
	}
	return fmt.Sprintf("%d %ss", n, word)
}
