package house_test

import (
	"path/filepath"
	"testing"
)

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
