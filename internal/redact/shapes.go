package redact

import (
	"regexp"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// shapes are the keys of well-known services, and other texts that are secret by their form. The first group of each, if it
// has one, stays.
var shapes = []func() *regexp.Regexp{
	lazyregexp.New(`()\b(?:sk|rk|pk)-(?:ant-|proj-|or-|live-|test-)?[A-Za-z0-9_-]{20,}`),                       // Anthropic, OpenAI, OpenRouter
	lazyregexp.New(`()\b(?:sk|rk|whsec)_(?:live|test)?_?[A-Za-z0-9]{16,}`),                                     // Stripe
	lazyregexp.New(`()\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{22,}|glpat-[A-Za-z0-9_-]{20,})`), // GitHub, GitLab
	lazyregexp.New(`()\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`),                                                          // AWS
	lazyregexp.New(`()\bAIza[A-Za-z0-9_-]{35}`),                                                                // Google
	lazyregexp.New(`()\bya29\.[A-Za-z0-9_-]{20,}`),
	lazyregexp.New(`()\bxox[abeprs]-[A-Za-z0-9-]{10,}`), // Slack
	lazyregexp.New(`()\b(?:hf_|npm_|gsk_|xai-|tvly-|ntn_|dop_v1_|SG\.)[A-Za-z0-9._-]{24,}`),
	lazyregexp.New(`()\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`), // a JSON web token
	lazyregexp.New(`()-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,30}PRIVATE KEY-----|$)`),
	lazyregexp.New(`(?i)(\bauthorization["']?\s*[:=]\s*["']?(?:bearer|basic|token)\s+)[A-Za-z0-9._~+/=-]{8,}`),
	lazyregexp.New(`([a-z][a-z0-9+.-]{1,20}://[^\s:/@]*:)[^\s:/@]{3,}@`), // a password in an address
}

const mark = "[redacted]"

// Shapes returns a text without what looks like a key, a token or a password in an address.
func Shapes(text string) string {
	for i, shape := range shapes {
		with := "${1}" + mark
		if i == len(shapes)-1 {
			with += "@"
		}
		text = shape().ReplaceAllString(text, with)
	}
	return text
}
