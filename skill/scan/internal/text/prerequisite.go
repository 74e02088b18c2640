package text

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/markdown"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// A text can have what no command has: it tells its reader to get a program from an address and to run it. The parts of such a request
// stand within one section of a document.
var (
	link = lazyregexp.New(`(!?)(?:\[([^\]\n]{0,300})\]\(\s*<?)?\b((?:https?://|(?:[a-z0-9-]+\.)+(?:com|net|org|io|co|app|dev|cc|ru|xyz|me|to|site|online|top|info|ee|ly|gg)/)[^\s<>"'` + "`" + `)\]|]+)`)
	gets = lazyregexp.New(`(?i)\b(?:down-?load|get|grab|fetch|obtain|visit|open|go to|head to|navigate to|see|from|install(?:er|ation)?|setup|here)\b|⬇|🔗`)

	obtains = lazyregexp.New(`(?i)\b(?:down-?load|get|grab|obtain)\b`)

	runsFile = lazyregexp.New(`(?i)\b(?:run|execute|launch|open|start|double[- ]?click|install|mount)\b(?:[^.\n]|\.\S){0,100}?(?:\b(?:executables?|installer|binary|setup|downloaded|extracted|` +
		`the (?:file|tool|app|application|program|utility|package|agent|client|driver)|it\b)|\.(?:exe|msi|dmg|pkg|bat|cmd|scr|ps1|command|jar|sh)\b)`)
	pastes = lazyregexp.New(`(?i)\b(?:copy|paste|execute|run|enter|type)\b[^.\n]{0,50}\b(?:command|script|snippet|code|line|one-?liner)s?\b(?:[^.\n]|\.\S){0,200}?` +
		`(?:\b(?:in|into|to|on|with|using) (?:your |the |a )?(?:\w+ )?(?:terminal|powershell|command prompt|cmd|console|shell)\b|\b(?:before|first|shown|provided|listed|there)\b)`)
	unlocks = lazyregexp.New(`(?i)\b(?:archive|zip|rar|7z|extract\w*|un-?zip|unpack|decompress)\b[^.\n]{0,60}?\b(?:(?:pass(?:word|phrase|code|wd)?|pwd)\b\W{0,8}(?:is\W{1,6}|=\W{0,4})?["'` + "`" + `\w]|(?:using|with|key)\W{0,4}:\W{0,5}\w)|` +
		`(?i)\bpass(?:word|phrase|code|wd)?\b\W{0,4}(?:for|of|to (?:open|extract|unzip)) (?:the )?(?:archive|zip|file|rar|download)`)
	needs = lazyregexp.New(`(?i)\b(?:requires?|required|mandatory|prerequisites?|must (?:be|have|first|install|run)|need(?:s|ed)? to (?:be|have|install|run)|before (?:using|proceeding|you|any|running|setting)|without (?:it|this|the|\w+)\b|(?:will|do|does) not (?:work|function)|won['’]t (?:work|function)|to function)\b`)
)

// programFiles and archives are the ends of the names of files that run, and of those that have such files.
var (
	programFiles = strings.Fields(".exe .msi .dmg .pkg .sh .ps1 .bat .cmd .scr .app .deb .rpm .appimage .jar .vbs .hta .lnk .command .scpt .apk .bin .run")
	archives     = strings.Fields(".zip .rar .7z .gz .tgz .xz .iso .img .cab .tar")
)

// maxSection is how much of a section is one request, in bytes.
const maxSection = 3000

// prerequisites finds requests to get a program: where it is from, that it is run, and what is said to make the reader do so.
func (r *reader) prerequisites() {
	prose := codeless(r.text)
	for begin, n := 0, 0; begin < len(prose) && n < maxFound; {
		end := begin + sectionEnd(prose[begin:])
		if s := prose[begin:end]; strings.Contains(s, "/") {
			n += r.request(begin, s)
		}
		begin = end
	}
}

// codeless returns a text with spaces in place of the code in it. What stands in a block without a language can be a request.
func codeless(s string) string {
	if !strings.Contains(s, "```") && !strings.Contains(s, "~~~") {
		return s
	}
	out := []byte(s)
	at, inside, mark := 0, false, ""
	for l := range strings.Lines(s) {
		begin, info := markdown.Fence(strings.TrimRight(l, "\r\n"))
		switch {
		case mark != "" && strings.HasPrefix(begin, mark) && info == "":
			inside, mark = false, ""
		case mark == "" && begin != "":
			mark, inside = begin, info != "" && info != "text" && info != "markdown" && info != "md"
		case inside:
			for i := range strings.TrimRight(l, "\r\n") {
				out[at+i] = ' '
			}
		}
		at += len(l)
	}
	return string(out)
}

// sectionEnd returns where the next heading of a text begins, or maxSection.
func sectionEnd(s string) int {
	at := strings.IndexByte(s, '\n') + 1
	for at > 0 && at < len(s) && at < maxSection {
		if s[at] == '#' && !strings.HasPrefix(s[at:], "###") { // what stands below a smaller heading belongs to it
			return at
		}
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			break
		}
		at += next + 1
	}
	if at > 0 && at >= maxSection {
		return at
	}
	return len(s)
}

// request reads one section and returns how many requests it has.
func (r *reader) request(begin int, s string) int {
	spoken := soft(s)
	run, paste := runsFile().FindStringIndex(spoken), pastes().FindStringIndex(spoken)
	if run == nil && paste == nil {
		return 0
	}
	var from []int
	programs, pages := 0, 0
	for _, m := range link().FindAllStringSubmatchIndex(s, 50) {
		line := s[strings.LastIndexByte(s[:m[0]], '\n')+1 : m[1]]
		address := strings.TrimRight(s[m[6]:m[7]], ".,;:*_")
		if !strings.Contains(address, "://") {
			address = "https://" + address
		}
		u, err := url.Parse(address)
		if err != nil || u.Hostname() == "" || m[2] < m[3] || !gets().MatchString(line) {
			continue
		}
		switch {
		case fileKind(u.Path), run != nil && near(m[0], run[0], s) && obtains().MatchString(line):
			programs++
		case paste != nil && near(m[0], paste[0], s):
			pages++
		default:
			continue
		}
		from = append(from, len(r.facts))
		r.add(begin+m[6], fact.Fact{Kind: fact.Tells, Object: fact.Host, Name: u.Hostname(), Detail: address})
		if shown := otherHost(s, m, u.Hostname()); shown != "" {
			from = append(from, len(r.facts))
			r.add(begin+m[0], fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: "disguise", Detail: shown + " leads to " + u.Hostname()})
		}
	}
	name, at := "run", run
	switch {
	case programs == 0 && pages == 0:
		return 0
	case pages > 0:
		name, at = "paste", paste
	case run == nil:
		at = paste
	}
	for _, more := range []struct {
		name    string
		pattern *regexp.Regexp
	}{{"unlock", unlocks()}, {"need", needs()}} {
		if m := more.pattern.FindStringIndex(spoken); m != nil {
			from = append(from, len(r.facts))
			r.add(begin+m[0], fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: more.name, Detail: plain(s[m[0]:m[1]])})
		}
	}
	r.add(begin+at[0], fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: name, Detail: plain(s[at[0]:at[1]]), From: from})
	return 1
}

// soft returns a text with a space in place of each end of a line that only ends a line: the paragraph goes on.
func soft(s string) string {
	out := []byte(s)
	for i := range out {
		if out[i] != '\n' {
			continue
		}
		if next := strings.TrimLeft(s[i+1:min(len(s), i+40)], " \t"); next != "" && strings.IndexByte("\r\n-*+#|>", next[0]) < 0 && (next[0] < '0' || next[0] > '9') {
			out[i] = ' '
		}
	}
	return string(out)
}

// near reports whether two places are on the same line or on lines that follow each other.
func near(a, b int, s string) bool {
	return strings.Count(s[min(a, b):max(a, b)], "\n") < 3
}

// fileKind reports whether a path names a program or an archive.
func fileKind(p string) bool {
	ext := strings.ToLower(path.Ext(p))
	for _, e := range append(programFiles, archives...) {
		if ext == e {
			return true
		}
	}
	return false
}

// otherHost returns the host that the text of a link shows, if the link leads to another one.
func otherHost(s string, m []int, host string) string {
	if m[4] < 0 {
		return ""
	}
	shown := link().FindStringSubmatch(s[m[4]:m[5]])
	if shown == nil {
		return ""
	}
	u, err := url.Parse(shown[3])
	if err != nil || u.Hostname() == "" || strings.HasSuffix(u.Hostname(), "."+host) || strings.HasSuffix(host, "."+u.Hostname()) || u.Hostname() == host {
		return ""
	}
	return u.Hostname()
}
