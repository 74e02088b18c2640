package hosttool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/tool"
)

// Edited is the result of edit_file.
type Edited struct {
	FilePath     string `json:"file_path"`
	Line         int    `json:"line"` // the line of the first replacement, from 1
	Replacements int    `json:"replacements"`

	Diff   []string `json:"-"` // how the file changed, for people; nil if the user was asked and saw it. See MaxDiff
	Change Change   `json:"-"` // the same, whole, whether the user was asked or not
}

var editSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"file_path":{"type":"string","description":"Path below the workspace"},` +
	`"old_string":{"type":"string","description":"Text to replace, exactly as in the file"},` +
	`"new_string":{"type":"string","description":"Text to put in its place"},` +
	`"replace_all":{"type":"boolean","description":"Replace every occurrence; otherwise there must be exactly one"}},` +
	`"required":["file_path","old_string","new_string"]}`)

func (h *host) editTool() tool.Tool {
	return tool.Tool{Name: "edit_file", Input: editSchema, Call: call(h.edit),
		Description: "Replace text in a file of the workspace. old_string must occur exactly once, unless replace_all is true. " +
			"The user may be asked first."}
}

type editArguments struct {
	FilePath   string  `json:"file_path"`
	Old        string  `json:"old_string"`
	New        *string `json:"new_string"`
	ReplaceAll bool    `json:"replace_all"`
}

func (h *host) edit(ctx context.Context, a *editArguments) (tool.Result, string, error) {
	if a.Old == "" || a.New == nil || a.Old == *a.New {
		return tool.Result{}, a.FilePath, unusable("old_string and new_string are required, old_string must not be empty, and they must differ; write_file makes a new file")
	}
	p, err := h.writable(ctx, a.FilePath)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	defer p.close()
	c, err := h.begin(ctx, p, "edit_file")
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	if c.before, err = h.whole(ctx, p); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	after, edited, err := substitute(c.before.content, a, p.shown)
	if err != nil {
		return tool.Result{}, a.FilePath, err
	}
	c.after = after
	if err := h.change(ctx, c); err != nil {
		return tool.Result{}, a.FilePath, err
	}
	edited.Diff, edited.Change = c.diff(), c.whole()
	return tool.Success(edited, fmt.Sprintf("Replaced %s in '%s', the first at line %d", plural(edited.Replacements, "occurrence"), p.shown, edited.Line)), "", nil
}

// whole returns a text file that is to be changed.
func (h *host) whole(ctx context.Context, p *place) (content, error) {
	f, err := h.openAt(ctx, p, h.newSecrecy(h.o.Mounts(ctx)))
	if err != nil {
		return content{}, err
	}
	defer f.Close()
	c, err := read(f, p.shown)
	if err == nil && bytes.IndexByte(c.content, 0) >= 0 {
		err = failed("binary", "'%s' is binary (%s, %d bytes) and is not edited as text", p.shown, kind(c.content), len(c.content))
	}
	return c, err
}

func substitute(data []byte, a *editArguments, shown string) ([]byte, Edited, error) {
	from, to := a.Old, *a.New
	if windowsText(data) {
		from, to = windowsLines(from), windowsLines(to)
	}
	n := bytes.Count(data, []byte(from))
	switch {
	case n == 0:
		return nil, Edited{}, failed("no_match", "old_string is not in '%s': read the file and copy the text exactly, including spaces", shown)
	case n > 1 && !a.ReplaceAll:
		return nil, Edited{}, failed("not_unique", "old_string occurs %d times in '%s', at lines %s: add lines around it until it is unique, or set replace_all",
			n, shown, occurrences(data, []byte(from)))
	}
	if size := len(data) + n*(len(to)-len(from)); size > MaxFile {
		return nil, Edited{}, &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("'%s' would have %d bytes, at most %d are written", shown, size, MaxFile)}
	}
	line := lineAt(data, bytes.Index(data, []byte(from)))
	return bytes.ReplaceAll(data, []byte(from), []byte(to)), Edited{FilePath: shown, Line: line, Replacements: n}, nil
}

// windowsText reports whether every line ends in CRLF.
func windowsText(data []byte) bool {
	n := bytes.Count(data, []byte("\n"))
	return n > 0 && n == bytes.Count(data, []byte("\r\n"))
}

func windowsLines(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\n", "\r\n")
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte("\n")) }

// maxLines is how many lines of occurrences a message names.
const maxLines = 5

func occurrences(data, from []byte) string {
	var lines []string
	for at := 0; ; {
		i := bytes.Index(data[at:], from)
		if i < 0 {
			break
		}
		if len(lines) == maxLines {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, fmt.Sprint(lineAt(data, at+i)))
		at += i + len(from)
	}
	return strings.Join(lines, ", ")
}
