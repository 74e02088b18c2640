package script_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing/fstest"
	"time"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/want"
)

// A program runs the scripts of a skill that it trusts, without a model. Each gets the variables that were granted and no others.
// Without a Runner there is no sandbox: see the example of package confine.
func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "script")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	files := fstest.MapFS{
		"dice/SKILL.md":        {Data: []byte("---\nname: dice\ndescription: Rolls dice.\n---\nRun roll.\n")},
		"dice/scripts/roll.sh": {Data: []byte("#!/bin/sh\necho \"{\\\"sides\\\": $SIDES, \\\"secret\\\": \\\"$SECRET\\\"}\"\n")},
		"dice/scripts/lose.sh": {Data: []byte("#!/bin/sh\necho 'no luck' >&2\nexit 3\n")},
	}
	folder := filepath.Join(dir, "skills") // a script runs from a folder; skill.FS with a Cache makes one, too
	if err := os.CopyFS(folder, files); err != nil {
		log.Fatal(err)
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.Dir(folder, nil)}}})
	if err != nil {
		log.Fatal(err)
	}
	host, err := script.New(&script.Options{
		LookPath: exec.LookPath,
		Cache:    filepath.Join(dir, "cache"),
		Env:      []string{"SIDES=6", "SECRET=1234"},
		Granted: func(context.Context, *skill.Skill) (script.Grant, error) {
			return script.Grant{Given: want.New(want.VariableOf("SIDES"))}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}

	dice, err := catalog.Lookup("dice")
	if err != nil {
		log.Fatal(err)
	}
	opened, err := dice.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	offered, _ := script.List(opened, nil)
	for _, s := range offered {
		result, err := host.Run(ctx, opened, s, &script.RunOptions{Env: []string{"SIDES=20"}}) // of this run, in place of 6
		var failed *script.Error
		switch {
		case errors.As(err, &failed):
			fmt.Println(s.Name, failed.Code, failed.Message)
		case err != nil:
			log.Fatal(err) // ctx has ended
		default:
			fmt.Println(s.Name, string(result.JSON))
		}
	}
	// Output:
	// lose execution_failed Script failed with exit code 3
	// stderr: no luck
	// roll {"sides":20,"secret":""}
}

// Where a script starts, and which files are scripts.
func ExampleOptions() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "script")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, fstest.MapFS{
		"project/x":                   {},
		"skills/where/SKILL.md":       {Data: []byte("---\nname: where\ndescription: Says where.\n---\nRun where.\n")},
		"skills/where/scripts/pwd.sh": {Data: []byte("#!/bin/sh\npwd\n")},
		"skills/where/lib/no.sh":      {Data: []byte("#!/bin/sh\n")},
	}); err != nil {
		log.Fatal(err)
	}
	catalog, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "ours", Source: skill.Dir(filepath.Join(dir, "skills"), nil)}}})
	if err != nil {
		log.Fatal(err)
	}
	where, err := catalog.Lookup("where")
	if err != nil {
		log.Fatal(err)
	}
	opened, err := where.Load(ctx)
	if err != nil {
		log.Fatal(err)
	}
	defer opened.Close()
	for _, cwd := range []string{script.CwdWorkspace, script.CwdSkill, script.CwdScript} {
		host, err := script.New(&script.Options{
			LookPath: exec.LookPath, Cache: filepath.Join(dir, "cache"), Workspace: filepath.Join(dir, "project"), Cwd: cwd, JSON: script.JSONNo,
		})
		if err != nil {
			log.Fatal(err)
		}
		offered, _ := script.List(opened, &script.ListOptions{Rule: script.Direct})
		for _, s := range offered {
			result, err := host.Run(ctx, opened, s, nil)
			if err != nil {
				log.Fatal(err)
			}
			fmt.Println(cwd, s.Name, filepath.Base(strings.TrimSpace(result.Text)))
		}
	}
	// Output:
	// workspace pwd project
	// skill pwd where
	// script pwd scripts
}

// A service cleans its cache at night, and lets the runs of up to an hour end first.
func ExampleHost_Sweep() {
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: "/var/cache/ours"})
	if err != nil {
		log.Fatal(err)
	}
	swept, err := host.Sweep(context.Background(), &script.SweepOptions{Wait: time.Hour})
	if err != nil {
		log.Fatal(err)
	}
	for _, s := range swept {
		fmt.Println(s.Path, s.Why)
	}
}
