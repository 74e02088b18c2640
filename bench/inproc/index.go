package main

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// Plain loops are slow, so they get a sample of the queries.
const loopQueries = 50

// measureMatch measures the choice of skills by their triggers, five phrases each, and for comparison a loop over all
// phrases.
func measureMatch(ctx context.Context, tree string, rounds int) error {
	c, phrases, err := openTriggers(ctx, tree)
	if err != nil {
		return err
	}
	queries, err := readLines(filepath.Join(tree, "queries.txt"))
	if err != nil {
		return err
	}
	n := len(entries(c))
	var index *disclose.Index
	builds, err := times(min(rounds, 10), func(int) error {
		index = disclose.NewIndex(c)
		return nil
	})
	if err != nil {
		return err
	}
	matches, err := times(rounds*len(queries), func(i int) error {
		index.Match(queries[i%len(queries)], nil)
		return nil
	})
	if err != nil {
		return err
	}
	found := 0
	loops, err := times(loopQueries, func(i int) error {
		for _, phrase := range phrases {
			if strings.Contains(queries[i%len(queries)], phrase) {
				found++
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	report("index-triggers", n, builds, "")
	report("match", n, matches, "")
	report("match-loop", n, loops, fmt.Sprintf("found=%d", found))
	return nil
}

// openTriggers returns a catalogue of skills with the phrases of keywords.tsv as keywords, and all phrases.
func openTriggers(ctx context.Context, tree string) (*skill.Catalog, []string, error) {
	lines, err := readLines(filepath.Join(tree, "keywords.tsv"))
	if err != nil {
		return nil, nil, err
	}
	files := fstest.MapFS{}
	var phrases []string
	for _, line := range lines {
		fields := strings.Split(line, "\t")
		phrases = append(phrases, fields[1:]...)
		manifest := fmt.Sprintf("---\nname: %s\ndescription: For triggers.\ntriggers:\n  keywords:\n    - %s\n---\n",
			fields[0], strings.Join(fields[1:], "\n    - "))
		files[fields[0]+"/SKILL.md"] = &fstest.MapFile{Data: []byte(manifest), Mode: fs.ModePerm &^ 0o111}
	}
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "bench", Source: skill.FS(files, nil)}}})
	return c, phrases, err
}

// measureSearch measures the search over names and descriptions, and for comparison a scan of them for the query's words.
func measureSearch(ctx context.Context, tree string, rounds int) error {
	c, err := open(ctx, tree)
	if err != nil {
		return err
	}
	queries, err := readLines(filepath.Join(tree, "queries.txt"))
	if err != nil {
		return err
	}
	all := entries(c)
	before := heap()
	var index *disclose.Index
	builds, err := times(min(rounds, 10), func(int) error {
		index = disclose.NewIndex(c)
		index.Search(queries[0], 10) // the first search builds the index
		return nil
	})
	if err != nil {
		return err
	}
	kept := heap() - before
	searches, err := times(rounds*len(queries), func(i int) error {
		index.Search(queries[i%len(queries)], 10)
		return nil
	})
	if err != nil {
		return err
	}
	runtime.KeepAlive(index)
	scans, err := times(loopQueries, func(i int) error {
		scan(all, queries[i%len(queries)])
		return nil
	})
	if err != nil {
		return err
	}
	report("index-search", len(all), builds, fmt.Sprintf("heap=%dB", kept))
	report("search", len(all), searches, "")
	report("search-scan", len(all), scans, "")
	return nil
}

// scan counts the words of the query in each skill's name and description, and returns the highest count.
func scan(all []skill.Entry, query string) int {
	words := strings.Fields(query)
	best := 0
	for _, e := range all {
		count := 0
		for _, word := range words {
			if strings.Contains(e.Description(), word) || strings.Contains(e.Name(), word) {
				count++
			}
		}
		best = max(best, count)
	}
	return best
}

func readLines(name string) ([]string, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var lines []string
	for s := bufio.NewScanner(f); ; {
		if !s.Scan() {
			return lines, s.Err()
		}
		lines = append(lines, s.Text())
	}
}
