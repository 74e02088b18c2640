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
	"regexp/syntax"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/tool"
)

// Matches is the result of grep.
type Matches struct {
	Text  string `json:"text"`  // lines of "file:number:line"
	Lines int    `json:"lines"` // number of lines
	Files int    `json:"files"` // number of files with such lines
}

// Brief says for people what was found.
func (m Matches) Brief() string { return plural(m.Lines, "line") }

// Limits of a search. Matching takes time in proportion to the size of the pattern times the length of the text, so
// a large pattern searches less text.
const (
	maxExpression = 1000     // bytes of a pattern
	maxSteps      = 2000     // instructions of a pattern, see steps
	maxLine       = 300      // bytes of a line that are shown
	maxSearched   = 64 << 10 // bytes of a line that are searched
	maxLineWork   = 16 << 20 // instructions times bytes of one line, which cannot be interrupted
	maxWork       = 1 << 32  // instructions times bytes of all files
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
	all  []*branch
	re   *regexp.Regexp
	size int // steps of re
	glob string
	keep *secrecy

	text                         strings.Builder
	out                          Matches
	work                         int64
	kept, tooBig, binary, unread int // files that were not searched
	full                         bool
}

func (h *host) grep(ctx context.Context, a *grepArguments) (tool.Result, string, error) {
	s, err := h.newSearch(ctx, a)
	if err != nil {
		return tool.Result{}, a.Path, err
	}
	defer closeAll(s.all)
	partial, err := walkAll(ctx, s.all, func(b *branch, rel string, d fs.DirEntry) error { return s.visit(ctx, b, rel, d) })
	if err != nil {
		return tool.Result{}, a.Path, err
	}
	s.out.Text = s.text.String()
	return tool.Success(s.out, s.message(partial)), "", nil
}

func (h *host) newSearch(ctx context.Context, a *grepArguments) (*search, error) {
	re, size, err := compile(a.Pattern)
	if err != nil {
		return nil, err
	}
	if a.Glob != "" {
		if err := checkPattern(a.Glob); err != nil {
			return nil, err
		}
		if !strings.Contains(a.Glob, "/") {
			a.Glob = "**/" + a.Glob
		}
	}
	mounts := h.o.Mounts(ctx)
	all, err := h.branches(a.Path, mounts)
	if err != nil {
		return nil, err
	}
	return &search{h: h, all: all, re: re, size: size, glob: a.Glob, keep: h.newSecrecy(mounts)}, nil
}

// compile returns the expression of a pattern and its size in steps. The size is checked before the pattern is
// compiled, because a short pattern with nested repetitions can compile to a million instructions.
func compile(pattern string) (*regexp.Regexp, int, error) {
	if pattern == "" || len(pattern) > maxExpression {
		return nil, 0, unusable("pattern is required and must have at most %d bytes", maxExpression)
	}
	tree, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil, 0, unusable("pattern is not a valid regular expression: %v", err)
	}
	size := steps(tree)
	if size > maxSteps {
		return nil, 0, unusable("pattern repeats too much: it has %d steps, the limit is %d", size, maxSteps)
	}
	re, err := regexp.Compile(pattern)
	if err != nil {
		return nil, 0, unusable("pattern is not a valid regular expression: %v", err)
	}
	return re, size, nil
}

// steps returns about how many instructions an expression compiles to.
func steps(re *syntax.Regexp) int {
	n := max(1, len(re.Sub))
	if re.Op == syntax.OpLiteral {
		n = len(re.Rune)
	}
	for _, sub := range re.Sub {
		n += steps(sub)
	}
	if re.Op == syntax.OpRepeat {
		n *= max(re.Min+1, re.Max)
	}
	return n
}

// visit searches one file. A file that cannot be searched is counted.
func (s *search) visit(ctx context.Context, b *branch, rel string, d fs.DirEntry) error {
	if s.full {
		return fs.SkipAll
	}
	if !d.Type().IsRegular() || s.glob != "" && !glob.Match(s.glob, b.below(rel)) {
		return nil
	}
	at := *b.place
	at.rel, at.shown = rel, b.shownAs(rel)
	if hit := s.script(ctx, &at, d); hit != nil {
		s.kept++
		if rel == b.rel {
			return s.h.refuseScript(ctx, hit)
		}
		return nil // a search meets many scripts without asking for them
	}
	f, err := s.h.openAt(ctx, &at, s.keep)
	if err != nil {
		s.unread++
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() > MaxFile {
		s.tooBig++
		return nil
	}
	if _, d := s.h.decideRead(ctx, &at, info, s.keep); d.Verdict != permit.Allowed { // a search asks nothing
		s.unread++
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
	return s.lines(ctx, r, at.shown)
}

// script returns the script at this place, or nil.
func (s *search) script(ctx context.Context, at *place, d fs.DirEntry) *scriptFile {
	info, err := d.Info()
	if err != nil || s.h.o.ReadScripts {
		return nil // opening it reports the error
	}
	return s.keep.script(ctx, at, info)
}

// lines searches the lines of one file. It returns an error only if ctx is done.
func (s *search) lines(ctx context.Context, r *bufio.Reader, shown string) error {
	before, limit := s.out.Lines, min(maxSearched, maxLineWork/s.size)
	for n := 1; !s.full; n++ {
		line, _, err := readLine(ctx, r, limit)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			break
		}
		if s.work += int64(s.size) * int64(len(line)); s.work > maxWork {
			s.full = true
		}
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
	return nil
}

// shorten cuts a line at a character boundary.
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
		out += fmt.Sprintf("; only %d files and folders were visited", maxVisited)
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
