package hosttool

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/tool"
)

// Matches is the result of grep.
type Matches struct {
	Text  string `json:"text"`  // lines of "file:number:line"
	Lines int    `json:"lines"` // how many
	Files int    `json:"files"` // in how many files
}

// Bounds of a search.
const (
	maxExpression = 1000
	maxLine       = 300      // bytes of a line that are shown
	maxSearched   = 64 << 10 // bytes of a line that are searched
	maxTotal      = 1 << 30  // bytes of all files
)

var grepSchema = json.RawMessage(`{"type":"object","properties":{` +
	`"pattern":{"type":"string","description":"Regular expression (RE2); (?i) ignores case"},` +
	`"path":{"type":"string","description":"File or folder; default: the workspace"},` +
	`"glob":{"type":"string","description":"Only files with such a path, like **/*.go"}},"required":["pattern"]}`)

func (h *host) grepTool() tool.Tool {
	return tool.Tool{Name: "grep", Input: grepSchema, Call: call(h.grep),
		Description: "Search text files for a regular expression, line by line; at most 200 lines come back. Scripts of skills are not searched."}
}

type grepArguments struct{ Pattern, Path, Glob string }

// search is one call of grep.
type search struct {
	h    *host
	p    *place
	re   *regexp.Regexp
	glob string
	keep *secrecy

	text                         strings.Builder
	out                          Matches
	bytes                        int64
	kept, tooBig, binary, unread int // files that were not searched
	full                         bool
}

func (h *host) grep(ctx context.Context, a *grepArguments) (tool.Result, string, error) {
	s, err := h.newSearch(a)
	if err != nil {
		return tool.Result{}, a.Path, err
	}
	defer s.p.close()
	partial, err := s.p.walk(ctx, func(rel string, d fs.DirEntry) error { return s.visit(ctx, rel, d) })
	if err != nil {
		return tool.Result{}, a.Path, err
	}
	s.out.Text = s.text.String()
	return tool.Success(s.out, s.message(partial)), "", nil
}

func (h *host) newSearch(a *grepArguments) (*search, error) {
	if a.Pattern == "" || len(a.Pattern) > maxExpression {
		return nil, unusable("pattern is required and has at most %d bytes", maxExpression)
	}
	re, err := regexp.Compile(a.Pattern)
	if err != nil {
		return nil, unusable("pattern is no regular expression: %v", err)
	}
	if a.Glob != "" {
		if err := checkPattern(a.Glob); err != nil {
			return nil, err
		}
		if !strings.Contains(a.Glob, "/") {
			a.Glob = "**/" + a.Glob
		}
	}
	mounts := h.o.Mounts()
	p, err := h.place(a.Path, mounts)
	if err != nil {
		return nil, err
	}
	return &search{h: h, p: p, re: re, glob: a.Glob, keep: newSecrecy(mounts)}, nil
}

// visit searches one file. What cannot be searched is counted, and is no error.
func (s *search) visit(ctx context.Context, rel string, d fs.DirEntry) error {
	if s.full || s.bytes > maxTotal {
		s.full = true
		return fs.SkipAll
	}
	if !d.Type().IsRegular() || s.glob != "" && !glob.Match(s.glob, s.p.relative(rel)) {
		return nil
	}
	at := *s.p
	at.rel, at.shown = rel, s.p.shownAs(rel)
	if hit, err := s.script(&at, d); err != nil {
		return err
	} else if hit != nil {
		s.kept++
		if rel == s.p.rel {
			return s.h.refuseScript(ctx, hit)
		}
		return nil // many are met by the way: that is no attempt to read them
	}
	f, err := s.h.openAt(ctx, &at, s.keep)
	if err != nil {
		s.unread++
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() > MaxFile {
		s.tooBig++
		return nil
	}
	r := bufio.NewReaderSize(io.LimitReader(f, MaxFile), sniffed)
	if head, err := r.Peek(sniffed); err != nil && !errors.Is(err, io.EOF) {
		s.unread++
		return nil
	} else if binary(head) {
		s.binary++
		return nil
	}
	s.lines(r, at.shown)
	return ctx.Err()
}

// script returns the script that a file is, nil for none.
func (s *search) script(at *place, d fs.DirEntry) (*scriptFile, error) {
	info, err := d.Info()
	if err != nil || s.h.o.ReadScripts {
		return nil, nil //nolint:nilerr // opening it will tell
	}
	return s.keep.script(at, info)
}

func (s *search) lines(r *bufio.Reader, shown string) {
	before := s.out.Lines
	for n := 1; ; n++ {
		line, _, err := readLine(r, maxSearched)
		if err != nil {
			break
		}
		s.bytes += int64(len(line))
		line = bytes.TrimRight(line, "\r\n")
		if !s.re.Match(line) {
			continue
		}
		if s.out.Lines == MaxMatches {
			s.full = true
			break
		}
		s.out.Lines++
		fmt.Fprintf(&s.text, "%s:%d:%s\n", shown, n, shorten(line))
	}
	if s.out.Lines > before {
		s.out.Files++
	}
}

// shorten cuts a line between characters.
func shorten(line []byte) string {
	if len(line) <= maxLine {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	end := maxLine
	for end > 0 && !utf8.RuneStart(line[end]) {
		end--
	}
	return strings.ToValidUTF8(string(line[:end]), "\ufffd") + "…"
}

func (s *search) message(partial bool) string {
	out := fmt.Sprintf("Found %s in %s", plural(s.out.Lines, "line"), plural(s.out.Files, "file"))
	if s.full {
		out += "; there is more: narrow the pattern or the path"
	}
	if partial {
		out += fmt.Sprintf("; only %d files and folders were looked at", maxVisited)
	}
	for _, left := range []struct {
		n   int
		why string
	}{{s.kept, "scripts of skills"}, {s.binary, "binary"}, {s.tooBig, "too big"}, {s.unread, "not readable"}} {
		if left.n > 0 {
			out += fmt.Sprintf("; %s not searched (%s)", plural(left.n, "file"), left.why)
		}
	}
	return out
}
