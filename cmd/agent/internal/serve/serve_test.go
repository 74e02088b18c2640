package serve

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A file of secrets is read only if no other user can read it, and an error names the line that is wrong.
func TestTokens(t *testing.T) {
	file := filepath.Join(t.TempDir(), "tokens")
	write := func(text string, mode os.FileMode) {
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(file, mode); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name, text string
		mode       os.FileMode
		says       string
	}{
		{"sound", "# clients\nada 0123456789abcdef\n\nbob fedcba9876543210\n", 0o600, ""},
		{"readable by others", "ada 0123456789abcdef\n", 0o644, "chmod 600"},
		{"a short token", "ada 0123456789abcde\n", 0o600, "tokens:1: write a name"},
		{"no token", "ada 0123456789abcdef\nbob\n", 0o600, "tokens:2: write a name"},
		{"one token for two", "ada 0123456789abcdef\nbob 0123456789abcdef\n", 0o600, "ada and bob have the same token"},
		{"a name of another way", "ada 0123456789abcdef\noauth:ada 0123456789abcdeg\n", 0o600, "tokens:2: a name does not begin"},
		{"the name of a claim", "claim:a=b 0123456789abcdef\n", 0o600, "tokens:1: a name does not begin"},
		{"nothing", "# nobody\n", 0o600, "has no token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			write(tt.text, tt.mode)
			got, err := readTokens(file, "")
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if c, err := got.verify(t.Context(), "fedcba9876543210"); err != nil || c.Subject != "bob" {
				t.Errorf("got %v, %v", c, err)
			}
			for _, token := range []string{"", "fedcba987654321", "fedcba98765432100", "bob"} {
				if _, err := got.verify(t.Context(), token); err == nil {
					t.Errorf("%q is a token", token)
				}
			}
		})
	}
	write("ada 0123456789abcdef\n", 0o440)
	for folder, read := range map[string]bool{filepath.Dir(file) + "/": true, "": false, filepath.Dir(filepath.Dir(file)): false, ".": false} {
		if _, err := readTokens(file, folder); (err == nil) != read {
			t.Errorf("with the credentials in %q: %v", folder, err)
		}
	}
	if got, err := readTokens("", ""); got != nil || err != nil {
		t.Errorf("without a file: %v, %v", got, err)
	}
	if _, err := readTokens(file+".none", ""); err == nil {
		t.Error("a file that is not there was read")
	}
}

func TestLoopback(t *testing.T) {
	for addr, want := range map[string]bool{"127.0.0.1:8080": true, "localhost:0": true, "[::1]:80": true, ":8080": false, "0.0.0.0:80": false, "192.0.2.1:80": false, "example.com:80": false, "localhost.example.com:80": false, "127.0.0.1": false} {
		if got := loopback(addr); got != want {
			t.Errorf("%s: got %t", addr, got)
		}
	}
}
