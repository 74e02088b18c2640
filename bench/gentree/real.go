package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// maxReal is the largest manifest that is copied, in bytes.
const maxReal = 1 << 20

var (
	nameLine  = regexp.MustCompile(`(?m)^name:.*$`)
	opening   = regexp.MustCompile(`^---[ \t]*\r?\n`)
	closing   = regexp.MustCompile(`(?m)^---[ \t]*\r?$`)
	notInName = regexp.MustCompile(`[^a-z0-9]+`)
)

// readReal returns the files below dir that are called SKILL.md and begin with a front matter that has a name and a
// description, in the order of their paths.
func readReal(dir string) ([][]byte, error) {
	var all [][]byte
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxReal {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil && usable(text) {
			all = append(all, text)
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no SKILL.md with a name and a description below %q", dir)
	}
	return all, err
}

func usable(text []byte) bool {
	front := frontOf(text)
	return nameLine.Match(front) && bytes.Contains(front, []byte("\ndescription:"))
}

// frontOf returns the front matter with its first line and without its last.
func frontOf(text []byte) []byte {
	open := opening.FindIndex(text)
	if open == nil {
		return nil
	}
	end := closing.FindIndex(text[open[1]:])
	if end == nil {
		return nil
	}
	return text[:open[1]+end[0]]
}

// realSkill returns copy number i of the manifests, under a name of its own.
func realSkill(manifests [][]byte, number int) skill {
	text := manifests[number%len(manifests)]
	front := frontOf(text)
	line := nameLine.FindIndex(front)
	old := strings.Trim(notInName.ReplaceAllString(strings.ToLower(string(front[line[0]+len("name:"):line[1]])), "-"), "-")
	name := fmt.Sprintf("%s-%05d", strings.TrimRight("s-"+old[:min(len(old), 50)], "-"), number)
	ending := ""
	if bytes.HasSuffix(front[line[0]:line[1]], []byte("\r")) {
		ending = "\r"
	}
	var b strings.Builder
	b.Write(text[:line[0]])
	b.WriteString("name: " + name + ending)
	b.Write(text[line[1]:])
	return skill{name: name, files: []file{{"SKILL.md", b.String(), 0o644}}}
}
