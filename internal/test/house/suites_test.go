package house_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// R172: scripts/test.sh counts the coverage of every package that programs import, but for those that say why.
func TestCoverageIsCounted(t *testing.T) {
	m := module(t)
	text, err := os.ReadFile(filepath.Join(m.Root, "scripts", "test.sh"))
	if err != nil {
		t.Fatal(err)
	}
	var counted []string
	for _, list := range regexp.MustCompile(`(?m)^(?:CORE|WHOLE)='([^']*)'`).FindAllStringSubmatch(string(text), -1) {
		counted = append(counted, strings.Fields(list[1])...)
	}
	not := []string{
		"script/confine",   // it runs in processes of its own, which count for nobody
		"fleet",            // it has only tests
		"llm", "telemetry", // they speak with others: their tests hold both sides to a protocol
		"skills", "skilltest", "examples", "cmd", "internal", // not for the running of skills
	}
	for _, p := range m.Packages {
		dir := p.Dir
		if dir == "." || strings.Contains(dir, "/internal/") || slices.ContainsFunc(not, func(n string) bool { return dir == n || strings.HasPrefix(dir, n+"/") }) {
			continue
		}
		if !slices.Contains(counted, dir) {
			t.Errorf("%s is not in CORE or WHOLE of scripts/test.sh", dir)
		}
	}
}

// R173, R174: the required test suites exist. Their content is up to their packages.
func TestListedSuitesExist(t *testing.T) {
	root := module(t).Root
	for suite, pattern := range map[string]string{
		"manifest, parser, models": "skill/manifest/*parse*_test.go",
		"manager, loader, storage": "skill/catalog*_test.go",
		"registry":                 "install/registry/*_test.go",
		"concurrent loader":        "skill/watch/*_test.go",
		"script tools":             "skilltool/scripts_test.go",
		"execution":                "script/run_test.go",
		"context, stack":           "session/*_test.go",
		"restrictions":             "cmd/agent/internal/cli/agent_bypass_test.go",
		"tool, executor":           "tool/*_test.go",
		"errors":                   "skill/errors_test.go",
		"configuration":            "cmd/agent/internal/config/*_test.go",
		"command and agent":        "cmd/agent/internal/cli/testdata/script/agent_accept.txtar",
		"agent start":              "cmd/agent/internal/cli/testdata/script/check.txtar",
		"security":                 "internal/test/attack/*_test.go",
		"models and wires":         "internal/test/parity/*_test.go",
		"context overhead":         "cmd/agent/internal/cli/agent_tokens_test.go",
		"performance":              "bench/inproc/*.go",
	} {
		found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil || len(found) == 0 {
			t.Errorf("the suite %q has no file %s (%v)", suite, pattern, err)
		}
	}
}
