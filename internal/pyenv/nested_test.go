package pyenv

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// C69: no file of a skill takes long to read.
func TestReadingIsBounded(t *testing.T) {
	texts := map[string]string{
		"a key":            strings.Repeat("a.", 8000) + "a = 1\n",
		"a table":          "[" + strings.Repeat("a.", 8000) + "a]\n",
		"inline tables":    "a = " + strings.Repeat("{a = ", 3000),
		"tables in arrays": "a = " + strings.Repeat("[{a = [\n", 2000),
		"after strings":    "a = [\"\"\"b\\\"\"'\"\"\"\", '''c''']\nd = '\"'\n" + strings.Repeat("a.", 8000) + "a = 1\n",
	}
	for name, text := range texts {
		t.Run(name, func(t *testing.T) {
			within(t, func() error {
				_, err := readProject(fstest.MapFS{"pyproject.toml": {Data: []byte(text)}}, "pyproject.toml")
				return err
			}, "more than 50 levels")
			block := "# /// script\n# " + strings.ReplaceAll(text[:min(len(text), maxBlock/2)], "\n", "\n# ") + "\n# ///\n"
			within(t, func() error {
				_, err := ParseBlock([]byte(block))
				return err
			}, "more than 50 levels")
		})
	}
	lines := strings.Repeat("a\\\n", maxDeclaration/3-1)
	within(t, func() error {
		_, err := readRequirements(fstest.MapFS{"requirements.txt": {Data: []byte(lines)}}, "requirements.txt")
		return err
	}, "requirements.txt:1")

	deep := strings.Repeat("a.", 40) + "b = \"1" + strings.Repeat(".1", 200) + "\" # " + strings.Repeat(".", 200) + "\n"
	fine := "[project]\ndependencies = ['requests', \"\"\"httpx\"\"\"] # " + strings.Repeat("[", 200) + "\n[tool.x]\n" + deep
	n, err := readProject(fstest.MapFS{"pyproject.toml": {Data: []byte(fine)}}, "pyproject.toml")
	if err != nil || len(n.Dependencies) != 2 {
		t.Errorf("got %v, %v", n, err)
	}
}

// within runs a function that must end soon, with an error that has a text.
func within(t *testing.T, run func() error, want string) {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %.200v, want %q", err, want)
		}
	case <-time.After(time.Minute): // it hangs, or takes far more than its length
		t.Error("it takes more than a minute")
	}
}
