package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLine(t *testing.T) {
	name, got, err := parseLine("read4k n=1000 min=1.500ms per=1500ns peak=2048KiB\n")
	want := figure{"n": 1000, "min": 1.5, "per": 1500, "peak": 2048}
	if err != nil || name != "read4k" || !cmp.Equal(got, want) {
		t.Errorf("parseLine = %q, %v, %v, want read4k, %v", name, got, err, want)
	}
	for _, line := range []string{"", "x y", "x n=", "x n=ms"} {
		if _, _, err := parseLine(line); err == nil {
			t.Errorf("parseLine(%q) succeeded, want an error", line)
		}
	}
}

func TestPrint(t *testing.T) {
	b := &bench{sizes: []int{100, 1000}, figures: map[key]figure{
		{"ours open", 100}:            {"min": 0.09, "heap": 400},
		{"limit1 read4k", 100}:        {"min": 0.06},
		{"ours open", 1000}:           {"min": 2, "heap": 450},
		{"limit1 read4k", 1000}:       {"min": 2.5},
		{"skills-ref to_prompt", 100}: {"min": 90},
		{"agent version", 0}:          {"med": 2, "peak": 5000},
		{"empty", 0}:                  {"med": 1},
		{"agent validate", 1000}:      {"med": 12},
		{"all first", 1000}:           {"med": 40},
		{"all first-post", 1000}:      {"med": 2},
		{"BenchmarkTurn ns/op", 0}:    {"med": 0.02},
	}, notes: []string{"eino is not installed"}}
	var got string
	for _, table := range [][]row{rows, agentRows} {
		var out strings.Builder
		b.print(&out, table)
		_, body, _ := strings.Cut(out.String(), "|\n|---|---|--:|--:|---|--:|--:|---|\n")
		got += body
	}
	want := `| 1 | discovery, warm page cache | 100 | 90.00 µs | limit1 read4k | 60.00 µs | 1.50 | ≤ 1.0 with 2 CPUs, 1.6 with 1 |
|  |  | 1000 | 2.00 ms |  | 2.50 ms | 0.80 |  |
|  |  | 100 | 90.00 µs | skills-ref to_prompt | 90.00 ms | 1/1000 | ≤ 1/400 |
| 7 | ` + "`agent version`" + `, whole process | - | 2.00 ms | empty | 1.00 ms | 2.00 | ≤ 2.5 while no model was linked; now A1 |
| 10 | heap that a catalogue keeps, per skill | 100 | 400 B | - | - | - | ≤ 480 B |
|  |  | 1000 | 450 B |  | - | - |  |
| 18 | ` + "`agent skill validate`" + `, per skill | 1000 | 12.00 µs | - | - | - | ≤ 15 µs |

Not measured: eino is not installed.
| A1 | ` + "`agent version`" + `, whole process | - | 2.00 ms | empty | 1.00 ms | 2.00 | ≤ 10 ms |
| A2 | ` + "`agent -p`" + `, start to request, every skill listed | 1000 | 40.00 ms | all first-post | 2.00 ms | 20.00 | - |
| A4 | one turn in process (` + "`BenchmarkTurn`" + `) | - | 20.00 µs | - | - | - | - |

Not measured: eino is not installed.
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("print (-want +got):\n%s", diff)
	}
}

func TestReadBenchmark(t *testing.T) {
	b := &bench{figures: map[key]figure{}}
	if err := b.readBenchmark("BenchmarkTurn-2   \t  1000\t 12500 ns/op\t 2.5 KiB-said\t 7 allocs/op\n"); err != nil {
		t.Fatal(err)
	}
	for _, again := range []string{"BenchmarkTurn-2 1000 11500 ns/op 2.5 KiB-said", "BenchmarkTurn-2 1000 13500 ns/op 3 KiB-said"} {
		if err := b.readBenchmark(again); err != nil {
			t.Fatal(err)
		}
	}
	want := map[key]figure{
		{"BenchmarkTurn ns/op", 0}:     {"med": 0.0115},
		{"BenchmarkTurn KiB-said", 0}:  {"heap": 3072},
		{"BenchmarkTurn allocs/op", 0}: {"count": 7},
	}
	if diff := cmp.Diff(want, b.figures); diff != "" {
		t.Errorf("readBenchmark (-want +got):\n%s", diff)
	}
	if err := b.readBenchmark("BenchmarkTurn-2 1000 x ns/op"); err == nil {
		t.Error("readBenchmark of an invalid number succeeded, want an error")
	}
}

func TestNamed(t *testing.T) {
	names := "a-b-00001\na-b-00002\nc\n"
	for text, want := range map[string]int{
		"":                                 0,
		"a-b-00001 and a-b-00001":          1,
		"(a-b-00001)\n./skills/a-b-00002,": 2,
		"\"c\":a-b-000011 a-b-0000":        1,
	} {
		if got := named(names, text); got != want {
			t.Errorf("named(%q) = %d, want %d", text, got, want)
		}
	}
}

// The rows on public manifests do not depend on the measured sizes. Without a corpus a note replaces them.
func TestRealRows(t *testing.T) {
	b := &bench{figures: map[key]figure{}, sizes: []int{100}}
	if err := b.measureReal(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.figures[key{"real ours open", realSize}] = figure{"heap": 800}
	var out strings.Builder
	b.print(&out, rows)
	for _, want := range []string{"Not measured: real manifests", "| 19 | public manifests: heap that a catalogue keeps, per skill | 10000 | 800 B |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
}
