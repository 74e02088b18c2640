package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/mcpserve"
)

// fence is a block of a page.
var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// The commands, variables and settings in the examples of serving exist.
func TestServingExamples(t *testing.T) {
	known := variables()
	for page, want := range map[string]int{"mcp.md": 6, "serving.md": 3, "fleet.md": 5} {
		b, err := os.ReadFile(filepath.Join("../../../../docs", page))
		if err != nil {
			t.Fatal(err)
		}
		commands := 0
		for _, block := range fence.FindAllStringSubmatch(string(b), -1) {
			for _, m := range regexp.MustCompile(`\b([A-Z]+_[A-Z_]+|HOME)=`).FindAllStringSubmatch(block[2], -1) {
				if !slices.Contains(known, m[1]) {
					t.Errorf("%s: nothing reads %s", page, m[1])
				}
			}
			if block[1] == "yaml" {
				checkSettings(t, page, block[2])
				continue
			}
			for _, args := range commandsIn(block[1], block[2]) {
				commands++
				checkCommand(t, page, args)
			}
		}
		if commands < want {
			t.Errorf("%s has %d commands, and at least %d were looked for", page, commands, want)
		}
	}
}

// variables returns the names of all variables that are read.
func variables() []string {
	known := []string{"HOME", "AGENT_HOME", "CREDENTIALS_DIRECTORY"}
	for _, k := range config.Keys() {
		known = append(known, k.Variable)
	}
	return known
}

func checkCommand(t *testing.T, where string, args []string) {
	t.Helper()
	root := newRootCommand(app.New(&setup.System{}, &setup.Flags{}, &ui.Streams{}))
	c, rest, err := root.Find(args)
	if err == nil {
		err = c.ParseFlags(rest)
	}
	if err == nil {
		err = c.ValidateArgs(c.Flags().Args())
	}
	if err != nil || c == root {
		t.Errorf("%s: agent %s: %v", where, strings.Join(args, " "), err)
	}
}

// The commands and variables of the manifests for Kubernetes, and of the pods of runs, exist. The step kube of scripts/test.sh asks
// Kubernetes about the rest.
func TestManifestsForKubernetes(t *testing.T) {
	files, err := filepath.Glob("../../../../deploy/kubernetes/*/*.yaml")
	if err != nil || len(files) < 6 {
		t.Fatalf("%v, %v", files, err)
	}
	known, commands := variables(), 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range regexp.MustCompile(`\bAGENT_[A-Z_]+`).FindAllString(string(b), -1) {
			if !slices.Contains(known, name) {
				t.Errorf("%s: nothing reads %s", file, name)
			}
		}
		for _, list := range regexp.MustCompile(`(?m)^ +args:\n((?: +- .*\n)+)`).FindAllStringSubmatch(string(b), -1) {
			commands++
			checkCommand(t, file, strings.Fields(strings.ReplaceAll(list[1], "            - ", " ")))
		}
	}
	if commands != 2 {
		t.Errorf("there are %d commands", commands)
	}
	checkCommand(t, "a pod", fleet.PodArgs("tls://n1:4222"))
}

// commandsIn returns the arguments of the commands agent in a block.
func commandsIn(kind, text string) (out [][]string) {
	for line := range strings.Lines(text) {
		for _, end := range []string{" #", " 2>"} { // a remark, and what the shell does
			line, _, _ = strings.Cut(strings.TrimSpace(line), end)
		}
		if list, ok := strings.CutPrefix(line, "CMD "); ok {
			var args []string
			if json.Unmarshal([]byte(list), &args) == nil {
				out = append(out, args)
			}
			continue
		}
		words := strings.Fields(line)
		at := len(words) - 1
		for at >= 0 && words[at] != "agent" && !strings.HasSuffix(words[at], "bin/agent") {
			at--
		}
		if at >= 0 && kind != "dockerfile" && !strings.Contains(line, "useradd") {
			out = append(out, words[at+1:])
		}
	}
	return out
}

func checkSettings(t *testing.T, page, text string) {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, ".agent"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, ".agent/config.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	c, problems := config.Load(&config.Options{Home: home, Dir: home})
	if len(problems) > 0 || strings.HasPrefix(text, "serve:") && (c.Serve.Key == "" || c.Serve.Tenants == nil) && (c.Serve.CA == "" || len(c.Serve.Nodes) < 3) {
		t.Errorf("%s: %v\n%s", page, problems, text)
	}
}

// The page names each reason for which a request is refused.
func TestServingReasons(t *testing.T) {
	b, err := os.ReadFile("../../../../docs/serving.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, why := range []string{mcpserve.RefusedHost, mcpserve.RefusedOrigin, mcpserve.RefusedMethod, mcpserve.RefusedToken, mcpserve.RefusedScope, mcpserve.RefusedStranger, mcpserve.RefusedBusy, mcpserve.RefusedBody, mcpserve.RefusedRevision} {
		if !strings.Contains(string(b), "`"+why+"`") {
			t.Errorf("docs/serving.md does not name %s", why)
		}
	}
}
