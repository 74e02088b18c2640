package redact

import "testing"

// FuzzShapes holds that no pattern matches a text without one of its marks.
func FuzzShapes(f *testing.F) {
	for _, text := range []string{
		"sk-ant-api03-aB3-aB3-aB3-aB3-aB3-aB3-", "rk_live_aaaabbbbccccdddd", "ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2", "AKIAIOSFODNN7EXAMPLE", "ya29.aaaabbbbccccddddeeee",
		"xoxb-0123456789ab", "SG.aaaabbbbccccddddeeeeffffgggg", "eyJaaaaaaaaaa.eyJaaaaaaaaaa.aaaaaaaaaa", "-----BEGIN RSA PRIVATE KEY-----\nx", "AUTHorization: Bearer abcdef123456",
		"postgres://bob:hunter22@db/x", "a sk-learn pipeline, https://example.com:8080/a@b, 10:30",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		out := text
		for i, shape := range shapes {
			with := "${1}" + mark
			if i == len(shapes)-1 {
				with += "@"
			}
			out = shape.pattern().ReplaceAllString(out, with)
		}
		if got := Shapes(text); got != out {
			t.Errorf("%q became %q, want %q", text, got, out)
		}
	})
}

func BenchmarkShapes(b *testing.B) {
	for b.Loop() {
		Shapes("Tool 'bash' not in allowed-tools list: no rule allows these arguments")
	}
}
