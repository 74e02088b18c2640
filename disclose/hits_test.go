package disclose

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// labelled is a list of skills, and requests with the skill that each should bring up.
type labelled struct {
	Skills  []struct{ Name, Description string }
	Queries []struct{ Query, Skill string }
}

// rates returns which part of the requests in a file bring up the right skill first, and among the first three.
func rates(t *testing.T, name string) (first, third float64) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var set labelled
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
	t.Logf("first %.3f, among the first three %.3f", first/n, third/n)
	return first / n, third / n
}

// C71: of the labelled requests next to the folder that AGENT_SKILLS_CORPUS names, most bring up the right skill. The skills
// and requests are public ones, and some requests are labelled with a skill that sends them on to another one.
func TestHitRates(t *testing.T) {
	root := os.Getenv("AGENT_SKILLS_CORPUS")
	if root == "" {
		t.Skip("AGENT_SKILLS_CORPUS names no folder of real skills")
	}
	name := filepath.Join(root, "..", "search", "marketing.json")
	if _, err := os.Stat(name); err != nil {
		t.Skipf("there are no labelled requests next to AGENT_SKILLS_CORPUS: %v", err)
	}
	if first, third := rates(t, name); first < 0.70 || third < 0.90 {
		t.Errorf("%.3f first and %.3f among the first three", first, third)
	}
}

// C71: most requests in Japanese bring up the right one of 48 skills that are described in English. The requests and the
// descriptions are written for this test; the names are those of public skills.
func TestJapaneseHitRates(t *testing.T) {
	if first, third := rates(t, filepath.Join("testdata", "japanese.json")); first < 0.85 || third < 0.95 {
		t.Errorf("%.3f first and %.3f among the first three", first, third)
	}
}
