package redact

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// shapes are the keys of well-known services, and other texts that are secret by their form. The first group of each pattern, if
// it has one, stays. What a pattern matches has one of its marks, in any case: looking for them first is a hundred times faster.
var shapes = []struct {
	kind    string
	marks   []string
	pattern func() *regexp.Regexp
}{
	{"an API key of a model", []string{"sk-", "rk-", "pk-"}, // Anthropic, OpenAI, OpenRouter
		lazyregexp.New(`()\b(?:sk|rk|pk)-(?:ant-|proj-|or-|live-|test-)?[A-Za-z0-9_-]{20,}`)},
	{"a Stripe key", []string{"sk_", "rk_", "whsec_"}, // Stripe
		lazyregexp.New(`()\b(?:sk|rk|whsec)_(?:live|test)?_?[A-Za-z0-9]{16,}`)},
	{"a GitHub or GitLab token", []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"}, // GitHub, GitLab
		lazyregexp.New(`()\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})`)},
	{"an AWS access key", []string{"akia", "asia"}, // AWS
		lazyregexp.New(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{"a Google key", []string{"aiza", "ya29."}, // Google
		lazyregexp.New(`()\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})`)},
	{"a Slack token", []string{"xox"}, // Slack
		lazyregexp.New(`()\bxox[abeprs]-[A-Za-z0-9-]{10,}`)},
	{"a token of a service", []string{"hf_", "npm_", "gsk_", "xai-", "tvly-", "ntn_", "dop_v1_", "sg."},
		lazyregexp.New(`()\b(?:hf_|npm_|gsk_|xai-|tvly-|ntn_|dop_v1_|SG\.)[A-Za-z0-9._-]{24,}`)},
	{"a JSON web token", []string{"eyj"}, // a JSON web token
		lazyregexp.New(`()\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{"a private key", []string{"-----begin "},
		lazyregexp.New(`()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)`)},
	{"an authorization header", []string{"authorization"},
		lazyregexp.New(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}`)},
	{"a password in an address", []string{"://"}, // a password in an address
		lazyregexp.New(`([a-z][a-z0-9+.-]{1,20}://[^\s:/@]*:)[^\s:/@]{3,}@`)},
}

const mark = "[redacted]"

// A Shape is a text that looks like a secret.
type Shape struct {
	Kind       string // such as "an AWS access key"
	Begin, End int    // in the text, in bytes
}

// Find returns at most limit texts that Shapes replaces, each cut off after 300 bytes, a private key after 4096. It looks only where a mark stands, which is
// much faster.
func Find(text string, limit int) []Shape {
	var out []Shape
	folded := []byte(text) // letters outside ASCII may change their length
	for i, c := range folded {
		if c >= 'A' && c <= 'Z' {
			folded[i] = c | 0x20
		}
	}
	for _, shape := range shapes {
		most := maxFind
		if strings.HasPrefix(shape.marks[0], "-") {
			most = maxKey
		}
		for _, mark := range shape.marks {
			last := 0
			for at := 0; len(out) < limit; {
				i := bytes.Index(folded[at:], []byte(mark))
				if i < 0 {
					break
				}
				at += i + len(mark)
				begin := max(last, at-len(mark)-maxScheme)
				m := shape.pattern().FindStringSubmatchIndex(text[begin:min(len(text), at+most)])
				if m == nil {
					continue
				}
				secret := begin + m[3]
				last = begin + m[1]
				at = max(at, last)
				out = append(out, Shape{shape.kind, secret, secret + len(strings.TrimSuffix(text[secret:last], "@"))})
			}
		}
	}
	return out
}

const (
	maxFind   = 300
	maxKey    = 4096 // of a private key
	maxScheme = 22   // bytes of an address before ://
)

// Shapes returns a text without what looks like a key, a token or a password in an address.
func Shapes(text string) string {
	folded := strings.ToLower(text) // what is replaced below adds no mark
	for i, shape := range shapes {
		if !slices.ContainsFunc(shape.marks, func(mark string) bool { return strings.Contains(folded, mark) }) {
			continue
		}
		with := "${1}" + mark
		if i == len(shapes)-1 {
			with += "@"
		}
		text = shape.pattern().ReplaceAllString(text, with)
	}
	return text
}
