package disclose

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/skill"
)

// tree is what a benchmark works on: skills, queries and, for triggers, skills with keywords.
type tree struct {
	name     string
	skills   *skill.Catalog
	keywords *skill.Catalog
	queries  []string
}

// trees returns the trees of AGENT_BENCH_TREES, a folder with sub-folders 100, 1000 and 10000 as
// bench/gentree makes them; without it a small one made here.
func trees(b *testing.B) []tree {
	b.Helper()
	dir := os.Getenv("AGENT_BENCH_TREES")
	if dir == "" {
		b.Log("AGENT_BENCH_TREES is not set: 200 skills made here")
		c := catalog(b, synthetic(200)...)
		return []tree{{"200", c, c, []string{"please merge pdf files and sync the weather", "plan recipe for a team"}}}
	}
	var out []tree
	for _, n := range []string{"100", "1000", "10000"} {
		root := filepath.Join(dir, n)
		if _, err := os.Stat(root); err != nil {
			continue
		}
		out = append(out, tree{
			name: n, skills: open(b, skill.Layer{Name: "project", Source: skill.Dir(filepath.Join(root, "skills"), nil)}),
			keywords: withKeywords(b, readLines(b, filepath.Join(root, "keywords.tsv"))),
			queries:  readLines(b, filepath.Join(root, "queries.txt")),
		})
	}
	return out
}

func withKeywords(b *testing.B, lines []string) *skill.Catalog {
	var files []file
	for _, l := range lines {
		name, words, _ := strings.Cut(l, "\t")
		files = append(files, file{name: name, front: "triggers:\n  keywords:\n    - " + strings.ReplaceAll(words, "\t", "\n    - ") + "\n"})
	}
	return catalog(b, files...)
}

func readLines(b *testing.B, path string) []string {
	b.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	return strings.Split(strings.TrimSpace(string(data)), "\n")
}

func BenchmarkRender(b *testing.B) {
	for _, tr := range trees(b) {
		for _, s := range []Style{Harness, Wink, Tool, Registry} {
			b.Run(tr.name+"/"+string(s), func(b *testing.B) {
				n := len(NewIndex(tr.skills).entries)
				for b.Loop() {
					render(b, tr.skills, &Options{Style: s})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/skill")
			})
		}
	}
}

// Of 118 tokens that a skill takes: what cuts descriptions, what leaves names and briefs, what leaves names, and what
// the agent gives to all.
func BenchmarkBudget(b *testing.B) {
	for _, tr := range trees(b) {
		n := len(NewIndex(tr.skills).entries)
		for _, budget := range []int{90 * n, 50 * n, 10 * n, 2000} {
			b.Run(tr.name+"/"+strconv.Itoa(budget), func(b *testing.B) {
				for b.Loop() {
					render(b, tr.skills, &Options{Budget: budget})
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/skill")
			})
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, tr := range trees(b) {
		b.Run(tr.name+"/triggers", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewIndex(tr.keywords)
			}
		})
		b.Run(tr.name+"/words", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				NewIndex(tr.skills).words()
			}
		})
	}
}

func BenchmarkMatch(b *testing.B) {
	for _, tr := range trees(b) {
		x := NewIndex(tr.keywords)
		o := &MatchOptions{Recent: []string{x.entries[0].Name(), x.entries[len(x.entries)/2].Name()}}
		b.Run(tr.name, func(b *testing.B) {
			b.ReportAllocs()
			i, hits := 0, 0
			for b.Loop() {
				hits += len(x.Match(tr.queries[i%len(tr.queries)], o))
				i++
			}
			b.ReportMetric(float64(hits)/float64(b.N), "hits/op")
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, tr := range trees(b) {
		x := NewIndex(tr.skills)
		x.words()
		b.Run(tr.name, func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				x.Search(tr.queries[i%len(tr.queries)], 10)
				i++
			}
		})
		b.Run(tr.name+"/typo", func(b *testing.B) {
			i := 0
			for b.Loop() {
				x.Search("qeury "+strconv.Itoa(i%10), 10)
				i++
			}
		})
		b.Run(tr.name+"/chinese", func(b *testing.B) {
			for b.Loop() {
				x.Search("帮我把这份市场报告翻译成英文，然后转换成演示文稿", 10)
			}
		})
	}
}

func BenchmarkTokens(b *testing.B) {
	text := ourDescription
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Tokens(text)
	}
}

var ourDescription = strings.Repeat("Reads each invoice, checks what is in it against the budget and writes a short summary. ", 40)
