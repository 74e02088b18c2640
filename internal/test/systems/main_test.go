package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A mistake is found in the code of another system, in its tests and with its types, and nowhere else.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.com/m\n\ngo 1.26\n",
		"m.go":           "package m\n\nimport \"os\"\n\nvar Dir = os.TempDir()\n",
		"m_windows.go":   "package m\n\nfunc f() int { return missing }\n",
		"m_test.go":      "package m\n\nvar n = hidden\n",
		"hidden_unix.go": "//go:build linux\n\npackage m\n\nvar hidden = 1\n",
		"big.go":         "//go:build 386\n\npackage m\n\nconst n32 = int(1 << 40)\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, c := range []struct {
		goos, arch string
		wants      []string
	}{
		{"linux", "arm64", nil},
		{"windows", "amd64", []string{"m_windows.go:3:23: undefined: missing", "m_test.go:3:9: undefined: hidden"}},
		{"linux", "386", []string{"big.go:5:17:"}},
	} {
		n, err := check(c.goos, c.arch)
		if (err != nil) != (c.wants != nil) || err == nil && n != 2 {
			t.Errorf("%s/%s: %d packages, error %v", c.goos, c.arch, n, err)
		}
		for _, want := range c.wants {
			if err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s/%s: %v, want %q", c.goos, c.arch, err, want)
			}
		}
	}
	if _, err := check("plan10", "amd64"); err == nil {
		t.Error("an unknown system has no error")
	}
}
