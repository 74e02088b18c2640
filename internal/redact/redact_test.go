package redact_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/redact"
)

const secret = `s3cr3t/"wörd+42&`

// R176
func TestForms(t *testing.T) {
	r := redact.New([]redact.Secret{{"TOKEN", secret}, {"SHORT", "abc1234"}})
	plain, _ := json.Marshal(map[string]string{"a": secret})
	for name, text := range map[string]string{
		"itself":                    "x" + secret + "y",
		"JSON":                      string(plain),
		"an address":                "https://x/?k=" + url.QueryEscape(secret),
		"a path":                    "https://x/" + url.PathEscape(secret),
		"base64":                    base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64 for addresses":      base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"base64 after other bytes":  base64.StdEncoding.EncodeToString([]byte("u:" + secret + ":v")),
		"base64 after another byte": base64.StdEncoding.EncodeToString([]byte("u" + secret)),
		"hexadecimal":               hex.EncodeToString([]byte(secret)),
	} {
		got := r.String(text)
		if !strings.Contains(got, "[redacted TOKEN]") || strings.Contains(got, secret[:8]) {
			t.Errorf("%s: %q became %q", name, text, got)
		}
	}
	if got := r.String("abc1234"); got != "abc1234" {
		t.Errorf("a short value became %q", got)
	}
}

// R176
func TestJSONStaysJSON(t *testing.T) {
	r := redact.New([]redact.Secret{{"CHAT", "1234567890"}})
	for text, want := range map[string]string{
		`{"id":1234567890,"b":[1,"x 1234567890"]}`: `{"b":[1,"x [redacted CHAT]"],"id":"[redacted CHAT]"}`,
		`{"id":"1234567890"}`:                      `{"id":"[redacted CHAT]"}`,
		`{"id":5}`:                                 `{"id":5}`,
	} {
		if got := string(r.Bytes([]byte(text))); got != want {
			t.Errorf("%s became %s, want %s", text, got, want)
		}
	}
}

func TestPartsAndWholes(t *testing.T) {
	r := redact.New([]redact.Secret{{"A", "secret-one"}, {"B", "secret-one-and-more"}, {"C", "secret-one"}})
	if got := r.String("secret-one secret-one-and-more"); got != "[redacted A] [redacted B]" {
		t.Error(got)
	}
}

// R176
func TestCut(t *testing.T) {
	r := redact.New([]redact.Secret{{"A", "secret-value-1"}})
	if got := string(r.Cut([]byte("out: secret-va"), false, true)); got != "out: " {
		t.Errorf("end: %q", got)
	}
	if got := string(r.Cut([]byte("-value-1 rest"), true, false)); got != " rest" {
		t.Errorf("beginning: %q", got)
	}
}

func TestNothingToDo(t *testing.T) {
	var none *redact.Redactor
	if none.String("x") != "x" || string(none.Bytes([]byte("x"))) != "x" || string((&redact.Redactor{}).Bytes([]byte("x"))) != "x" {
		t.Error("changed")
	}
}

// R176
func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"key sk-ant-api03-" + strings.Repeat("aB3-", 10) + " end":             "key [redacted] end",
		"ghp_" + strings.Repeat("a1B2", 9):                                    "[redacted]",
		"AKIAIOSFODNN7EXAMPLE":                                                "[redacted]",
		"postgres://bob:hunter22@db.example.com/x":                            "postgres://bob:[redacted]@db.example.com/x",
		"Authorization: Bearer abcdef123456":                                  "Authorization: Bearer [redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----": "[redacted]",
		"a sk-learn pipeline, https://example.com:8080/a@b, 10:30":            "a sk-learn pipeline, https://example.com:8080/a@b, 10:30",
		"git@github.com:owner/repo.git":                                       "git@github.com:owner/repo.git",
	} {
		if got := redact.Shapes(text); got != want {
			t.Errorf("%q became %q, want %q", text, got, want)
		}
	}
}

// FuzzRedactor holds that a value never survives, and that JSON stays JSON.
func FuzzRedactor(f *testing.F) {
	f.Add("s3cr3t-value", `{"a":"s3cr3t-value"}`)
	f.Add("12345678", `[12345678]`)
	f.Fuzz(func(t *testing.T, value, text string) {
		r := redact.New([]redact.Secret{{"X", value}})
		out := r.Bytes([]byte(text))
		if json.Valid([]byte(text)) && !json.Valid(out) {
			t.Fatalf("%q is not JSON any more: %q", text, out)
		}
		if len(value) >= redact.MinLength && !strings.Contains("[redacted X]", value) && strings.Contains(strings.ReplaceAll(string(out), "[redacted X]", "\x00"), value) && !strings.Contains(value, "\x00") {
			t.Fatalf("%q is still in %q", value, out)
		}
	})
}
