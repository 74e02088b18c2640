package text

import (
	"encoding/base64"
	"encoding/json"
	"hash/crc32"
	"math"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// fillers are parts of secrets that people make up for examples.
var fillers = lazyregexp.New(`(?i)example|sample|dummy|fake|your|test|placeholder|redacted|changeme|foo|bar|secret|password|xxx|\*\*\*|\.\.\.|abcd|1234|0000|user|pass\b|<|\$|\{|%`)

// live reports whether a text in the form of a secret seems to be one: by its checksum if it has one, else because it is made of
// random letters and no example.
func live(kind, value, before string) bool {
	switch {
	case strings.HasPrefix(value, "ghp_") || strings.HasPrefix(value, "gho_") || strings.HasPrefix(value, "ghs_") || strings.HasPrefix(value, "npm_"):
		return checksum(value)
	case kind == "a private key":
		_, body, _ := strings.Cut(value[11:], "-----")
		body, _, _ = strings.Cut(body, "-----END")
		return len(body) > 150 && !strings.Contains(body, "...") && entropy(strings.Join(strings.Fields(body), "")) > 5
	case kind == "a JSON web token":
		head, err := base64.RawURLEncoding.DecodeString(strings.SplitN(value, ".", 2)[0])
		return err == nil && json.Valid(head) && !fillers().MatchString(value[len(value)-20:]) && entropy(value) > 4.5
	case kind == "a password in an address":
		return !fillers().MatchString(value) && !local(before) && len(value) > 8 && entropy(value) > 2.5
	case kind == "an authorization header":
		return !fillers().MatchString(value) && len(value) >= 20 && mixed(value) && entropy(value) > 3.5
	case kind == "an AWS access key":
		return !fillers().MatchString(value) && entropy(value) > 3
	}
	return !fillers().MatchString(value) && mixed(value) && entropy(value) > 3.5
}

// local reports whether an address that a text ends with is of a file or a program for development.
func local(before string) bool {
	before = before[max(0, len(before)-60):]
	return strings.HasSuffix(before, "postgres:") || strings.HasSuffix(before, "root:") || strings.HasSuffix(before, "admin:")
}

// checksum reports whether the last six characters of a token are the CRC-32 of the thirty before, in base 62, as GitHub and npm make
// them.
func checksum(value string) bool {
	_, body, _ := strings.Cut(value, "_")
	if len(body) != 36 {
		return false
	}
	sum := crc32.ChecksumIEEE([]byte(body[:30]))
	digits := [6]byte{}
	for i := range digits {
		digits[5-i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"[sum%62]
		sum /= 62
	}
	return string(digits[:]) == body[30:]
}

// mixed reports whether a text has digits and letters.
func mixed(s string) bool {
	return strings.ContainsAny(s, "0123456789") && strings.ContainsFunc(s, func(r rune) bool { return r|0x20 >= 'a' && r|0x20 <= 'z' })
}

// entropy returns the bits that a byte of a text has, by how often each value is in it.
func entropy(s string) float64 {
	var counts [256]float64
	for i := range len(s) {
		counts[s[i]]++
	}
	sum := 0.0
	for _, n := range counts {
		if n > 0 {
			p := n / float64(len(s))
			sum -= p * math.Log2(p)
		}
	}
	return sum
}
