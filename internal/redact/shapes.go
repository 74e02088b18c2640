package redact

import (
	"regexp"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// shapes are the keys of well-known services, and other texts that are secret by their form. The first group of each pattern, if
// it has one, stays. What a pattern matches has one of its marks, in any case: looking for them first is a hundred times faster.
var shapes = []struct {
	marks   []string
	pattern func() *regexp.Regexp
}{
	{[]string{"sk-", "rk-", "pk-"}, // Anthropic, OpenAI, OpenRouter
		lazyregexp.New(`()\b(?:sk|rk|pk)-(?:ant-|proj-|or-|live-|test-)?[A-Za-z0-9_-]{20,}`)},
	{[]string{"sk_", "rk_", "whsec_"}, // Stripe
		lazyregexp.New(`()\b(?:sk|rk|whsec)_(?:live|test)?_?[A-Za-z0-9]{16,}`)},
	{[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-"}, // GitHub, GitLab
		lazyregexp.New(`()\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})`)},
	{[]string{"akia", "asia"}, // AWS
		lazyregexp.New(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`)},
	{[]string{"aiza", "ya29."}, // Google
		lazyregexp.New(`()\b(?:AIza[A-Za-z0-9_-]{35}|ya29\.[A-Za-z0-9_-]{20,})`)},
	{[]string{"xox"}, // Slack
		lazyregexp.New(`()\bxox[abeprs]-[A-Za-z0-9-]{10,}`)},
	{[]string{"hf_", "npm_", "gsk_", "xai-", "tvly-", "ntn_", "dop_v1_", "sg."},
		lazyregexp.New(`()\b(?:hf_|npm_|gsk_|xai-|tvly-|ntn_|dop_v1_|SG\.)[A-Za-z0-9._-]{24,}`)},
	{[]string{"eyj"}, // a JSON web token
		lazyregexp.New(`()\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`)},
	{[]string{"-----begin "},
		lazyregexp.New(`()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)`)},
	{[]string{"authorization"},
		lazyregexp.New(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}`)},
	{[]string{"://"}, // a password in an address
		lazyregexp.New(`([a-z][a-z0-9+.-]{1,20}://[^\s:/@]*:)[^\s:/@]{3,}@`)},
}

const mark = "[redacted]"

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
