package skill

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// trees returns the folders of generated skills below AGENT_BENCH_TREES, by their number: each
// has skills/<name>/SKILL.md. Without the variable it makes a small one: the benchmarks run
// anywhere.
func trees(b *testing.B) map[int]string {
	b.Helper()
	out := map[int]string{}
	dir := os.Getenv("AGENT_BENCH_TREES")
	for _, n := range []int{100, 1000, 10_000, 100_000} {
		root := filepath.Join(dir, fmt.Sprint(n), "skills")
		if _, err := os.Stat(root); err == nil && dir != "" {
			out[n] = root
		}
	}
	if len(out) == 0 {
		out[100] = generated(b, 100)
	}
	return out
}

// generated writes n skills that look like those of real people.
func generated(t testing.TB, n int) string {
	t.Helper()
	files := map[string]string{}
	for i := range n {
		name := fmt.Sprintf("legacy-postgres-summarize-%05d", i)
		about := "Summarize postgres and kafka files for the legacy team."
		for len(about) < 250+i%100 {
			about += " Each new existing table of the record, by every user."
		}
		more := ""
		if i%2 == 0 {
			more = "homepage: https://example.com\nallowed-tools: [Read, Write]\nmetadata:\n  openclaw: {\"emoji\": \"x\"}\n"
		}
		if i%32 == 0 {
			more += "tags: [forms, tables]\n"
		}
		text := fmt.Sprintf("---\nname: %s\ndescription: %s\nlicense: MIT\nversion: 1.%d.0\n%s---\n# Text\n", name, about, i%9, more)
		files[name+"/SKILL.md"] = text
	}
	return disk(t, t.TempDir(), files)
}

func bySize(b *testing.B, f func(b *testing.B, root string)) {
	sets := trees(b)
	for _, n := range slices.Sorted(maps.Keys(sets)) {
		b.Run(fmt.Sprint(n), func(b *testing.B) { f(b, sets[n]) })
	}
}

// BenchmarkOpen is the first discovery of a folder.
func BenchmarkOpen(b *testing.B) {
	bySize(b, func(b *testing.B, root string) {
		b.ReportAllocs()
		best := time.Hour
		for b.Loop() {
			start := time.Now()
			onDir(b, root)
			best = min(best, time.Since(start))
		}
		b.ReportMetric(float64(best.Microseconds())/1000, "min-ms")
	})
}

// BenchmarkRefresh is a discovery in which nothing changed.
func BenchmarkRefresh(b *testing.B) {
	bySize(b, func(b *testing.B, root string) {
		c := onDir(b, root)
		b.ReportAllocs()
		best := time.Hour
		for b.Loop() {
			start := time.Now()
			if n, err := c.Refresh(b.Context()); n != c {
				b.Fatal("changed", err)
			}
			best = min(best, time.Since(start))
		}
		b.ReportMetric(float64(best.Microseconds())/1000, "min-ms")
	})
}

// BenchmarkLoad opens skills at random, and for comparison only reads and hashes the same files.
func BenchmarkLoad(b *testing.B) {
	bySize(b, func(b *testing.B, root string) {
		c := onDir(b, root)
		var entries []Entry
		for e := range c.All() {
			entries = append(entries, e)
		}
		p50 := map[string]float64{}
		measure := func(name string, f func(e Entry)) {
			b.Run(name, func(b *testing.B) {
				r := rand.New(rand.NewPCG(1, 2))
				var took []time.Duration
				for b.Loop() {
					e := entries[r.IntN(len(entries))]
					start := time.Now()
					f(e)
					took = append(took, time.Since(start))
				}
				slices.Sort(took)
				p50[name] = float64(took[len(took)/2].Nanoseconds())
				b.ReportMetric(p50[name], "p50-ns")
				b.ReportMetric(float64(took[len(took)*99/100].Nanoseconds()), "p99-ns")
			})
		}
		measure("read+sha256", func(e Entry) {
			text, err := os.ReadFile(root + "/" + e.Path() + "/SKILL.md")
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(text)
		})
		measure("Load", func(e Entry) {
			s, err := e.Load(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			s.Close()
		})
		measure("Load+Manifest+sha256", func(e Entry) {
			s, err := e.Load(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			sha256.Sum256(s.Text())
			s.Manifest()
			s.Close()
		})
	})
}

// A skill costs at most 600 bytes of heap beyond nothing at all, also where half of them have three warnings each.
func TestMemory(t *testing.T) {
	root := generated(t, 1000)
	if dir := os.Getenv("AGENT_BENCH_TREES"); dir != "" {
		root = filepath.Join(dir, "1000", "skills")
	}
	c := onDir(t, root)
	each := int64(1 << 40)
	for range 3 { // what the readers share out differs: the least of three
		c = nil
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		c = onDir(t, root)
		runtime.GC()
		runtime.ReadMemStats(&after)
		each = min(each, (int64(after.HeapAlloc)-int64(before.HeapAlloc))/int64(c.Len()))
	}
	text := 0
	for e := range c.All() {
		text += len(e.Description()) + len(e.Path())
	}
	t.Logf("%d bytes each, %d of them path and description", each, text/c.Len())
	if each > 600 {
		t.Errorf("a skill takes %d bytes, at most 600 are wanted", each)
	}
	runtime.KeepAlive(c)
}
