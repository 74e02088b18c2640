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

// A manifest is a SKILL.md and the name of its folder.
type manifest struct {
	folder string
	text   []byte
}

// readReal returns the files below dir that are called SKILL.md, in the order of their paths: broken ones too, since a
// catalogue meets them.
func readReal(dir string) ([]manifest, error) {
	var all []manifest
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "SKILL.md" || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Size() > maxReal {
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			all = append(all, manifest{filepath.Base(filepath.Dir(path)), text})
		}
		return err
	})
	if err == nil && len(all) == 0 {
		err = fmt.Errorf("no SKILL.md below %q", dir)
	}
	return all, err
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

// realSkill returns copy number i of the manifests, under a name of its own: that of its folder, and of its front matter if
// that has one.
func realSkill(manifests []manifest, number int) skill {
	m := manifests[number%len(manifests)]
	front := frontOf(m.text)
	old, line := m.folder, nameLine.FindIndex(front)
	if line != nil {
		old = string(front[line[0]+len("name:") : line[1]])
	}
	old = strings.Trim(notInName.ReplaceAllString(strings.ToLower(old), "-"), "-")
	name := fmt.Sprintf("%s-%05d", strings.TrimRight("s-"+old[:min(len(old), 50)], "-"), number)
	text := string(m.text)
	if line != nil {
		ending := ""
		if bytes.HasSuffix(front[line[0]:line[1]], []byte("\r")) {
			ending = "\r"
		}
		text = text[:line[0]] + "name: " + name + ending + text[line[1]:]
	}
	return skill{name: name, files: []file{{"SKILL.md", text, 0o644}}}
}
