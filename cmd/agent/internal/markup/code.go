package markup

import (
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/internal/markdown"
)

// fence is a block of code.
type fence struct {
	mark  string // what it began with
	lang  string
	text  []byte // so far, as it came
	start int    // of its last line
	fresh bool   // a line begins
	full  bool   // it is longer than what is kept

	wait  string // what is not decided yet
	quote string // what ends the text or the comment that is open; "\n" for the end of the line
}

// newFence returns the block that a line begins, nil for another line.
func newFence(line string) *fence {
	mark, info := markdown.Fence(line)
	if mark == "" || !strings.HasPrefix(line, mark) { // after the mark of a list it is text
		return nil
	}
	lang, _, _ := strings.Cut(info, " ")
	return &fence{mark: mark, lang: strings.ToLower(lang), fresh: true}
}

// label is the row above the block: its language, and how it is copied.
func (f *fence) label(n int) string {
	about := "/copy " + strconv.Itoa(n)
	if f.lang != "" {
		about = f.lang + ", " + about
	}
	return about
}

// ends reports whether a line ends the block.
func (f *fence) ends(line string) bool {
	return strings.HasPrefix(line, f.mark) && strings.Trim(line, f.mark[:1]) == ""
}

// collect keeps a part of a line. The line that ends the block is taken off again by its end.
func (f *fence) collect(raw string, ended bool) {
	if f.fresh {
		f.start = len(f.text)
	}
	if f.fresh = ended; f.full || len(f.text)+len(raw) > maxBlock {
		f.full = true
		return
	}
	f.text = append(f.text, raw...)
	if ended {
		f.text = append(f.text, '\n')
	}
}

// The colours of code.
const (
	ofText    = "32"
	ofComment = "2"
	ofNumber  = "33"
	ofKeyword = "1"
)

// maxToken is how long a word of code is at most; what is longer is cut.
const maxToken = 64

// read takes a piece of a line of code, and returns what is decided.
func (f *fence) read(piece string, last, coloured bool) (out []cell) {
	if !coloured {
		return cells(nil, piece, "")
	}
	f.wait += piece
	for f.wait != "" {
		size, sgr, decided := f.token(f.wait, last)
		if !decided {
			return out
		}
		out = cells(out, f.wait[:size], sgr)
		f.wait = f.wait[size:]
	}
	if last && (f.quote == "\n" || len(f.quote) == 1 && f.quote != "`") {
		f.quote = "" // such a text ends with its line
	}
	return out
}

// token reads what s begins with.
func (f *fence) token(s string, last bool) (size int, sgr string, decided bool) {
	if f.quote != "" {
		return f.inside(s, last)
	}
	longest := 3 // bytes of what begins a text or a comment
	if len(s) < longest && !last && strings.IndexByte("\"'/", s[0]) >= 0 {
		return 0, "", false
	}
	for _, begin := range []struct{ mark, end, sgr string }{{`"""`, `"""`, ofText}, {`'''`, `'''`, ofText}, {`/*`, `*/`, ofComment}, {`//`, "\n", ofComment},
		{`#`, "\n", ofComment}, {`"`, `"`, ofText}, {`'`, `'`, ofText}, {"`", "`", ofText}} {
		if strings.HasPrefix(s, begin.mark) && f.has(begin.mark) {
			f.quote = begin.end
			return len(begin.mark), begin.sgr, true
		}
	}
	n := len(s) - len(strings.TrimLeftFunc(s, ofWord))
	switch {
	case n == 0 && s[0] < 0x80:
		return 1, "", true
	case n == 0:
		return len(s) - len(strings.TrimLeftFunc(s, func(r rune) bool { return r >= 0x80 && !ofWord(r) })), "", true
	case n == len(s) && !last && n < maxToken:
		return 0, "", false
	}
	switch word := s[:n]; {
	case n > maxToken:
		return len(string([]rune(s[:maxToken]))), "", true
	case word[0] >= '0' && word[0] <= '9':
		sgr = ofNumber
	case strings.Contains(keywords, " "+word+" "):
		sgr = ofKeyword
	}
	return n, sgr, true
}

// inside reads a text or a comment that is open.
func (f *fence) inside(s string, last bool) (size int, sgr string, decided bool) {
	sgr = ofText
	if f.quote == "\n" || f.quote == "*/" {
		sgr = ofComment
	}
	if f.quote == "\n" {
		return len(s), sgr, true
	}
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\\' && f.quote != "*/":
			if i+1 == len(s) && !last {
				return i, sgr, i > 0
			}
			i++
		case strings.HasPrefix(s[i:], f.quote):
			end := i + len(f.quote)
			f.quote = ""
			return end, sgr, true
		case !last && strings.HasPrefix(f.quote, s[i:]):
			return i, sgr, i > 0 // it may end here
		}
	}
	return len(s), sgr, true
}

// has reports whether a mark means something in the language of the block.
func (f *fence) has(mark string) bool {
	script := false
	switch f.lang {
	case "", "text", "txt", "console", "diff", "markdown", "md", "json5":
		return mark == `"`
	case "python", "py", "sh", "bash", "shell", "zsh", "yaml", "yml", "toml", "ruby", "rb", "perl", "make", "makefile", "dockerfile", "r":
		script = true
	}
	switch mark {
	case "#":
		return script
	case "/*", "//":
		return !script
	case `'`:
		return f.lang != "rust" && f.lang != "rs" // lifetimes
	case "`":
		return !script
	}
	return true
}

func ofWord(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}

// keywords are those of common languages, each between spaces: a word that is one in another language is rare enough.
const keywords = " as async await break case catch class const continue def default defer del do done elif else enum esac except export extends fi final" +
	" finally fn for from func function go if impl implements import in interface is lambda let loop map match mod mut namespace new not null nil None" +
	" package pass private protected pub public raise range return select self static struct super switch then this throw trait true false True False" +
	" try type union unsafe use using var void where while with yield "
