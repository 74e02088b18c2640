package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
)

// shellScript starts quickly, so the engine's share is visible. pythonScript is a typical script of a skill; it prints
// the interpreter that runs it.
const (
	shellScript  = "#!/bin/sh\necho '{\"ok\": true}'\n"
	pythonScript = `# /// script
# requires-python = ">=3.9"
# dependencies = ["click>=8"]
# ///
import json
import sys

import click

print(json.dumps({"python": sys.executable, "click": bool(click.command)}))
`
	nodeScript = `const ms = require("ms");
console.log(JSON.stringify({node: process.execPath, file: __filename, ms: ms("1s")}));
`
)

// measureScripts measures warm runs of scripts, and for comparison bare starts of the same interpreters and `uv run`.
// It writes the skill and the prepared environment into dir.
func measureScripts(ctx context.Context, dir string, rounds int) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	s, err := scriptSkill(ctx, dir)
	if err != nil {
		return err
	}
	defer s.Close()
	cache := filepath.Join(dir, "cache")
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return err
	}
	options := script.Options{LookPath: exec.LookPath, Env: os.Environ(), Cache: cache}
	host, err := script.New(&options)
	if err != nil {
		return err
	}
	shell := filepath.Join(dir, "skills", "bench", "scripts", "shell.sh")
	if _, err := measureRun(ctx, host, s, "shell", rounds); err != nil {
		return err
	}
	if err := measureBare(ctx, "bare-shell", rounds, "/bin/sh", shell, "--json"); err != nil {
		return err
	}
	answer, err := measureRun(ctx, host, s, "python", rounds)
	if err != nil {
		return err
	}
	var said struct{ Python string }
	if err := json.Unmarshal(answer, &said); err != nil {
		return fmt.Errorf("decoding the script's answer: %w", err)
	}
	file := filepath.Join(dir, "skills", "bench", "scripts", "python.py")
	if err := measureBare(ctx, "bare-python", rounds, said.Python, file, "--json"); err != nil {
		return err
	}
	uv, err := exec.LookPath("uv")
	if err != nil {
		return err
	}
	if err := measureBare(ctx, "uv-run", rounds, uv, "run", "--quiet", "--script", file, "--json"); err != nil {
		return err
	}
	if _, err := measureRun(ctx, host, s, "listed", rounds); err != nil {
		return err
	}
	scripts := filepath.Dir(file)
	err = measureBare(ctx, "uv-run-listed", rounds, uv, "run", "--quiet", "--no-project", "--with-requirements", filepath.Join(scripts, "requirements.txt"),
		filepath.Join(scripts, "listed.py"), "--json")
	if err != nil {
		return err
	}
	if err := measureHelp(ctx, host, s, "described", rounds); err != nil {
		return err
	}
	if err := measureConfined(ctx, options, s, rounds); err != nil {
		return err
	}
	return measureNode(ctx, host, s, cache, rounds)
}

// measureNode measures a script with an npm package, and the same file started by node and by npx.
func measureNode(ctx context.Context, host *script.Host, s *skill.Skill, cache string, rounds int) error {
	for _, name := range []string{"node", "npm", "npx"} {
		if _, err := exec.LookPath(name); err != nil {
			fmt.Fprintf(os.Stderr, "node: not measured: %v\n", err)
			return nil
		}
	}
	answer, err := measureRun(ctx, host, s, "node", rounds)
	if err != nil {
		return err
	}
	var said struct{ Node string }
	if err := json.Unmarshal(answer, &said); err != nil {
		return fmt.Errorf("decoding the script's answer: %w", err)
	}
	// The file that ran is gone with its run. This is the one beside the packages, from which it was taken.
	files, err := filepath.Glob(filepath.Join(cache, "node", "*", "skills", "*", "*", "bench", "scripts", "node.js"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no copy of the script beside its packages: %w", cmp.Or(err, os.ErrNotExist))
	}
	if err := measureBare(ctx, "bare-node", rounds, said.Node, files[0]); err != nil {
		return err
	}
	return measureBare(ctx, "npx", max(rounds/10, 3), "npx", "--no-install", "--offline", "-c", "node "+files[0])
}

// measureHelp measures the help of a script that is described in place of being run.
func measureHelp(ctx context.Context, host *script.Host, s *skill.Skill, name string, rounds int) error {
	sc, err := script.Find(ctx, s, name, nil)
	if err != nil {
		return err
	}
	sorted, err := times(rounds, func(int) error {
		help, err := host.Help(ctx, s, sc, nil)
		if err == nil && !help.Described {
			err = fmt.Errorf("%s was run for its help", name)
		}
		return err
	})
	if err != nil {
		return err
	}
	report("help-"+name, 1, sorted, "")
	return nil
}

// scriptSkill writes a skill with the scripts and loads it. The block of a script decides before requirements.txt.
func scriptSkill(ctx context.Context, dir string) (*skill.Skill, error) {
	for name, content := range map[string]string{
		"SKILL.md":                 "---\nname: bench\ndescription: Scripts to measure.\n---\n",
		"scripts/shell.sh":         shellScript,
		"scripts/python.py":        pythonScript,
		"scripts/listed.py":        pythonScript[strings.Index(pythonScript, "import"):],
		"scripts/requirements.txt": "click>=8\n",
		"scripts/described.py":     "\"\"\"Convert a file.\"\"\"\nimport sys\nprint(open(sys.argv[1]).read())\n",
		"scripts/node.js":          nodeScript,
		"package.json":             "{\"dependencies\": {\"ms\": \"2.1.3\"}}\n",
	} {
		full := filepath.Join(dir, "skills", "bench", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(full, []byte(content), 0o755); err != nil {
			return nil, err
		}
	}
	c, err := open(ctx, dir)
	if err != nil {
		return nil, err
	}
	e, err := c.Lookup("bench")
	if err != nil {
		return nil, err
	}
	return e.Load(ctx)
}

// measureRun calls a script through the engine and returns its last answer. It does not count the preparation.
func measureRun(ctx context.Context, host *script.Host, s *skill.Skill, name string, rounds int) (json.RawMessage, error) {
	return measureRunAs(ctx, host, s, name, "run-"+name, rounds)
}

// measureRunAs is measureRun with the name of the report.
func measureRunAs(ctx context.Context, host *script.Host, s *skill.Skill, name, as string, rounds int) (json.RawMessage, error) {
	sc, err := script.Find(ctx, s, name, nil)
	if err != nil {
		return nil, err
	}
	var answer json.RawMessage
	run := func(int) error {
		result, err := host.Run(ctx, s, sc, &script.RunOptions{Args: []string{"--json"}})
		if err == nil {
			answer = result.JSON
		}
		return err
	}
	if err := run(0); err != nil {
		return nil, err
	}
	sorted, err := times(rounds, run)
	if err != nil {
		return nil, err
	}
	report(as, 1, sorted, "")
	return answer, nil
}

// measureBare starts a command and reads its output, as a program without an engine would.
func measureBare(ctx context.Context, name string, rounds int, args ...string) error {
	run := func(int) error {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Env = os.Environ()
		if out, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
		}
		return nil
	}
	if err := run(0); err != nil {
		return err
	}
	sorted, err := times(rounds, run)
	if err != nil {
		return err
	}
	report(name, 1, sorted, "")
	return nil
}
