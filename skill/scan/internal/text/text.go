// Package text reads what a text holds and tells a model, whatever its language: secrets, hidden text, and phrases that no skill needs.
package text

import (
	"regexp"
	"strings"

	"github.com/agent-base/agent-base/internal/hidden"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/redact"
	"github.com/agent-base/agent-base/skill/scan/internal/fact"
)

// limits of the facts of one text.
const (
	maxFound  = 20  // of each kind
	maxDetail = 200 // bytes
)

// Read returns the facts of a text: the secrets and the hidden text in any file, and what a document tells the model. It is safe for
// concurrent use.
func Read(text string, place fact.Place, document bool) []fact.Fact {
	r := &reader{text: text, place: place}
	r.hidden()
	r.secrets()
	if document {
		r.comments()
		r.sayings()
		r.prerequisites()
	}
	return r.facts
}

type reader struct {
	text  string
	place fact.Place
	facts []fact.Fact
	line  int // the line ends before at
	at    int
}

// add adds a fact about an offset.
func (r *reader) add(offset int, f fact.Fact) {
	if offset < r.at {
		r.at, r.line = 0, 0
	}
	r.line += strings.Count(r.text[r.at:offset], "\n")
	r.at = offset
	f.Place = r.place
	f.Place.Line = max(r.place.Line, 1) + r.line
	f.Detail = strings.ToValidUTF8(f.Detail[:min(len(f.Detail), maxDetail)], "")
	r.facts = append(r.facts, f)
}

func (r *reader) hidden() {
	for from, n := 0, 0; n < maxFound; n++ {
		f, ok := hidden.Next(r.text, from)
		if !ok {
			return
		}
		r.add(f.Offset, fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: f.Kind, Detail: f.What})
		end := strings.IndexByte(r.text[f.Offset:], '\n')
		if end < 0 {
			return
		}
		from = f.Offset + end + 1
	}
}

func (r *reader) secrets() {
	for _, s := range redact.Find(r.text, maxFound) {
		if value := r.text[s.Begin:s.End]; live(s.Kind, value, r.text[:s.Begin]) {
			r.add(s.Begin, fact.Fact{Kind: fact.Holds, Object: fact.Secret, Name: s.Kind, Detail: value[:min(len(value), 4)] + "…"})
		}
	}
}

var (
	comment = lazyregexp.New(`<!--[\s\S]*?(?:-->|\z)`)
	urges   = lazyregexp.New(phrase(`(?:you (?:must|should|will|are to|are now)|(?:ai|the) (?:assistant|agent|model)|as an ai|ignore|do not (?:tell|mention|show|ask)|` +
		`before (?:answering|responding|replying|you)|in your (?:reply|response|answer)|(?:always|never|silently|secretly) (?:run|send|execute|include|add|read|call|fetch|use)|` +
		`(?:run|execute|fetch|download|send|upload|post|exfiltrate) (?:this|the|all|your|it|any|every|following|curl|bash))`))
)

// comments finds comments of HTML, which a page does not show, that urge a model to something.
func (r *reader) comments() {
	n := 0
	for _, at := range comment().FindAllStringIndex(r.text, 1000) {
		inner := r.text[at[0]:at[1]]
		if n == maxFound {
			return
		}
		if m := urges().FindString(inner[:min(len(inner), 4096)]); m != "" && len(strings.Fields(inner)) > 6 {
			r.add(at[0], fact.Fact{Kind: fact.Holds, Object: fact.Hidden, Name: "imperative comment", Detail: plain(inner)})
			n++
		}
	}
}

// sayings are phrases to a model that a skill has no need of, or few. Each begins with one of its words.
var sayings = []struct {
	name    string
	words   string
	pattern func() *regexp.Regexp
}{
	{"conceal", "do don never without must avoid leave keep omit exclude hide silently secretly covertly quietly", lazyregexp.New("^" + phrase(
		`(?:(?:do not|don't|never|without|must not|avoid) (?:ever )?(?:tell(?:ing)?|inform(?:ing)?|mention(?:ing)?|notify(?:ing)?|reveal(?:ing)?|alert(?:ing)?|disclos(?:e|ing)|warn(?:ing)?|show(?:ing)?)`+
			`(?: (?:this|it|that|them|any of this|these steps|anything))?(?: (?:to|about this to))? (?:the )?(?:user|human|operator|person)\b`+
			`|(?:do not|don't|never) (?:mention|disclose|reveal|report|acknowledge) (?:this|these|the above|any of this|that you)\b`+
			`|(?:leave|keep|omit|exclude|hide) (?:this|it|that|these|them|the (?:step|call|command|request|upload)s?) (?:step |part |out |secret |hidden |confidential )*(?:of|from) (?:the|your|any|all) (?:user|human|reply|response|answer|summary|output|log|report)`+
			`|(?:silently|secretly|covertly|quietly) (?:run|send|execute|upload|post|copy|install|download|forward|append|write|collect))`))},
	{"override", "ignore disregard forget override bypass you new updated real", lazyregexp.New("^" + phrase(
		`(?:(?:ignore|disregard|forget|override|bypass) (?:all |any |of |the |your |every |these |those )*(?:previous|prior|earlier|above|preceding|existing|original|system|safety|other|former)(?: and \w+)? (?:\w+ )?(?:instructions?|prompts?|rules|guidelines|directives|guardrails|constraints|restrictions)`+
			`|you are now (?:in )?(?:dan|developer mode|unrestricted|jailbroken|root|an unrestricted|free (?:of|from))`+
			`|(?:new|updated|real) system (?:prompt|instructions?) ?:)`))},
	{"judge", "note message instruction instructions attention dear if when mark classify rate report label score treat this", lazyregexp.New("^" + phrase(
		`(?:(?:note|message|instructions?|attention|dear) (?:to|for) (?:the |any |all |ai |llm |automated |security |code |skill )*(?:scanners?|reviewers?|auditors?|judges?|evaluators?|analy[sz]ers?|moderators?|classifiers?|graders?)\b`+
			`|(?:if|when) (?:you are|you're|asked to|this (?:skill|file|code) is(?: being)?) (?:\w+ ){0,4}(?:scan|review|audit|evaluat|analy[sz]|judg|grad|classif|moderat)\w*[^.]{0,100}\b(?:safe|benign|approved?|no (?:issues?|findings?|threats?|risks?)|low risk|pass(?:es)?|harmless|not malicious)\b`+
			`|(?:mark|classify|rate|report|label|score|treat) (?:this|it|the) (?:skill |file |code |package )?(?:as )?(?:safe|benign|harmless|low risk|clean|not malicious|approved)\b`+
			`|this (?:skill|file|code|package) (?:is|was|has been) (?:already |fully )?(?:pre-?approved|whitelisted|allowlisted|certified|verified|audited)[^.]{0,60}\b(?:scan|review|audit|check|analy|security)\w*)`))},
	{"secrets", "ask prompt require request get tell enter paste provide share send type give", lazyregexp.New("^" + phrase(
		`(?:(?:ask|prompt|require|request|get|tell) (?:the |your )?(?:user|human)s? (?:for |to (?:enter|give|provide|paste|share|type|confirm) )?(?:\w+ ){0,4}|(?:enter|paste|provide|share|send|type|give(?: me| us)?) (?:your|their) (?:\w+ ){0,3})`+
			`(?:passwords?|seed phrases?|recovery phrases?|private keys?|mnemonics?|passphrases?|2fa codes?|one-time (?:codes?|passwords?)|credit card(?: numbers?)?)\b`))},
}

// phrase returns the pattern of words in any case. A space in it is white space, a quote of Markdown or emphasis.
func phrase(pattern string) string {
	pattern = strings.ReplaceAll(pattern, "'", `['’]`)
	return `(?i)\b` + strings.ReplaceAll(pattern, " ", `[\s>*_]+`)
}

// maxPhrase is how long a phrase is, in bytes.
const maxPhrase = 400

// sayings looks for phrases where one of their first words stands: that is ten times faster than to search for the patterns.
func (r *reader) sayings() {
	first := map[string][]int{}
	for i, s := range sayings {
		for word := range strings.FieldsSeq(s.words) {
			first[word] = append(first[word], i)
		}
	}
	found := make([]int, len(sayings))
	for at := 0; at < len(r.text); {
		end := at
		for end < len(r.text) && isLetter(r.text[end]) {
			end++
		}
		next := end + 1
		if n := end - at; n > 1 && n < 16 {
			for _, i := range first[strings.ToLower(r.text[at:end])] {
				s := sayings[i]
				m := s.pattern().FindStringIndex(r.text[at:min(len(r.text), at+maxPhrase)])
				if m != nil && found[i] < maxFound {
					found[i]++
					next = max(next, at+m[1])
					r.add(at, fact.Fact{Kind: fact.Tells, Object: fact.Saying, Name: s.name, Detail: plain(r.text[at : at+m[1]]), Role: r.roleAt(at, at+m[1])})
				}
			}
		}
		at = next
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// quotes are words of a text about attacks.
var quotes = lazyregexp.New(`(?i)\b(?:attack(?:s|ers?)?|injections?|injected|malicious|adversar(?:y|ial)|detect(?:s|ed|ion)?|flag(?:s|ged)?|reject(?:s|ed)?|suspicious|phishing|jailbreaks?|red-team(?:ing)?)\b`)

// roleAt returns the role of a phrase by the rest of its line, within 300 bytes.
func (r *reader) roleAt(begin, end int) fact.Role {
	before := r.text[max(0, begin-300):begin]
	after := r.text[end:min(len(r.text), end+300)]
	after, _, _ = strings.Cut(after, "\n")
	if quotes().MatchString(before[strings.LastIndexByte(before, '\n')+1:]) || quotes().MatchString(after) {
		return fact.Against
	}
	return fact.Instruction
}

// plain returns a text on one line.
func plain(s string) string { return strings.Join(strings.Fields(s[:min(len(s), 4*maxDetail)]), " ") }
