// Package host has the programs that run the toolsets of a skill: one in Python, one in JavaScript for node, bun and deno. Each
// loads the entries that it is given and serves their tools as an MCP server on its standard input and output.
//
// The package only writes the programs to a folder and says how they are called. Functions are safe for concurrent use, also by
// several processes.
package host

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

//go:embed all:python all:node
var programs embed.FS

// Language is the language of a toolset.
type Language string

// The languages that have a program.
const (
	Python     Language = "python"
	JavaScript Language = "node" // and TypeScript
)

var mains = map[Language]string{Python: "main.py", JavaScript: "main.mjs"}

// Keys of the _meta members of the programs' answers to tools/list.
const (
	MetaToolset  = "agent-base/toolset"  // of a tool: the entry that it is from, as written
	MetaFailures = "agent-base/failures" // of the answer: a list of Failure
)

// Failure says why a toolset, or one of its tools, is missing from the answer to tools/list. Its texts come from the skill.
type Failure struct {
	Toolset string `json:"toolset"` // the entry as written
	Kind    string `json:"kind"`    // one of the kinds below
	Message string `json:"message"`
	Package string `json:"package,omitempty"` // the missing module, for KindPackage
	Trace   string `json:"trace,omitempty"`   // at most ten lines, of files of the skill only
}

// The kinds of a Failure.
const (
	KindShape   = "shape"   // the entry cannot be read, or what it names cannot be used
	KindImport  = "import"  // its file is missing or fails when it is loaded
	KindPackage = "package" // a package that it needs is not installed
	KindClass   = "class"   // its file has nothing of that name
	KindBase    = "base"    // its class does not inherit from AgentToolset
	KindTool    = "tool"    // one tool is left out; the others of the toolset are there
)

// Install writes the program of a language to a folder of its own in dir, and returns the absolute path of its main file. dir is an
// absolute path and is made if it is missing. The folder is named by the digest of its content and is read-only. One that is
// complete is used again; one that differs is replaced.
func Install(dir string, l Language) (main string, err error) {
	if mains[l] == "" {
		return "", fmt.Errorf("toolsets in %q: no such program", l)
	}
	if !filepath.IsAbs(dir) {
		return "", fmt.Errorf("folder of toolset programs %q: not an absolute path", dir)
	}
	files, err := read(l)
	if err != nil {
		return "", err
	}
	folder := filepath.Join(dir, string(l)+"-"+digest(files))
	main = filepath.Join(folder, mains[l])
	if complete(folder, files) {
		return main, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	fresh, err := os.MkdirTemp(dir, "."+string(l)+"-")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, remove(fresh)) }()
	if err := write(filepath.Join(fresh, "new"), files); err != nil {
		return "", err
	}
	return main, put(fresh, folder, files)
}

// Args returns the arguments with which a runtime ("python", "node", "bun" or "deno") runs the program main for a skill's folder. A
// result of a tool may have maxResult bytes; 0 means 1 MiB.
func Args(runtime, main, skill string, maxResult int64, entries ...string) []string {
	var args []string
	switch runtime {
	case "python":
		args = []string{"-I", "-B"}
	case "bun":
		args = []string{"--no-install", "run"} // bun fetches missing packages otherwise
	case "deno":
		args = []string{"run", "--quiet", "--no-lock", "--cached-only", "--node-modules-dir=manual", "-A"}
	}
	args = append(args, main, "--skill", skill)
	if maxResult > 0 {
		args = append(args, "--max-result", fmt.Sprint(maxResult))
	}
	return append(append(args, "--"), entries...)
}

// read returns the files of a program by their paths, separated by slashes.
func read(l Language) (map[string][]byte, error) {
	files := map[string][]byte{}
	err := fs.WalkDir(programs, string(l), func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := programs.ReadFile(name)
		files[strings.TrimPrefix(name, string(l)+"/")] = text
		return err
	})
	return files, err
}

func digest(files map[string][]byte) string {
	sum := sha256.New()
	for _, name := range sorted(files) {
		fmt.Fprintf(sum, "%x %s\n", sha256.Sum256(files[name]), name)
	}
	return hex.EncodeToString(sum.Sum(nil))[:32]
}

// complete reports whether a folder has these files with their content, and nothing else.
func complete(folder string, files map[string][]byte) bool {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return false
	}
	defer root.Close()
	found := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		found++
		want, known := files[name]
		info, err := d.Info()
		if err != nil || !known || !info.Mode().IsRegular() || info.Size() != int64(len(want)) {
			return errors.Join(err, fs.ErrInvalid)
		}
		text, err := root.ReadFile(name)
		if err != nil || !bytes.Equal(text, want) {
			return errors.Join(err, fs.ErrInvalid)
		}
		return nil
	})
	return err == nil && found == len(files)
}

func write(folder string, files map[string][]byte) error {
	for _, name := range sorted(files) {
		target := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		if err := os.WriteFile(target, files[name], 0o444); err != nil {
			return err
		}
	}
	for _, name := range sorted(files) { // a folder is closed after everything is in it
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			if err := os.Chmod(filepath.Join(folder, filepath.FromSlash(dir)), 0o555); err != nil {
				return err
			}
		}
	}
	return nil
}

// put moves the new folder in fresh to its place. If another process was there first, its folder is used; a folder that differs
// makes room.
func put(fresh, folder string, files map[string][]byte) error {
	from := filepath.Join(fresh, "new")
	for i := range 3 {
		err := os.Rename(from, folder)
		if err == nil {
			return os.Chmod(folder, 0o555)
		}
		if complete(folder, files) {
			return nil
		}
		old := filepath.Join(fresh, fmt.Sprint("old", i))
		err = errors.Join(os.Chmod(folder, 0o700), os.Rename(folder, old)) // a folder that is moved must be writable
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return fmt.Errorf("%s: it changes while it is written", folder)
}
