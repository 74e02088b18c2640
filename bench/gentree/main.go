// Command gentree writes a folder of skills for benchmarks: gentree -n 1000 -out DIR [-layout nested|clone] [-from REAL].
//
// Skill i has the same bytes on every machine and for every -n, so figures of different days and sizes are comparable.
// Its front matter has the forms of public manifests, in the same proportions. With -from, the manifests below the
// folder REAL are copied instead, repeatedly, each copy with a unique name. The layout clone is that of a repository:
// skills of plugins and of hosts, among three times as many other folders.
// Next to DIR/skills it writes names.txt, keywords.tsv (a name and its five phrases) and queries.txt.
// It refuses a DIR that already has skills.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// queries is the number of lines of queries.txt.
const queries = 1000

func main() {
	count := flag.Int("n", 1000, "number of skills")
	out := flag.String("out", "", "folder to write")
	layout := flag.String("layout", "flat", "flat: skills/NAME; nested: skills/DOMAIN/NAME; clone: as in a repository")
	from := flag.String("from", "", "copy the manifests below this folder")
	flag.Parse()
	if *out == "" || *count < 1 || flag.NArg() > 0 || placeOf[*layout] == nil {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(&options{out: *out, count: *count, layout: *layout, from: *from}); err != nil {
		fmt.Fprintln(os.Stderr, "gentree:", err)
		os.Exit(1)
	}
}

// options describe one tree to write.
type options struct {
	out    string // the folder to write
	count  int
	layout string // a key of placeOf; "" is flat
	from   string // a folder of manifests to copy; "" generates them
}

func run(o *options) error {
	maker := newSkill
	if o.from != "" {
		manifests, err := readReal(o.from)
		if err != nil {
			return err
		}
		maker = func(number int) skill { return realSkill(manifests, number) }
	}
	root := filepath.Join(o.out, "skills")
	if err := os.MkdirAll(o.out, 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(root, 0o755); err != nil {
		return err
	}
	lines, err := writeAll(root, o, maker)
	if err != nil {
		return err
	}
	var names, keywords, asked bytes.Buffer
	for _, line := range lines {
		name, _, _ := strings.Cut(line, "\t")
		fmt.Fprintln(&names, name)
		fmt.Fprintln(&keywords, line)
	}
	w := writer{rand.New(rand.NewPCG(7, 7))}
	for range queries {
		fmt.Fprintln(&asked, w.query())
	}
	for name, content := range map[string]*bytes.Buffer{"names.txt": &names, "keywords.tsv": &keywords, "queries.txt": &asked} {
		if err := os.WriteFile(filepath.Join(o.out, name), content.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// writeAll writes the skills with a few workers and returns the keywords.tsv line of each.
func writeAll(root string, o *options, maker func(int) skill) ([]string, error) {
	const workers = 4
	lines := make([]string, o.count)
	var next atomic.Int64
	var group sync.WaitGroup
	failures := make([]error, workers)
	for worker := range workers {
		group.Go(func() {
			for failures[worker] == nil {
				i := int(next.Add(1)) - 1
				if i >= o.count {
					return
				}
				s := maker(i)
				lines[i] = s.name + "\t" + strings.Join(s.keywords, "\t")
				failures[worker] = s.write(root, i, o.layout)
			}
		})
	}
	group.Wait()
	for _, err := range failures {
		if err != nil {
			return nil, err
		}
	}
	return lines, nil
}

// write writes the skill's files, each with a time derived from the skill's number.
func (s skill) write(root string, number int, layout string) error {
	dir := filepath.Join(root, s.name)
	if place := placeOf[layout]; place != nil {
		dir = filepath.Join(root, filepath.FromSlash(place(s.name, number)))
	}
	if layout == "clone" {
		if err := writeSources(filepath.Join(root, "src", s.name)); err != nil {
			return err
		}
	}
	changed := time.Date(2026, 1, 1, 0, 0, number, 0, time.UTC)
	for _, f := range s.files {
		full := filepath.Join(dir, filepath.FromSlash(f.path))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(full, []byte(f.content), f.mode); err != nil {
			return err
		}
		if err := os.Chtimes(full, changed, changed); err != nil {
			return err
		}
	}
	return nil
}
