package flow

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill/scan/internal/fact"
	"github.com/agent-base/agent-base/skill/scan/internal/shell"
)

// decode says that a text is decoded, and returns what it becomes if it is known.
func (e *engine) decode(encoding string, a *arguments, from []int) *value {
	var in *value
	for _, v := range append(slices.Clone(a.plain()), a.self, a.input) {
		if v != nil && (len(v.texts) > 0 || v.list || in == nil) {
			in = v
			break
		}
	}
	out := &value{}
	if in != nil {
		for _, t := range flat(in) {
			if d, ok := Decode(encoding, t); ok {
				out.texts = append(out.texts, d)
			}
		}
	}
	f := fact.Fact{Kind: fact.Decodes, Object: fact.Encoding, Name: encoding, From: from}
	if len(out.texts) > 0 {
		f.Detail = strings.ToValidUTF8(out.texts[0], "")
	}
	out.from = e.emit(f)
	return out
}

// revealed says that an address was put together from characters or numbers, and returns it. One whose characters stand in a text
// as they are, such as a text that is made fit to print, is not hidden.
func (e *engine) revealed(v *value, a *arguments) *value {
	t := v.first()
	if at := strings.Index(t, "://"); at < 0 || len(t) > maxText {
		return v
	}
	n := 0
	for _, given := range a.everything() {
		if given == nil {
			continue
		}
		if strings.Contains(given.chars, t) { // the characters of a text that stands as it is
			return v
		}
		for _, part := range given.all() {
			if n++; len(part) > 3 {
				return v
			}
		}
	}
	if n < 8 {
		return v
	}
	out := *v
	out.from = union(v.from, e.emit(fact.Fact{Kind: fact.Decodes, Object: fact.Encoding, Name: "characters", Detail: t, From: v.from}))
	return &out
}

// Decode decodes a text whose code points are bytes. What becomes bytes that are UTF-8 is a text again.
func Decode(encoding, t string) (string, bool) {
	if strings.Contains(t, hole) {
		return "", false
	}
	raw := make([]byte, 0, len(t))
	for _, r := range t {
		if r > 0xff {
			return "", false
		}
		raw = append(raw, byte(r))
	}
	out, err := decoded(encoding, raw)
	if err != nil || len(out) > maxText {
		return "", false
	}
	if utf8.Valid(out) {
		return string(out), true
	}
	var b strings.Builder
	for _, c := range out {
		b.WriteRune(rune(c))
	}
	return b.String(), true
}

func decoded(encoding string, raw []byte) ([]byte, error) {
	tidy := strings.Join(strings.Fields(string(raw)), "")
	inflate := func(r io.Reader, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		return io.ReadAll(io.LimitReader(r, maxText))
	}
	switch encoding {
	case "base64":
		return base64.RawStdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(tidy, "=")))
	case "base32":
		return base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(strings.TrimRight(strings.ToUpper(tidy), "="))
	case "base85":
		return base85([]byte(tidy))
	case "ascii85":
		return io.ReadAll(io.LimitReader(ascii85.NewDecoder(strings.NewReader(tidy)), maxText))
	case "hex":
		return hex.DecodeString(strings.ReplaceAll(tidy, `\x`, ""))
	case "url":
		s, err := url.QueryUnescape(string(raw))
		return []byte(s), err
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(raw))
		return inflate(r, err)
	case "zlib":
		r, err := zlib.NewReader(bytes.NewReader(raw))
		return inflate(r, err)
	case "deflate":
		return inflate(flate.NewReader(bytes.NewReader(raw)), nil)
	case "rot13":
		for i, c := range raw {
			switch l := c | 0x20; {
			case l >= 'a' && l <= 'm':
				raw[i] += 13
			case l >= 'n' && l <= 'z':
				raw[i] -= 13
			}
		}
		return raw, nil
	}
	return nil, strconv.ErrSyntax
}

// base85 decodes what Python and git call base85.
func base85(text []byte) ([]byte, error) {
	const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~"
	pad := (5 - len(text)%5) % 5
	text = append(slices.Clone(text), "~~~~"[:pad]...)
	var out []byte
	for ; len(text) > 0; text = text[5:] {
		n := uint64(0)
		for _, c := range text[:5] {
			i := strings.IndexByte(alphabet, c)
			if i < 0 {
				return nil, strconv.ErrSyntax
			}
			n = n*85 + uint64(i)
		}
		out = append(out, byte(n>>24), byte(n>>16), byte(n>>8), byte(n))
	}
	return out[:len(out)-min(pad, len(out))], nil
}

// translated returns what tr does where it only removes characters or turns letters by half the alphabet.
func translated(a *arguments) *value {
	if a.input == nil {
		return nil
	}
	set := func(i int) []rune {
		if i >= len(a.args) {
			return nil
		}
		return ranges(shell.Unescape(strings.Trim(a.args[i].first(), "[]")))
	}
	return exchanged(a.input, set(0), set(1), a.opts["-d"] != nil)
}

// exchanged returns a value with characters in place of others, or without them.
func exchanged(v *value, from, to []rune, drop bool) *value {
	return mapped(v, func(t string) string {
		return strings.Map(func(r rune) rune {
			switch i := slices.Index(from, r); {
			case i < 0:
				return r
			case drop:
				return -1
			case len(to) > 0:
				return to[min(i, len(to)-1)]
			}
			return r
		}, t)
	})
}

// ranges returns the characters that a text like a-zA-Z means.
func ranges(t string) (out []rune) {
	r := []rune(t)
	for i := 0; i < len(r); i++ {
		if out = append(out, r[i]); i+2 < len(r) && r[i+1] == '-' && r[i+2]-r[i] < 128 {
			for c := r[i] + 1; c < r[i+2]; c++ {
				out = append(out, c)
			}
			i++
		}
	}
	return out
}

// edited returns what sed makes of its input where it replaces a text by another. What it runs itself is run.
func (e *engine) edited(a *arguments) *value {
	script := append(a.opts["-e"], a.args[:min(1, len(a.args))]...)
	if len(script) == 0 {
		return nil
	}
	t := strings.TrimLeft(script[0].first(), "0123456789,$ ")
	if command, ok := strings.CutPrefix(t, "e "); ok {
		return e.codeIn(Shell, []*value{text(command)})
	}
	if a.input == nil || len(t) < 4 || t[0] != 's' {
		return nil
	}
	parts := strings.Split(t[2:], t[1:2])
	if len(parts) != 3 || strings.ContainsAny(parts[0]+parts[1], `\^$.*[&`) {
		return nil
	}
	n := 1
	if strings.Contains(parts[2], "g") {
		n = -1
	}
	return mapped(a.input, func(t string) string { return strings.Replace(t, parts[0], parts[1], n) })
}
