package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"testing/fstest"

	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/skill"
)

// labelled is a set of skills and of requests that are each for one of them.
type labelled struct {
	Skills []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"skills"`
	Queries []struct {
		Query string `json:"query"`
		Skill string `json:"skill"`
	} `json:"queries"`
}

// measureHits reports how often the search puts the right skill first for the requests in a file, among the first three
// and among the first ten.
func measureHits(ctx context.Context, file string, _ int) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var set labelled
	if err := json.Unmarshal(text, &set); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	files := fstest.MapFS{}
	for _, s := range set.Skills {
		manifest := fmt.Sprintf("---\nname: %q\ndescription: %q\n---\n", s.Name, s.Description)
		files[s.Name+"/SKILL.md"] = &fstest.MapFile{Data: []byte(manifest), Mode: fs.ModePerm &^ 0o111}
	}
	c, err := skill.Open(ctx, &skill.Options{Layers: []skill.Layer{{Name: "bench", Source: skill.FS(files, nil)}}})
	if err != nil {
		return err
	}
	index := disclose.NewIndex(c)
	var upTo [11]float64 // shares by place
	for _, q := range set.Queries {
		for i, h := range index.Search(q.Query, 10) {
			if h.Entry.Name() == q.Skill {
				for place := i + 1; place < len(upTo); place++ {
					upTo[place] += 1 / float64(len(set.Queries))
				}
			}
		}
	}
	fmt.Printf("search-hits queries=%d first=%.3f third=%.3f tenth=%.3f\n", len(set.Queries), upTo[1], upTo[3], upTo[10])
	return nil
}
