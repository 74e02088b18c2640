package disclose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// C71: of the labelled requests next to the folder that AGENT_SKILLS_CORPUS names, most bring up the right skill. The skills
// and requests are public ones, and some requests are labelled with a skill that sends them on to another one.
func TestHitRates(t *testing.T) {
	root := os.Getenv("AGENT_SKILLS_CORPUS")
	if root == "" {
		t.Skip("AGENT_SKILLS_CORPUS names no folder of real skills")
	}
	data, err := os.ReadFile(filepath.Join(root, "..", "search", "marketing.json"))
	if err != nil {
		t.Skipf("there are no labelled requests next to AGENT_SKILLS_CORPUS: %v", err)
	}
	var set struct {
		Skills  []struct{ Name, Description string }
		Queries []struct{ Query, Skill string }
	}
	if err := json.Unmarshal(data, &set); err != nil {
		t.Fatal(err)
	}
	var files []file
	for _, s := range set.Skills {
		text, err := json.Marshal(s.Description)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file{name: s.Name, desc: string(text)})
	}
	x := NewIndex(catalog(t, files...))
	first, third := 0, 0
	for _, q := range set.Queries {
		for i, h := range x.Search(q.Query, 3) {
			if h.Entry.Name() == q.Skill {
				third++
				if i == 0 {
					first++
				}
			}
		}
	}
	n := float64(len(set.Queries))
	t.Logf("first %.3f, among the first three %.3f", float64(first)/n, float64(third)/n)
	if float64(first)/n < 0.70 || float64(third)/n < 0.90 {
		t.Errorf("%d first and %d among the first three, of %d", first, third, len(set.Queries))
	}
}
