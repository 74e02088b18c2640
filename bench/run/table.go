package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// row is one line of the report: one of our figures, alone or divided by another figure of the same run.
type row struct {
	number   string // its number in docs/performance.md; A for the agent
	what     string // what was measured
	ours     string // the figure's name
	value    string // its value
	perSkill bool   // divided by the number of skills
	other    string // the figure to compare with, or ""
	target   string
}

// rows is the report. A row is printed for each size for which both figures exist.
var rows = []row{
	{"1", "discovery, warm page cache", "ours open", "min", false, "limit1 read4k", "≤ 1.0 with 2 CPUs, 1.6 with 1"},
	{"1", "", "ours open", "min", false, "eino list", ""},
	{"1", "", "ours open", "min", false, "skills-ref to_prompt", "≤ 1/400"},
	{"2", "discovery, cold page cache", "cold ours open", "min", false, "cold limit16 read4k", "≤ 1.7"},
	{"3", "refresh with nothing changed", "ours refresh", "min", false, "limit2 stat", "≤ 1.25"},
	{"5", "`agent skill list`, whole process", "agent list", "med", false, "openskills list", "≤ 1/25 at 1,000, 1/7 at 10,000"},
	{"5", "", "agent list", "med", false, "skills list", "≤ 1/150 at 1,000"},
	{"5", "", "agent list", "med", false, "limit1 read4k", ""},
	{"7", "`agent version`, whole process", "agent version", "med", false, "empty", "≤ 2.5 while no model was linked; now A1"},
	{"7", "", "agent version", "med", false, "skills version", "≤ 1/45"},
	{"7", "", "agent version", "med", false, "openskills version", ""},
	{"8", "activation, p50", "ours load", "med", false, "ours read+sha256", "≤ 1.3"},
	{"8", "", "ours load", "med", false, "eino get", "≤ 1/3"},
	{"8", "activation, p99", "ours load", "p99", false, "ours read+sha256", ""},
	{"9", "catalogue text, per skill", "ours render-harness", "min", true, "", "≤ 0.5 µs"},
	{"9", "its tokens, per skill: XML", "ours render-harness", "tokens", false, "", ""},
	{"9", "its tokens, per skill: Markdown", "ours render-markdown", "tokens", false, "", "≤ 62"},
	{"10", "heap that a catalogue keeps, per skill", "ours open", "heap", false, "", "≤ 480 B"},
	{"10", "peak memory of `agent skill list` above that of `agent version`", "agent list above", "peak", false, "", "≤ 6 MB at 1,000, 10 MB at 10,000, 60 MB at 100,000"},
	{"10", "peak memory of `agent skill list`", "agent list", "peak", false, "openskills list", ""},
	{"11", "run of a shell script, p50", "ours run-shell", "med", false, "ours bare-shell", ""},
	{"11", "run of a Python script with a dependency, warm, p50", "ours run-python", "med", false, "ours bare-python", ""},
	{"11", "", "ours run-python", "med", false, "ours uv-run", "≤ 1/2"},
	{"11", "run of a shell script in the sandbox, tier A, p50", "ours run-shell-A", "med", false, "ours run-shell", "+ 5 ms"},
	{"11", "run of a shell script in the sandbox, tier B, p50", "ours run-shell-B", "med", false, "ours run-shell", "+ 2 ms"},
	{"11", "run of a Python script in the sandbox, tier A, warm, p50", "ours run-python-A", "med", false, "ours uv-run", "≤ 0.8"},
	{"11", "run of a Python script in the sandbox, tier B, warm, p50", "ours run-python-B", "med", false, "ours uv-run", "≤ 0.8"},
	{"11", "run of a Python script with requirements.txt, warm, p50", "ours run-listed", "med", false, "ours uv-run-listed", "≤ 1/2"},
	{"11", "run of a Node script with an npm package, warm, p50", "ours run-node", "med", false, "ours bare-node", ""},
	{"11", "run of a Node script with an npm package, warm, p50", "ours run-node", "med", false, "ours npx", "≤ 1/2"},
	{"11", "help of a script without --help, p50", "ours help-described", "med", false, "ours bare-shell", ""},
	{"11", "run of a shell script, p99", "ours run-shell", "p99", false, "ours bare-shell", ""},
	{"13", "trigger match, p50", "ours match", "med", false, "ours match-loop", "≤ 1.5 µs"},
	{"13", "trigger match, p99", "ours match", "p99", false, "ours match-loop", "≤ 5 µs"},
	{"13", "building the triggers' index", "ours index-triggers", "min", false, "", "≤ 5 ms"},
	{"14", "search, p50", "ours search", "med", false, "ours search-scan", "≤ 300 µs"},
	{"14", "building the search index", "ours index-search", "min", false, "", "≤ 150 ms at 10,000"},
	{"14", "its memory", "ours index-search", "heap", false, "", "≤ 8 MB at 10,000"},
	{"14", "public requests whose skill is found first", "real ours search-hits", "first", false, "", "≥ 0.70"},
	{"14", "public requests whose skill is among the first three", "real ours search-hits", "third", false, "", "≥ 0.90"},
	{"18", "`agent skill validate`, per skill", "agent validate", "med", true, "", "≤ 15 µs"},
	{"18", "", "agent validate", "med", false, "skills-ref validate", "≤ 1/60"},
	{"18", "", "agent validate", "med", false, "limit1 read4k", ""},
	{"19", "public manifests: discovery, warm page cache", "real ours open", "min", false, "real limit1 read4k", "≤ 1.5 with 2 CPUs"},
	{"19", "public manifests: heap that a catalogue keeps, per skill", "real ours open", "heap", false, "", "≤ 900 B"},
	{"19", "public manifests: `agent skill list --json`, whole process", "real agent list", "med", false, "real limit1 readfull", "≤ 2"},
	{"19", "public manifests: `agent skill validate`, per skill", "real agent validate", "med", true, "", "≤ 40 µs"},
	{"21", "a clone of 11,000 files: discovery, warm page cache", "clone ours open", "min", false, "clone find", "≤ 2"},
	{"22", "one skill of 400 from a repository, to disk", "BenchmarkGit/one_of_400/fetch ns/op", "med", false, "BenchmarkGit/one_of_400/clone ns/op", "≤ 1/2"},
	{"22", "100 skills, 1,000 files, from a repository, to disk", "BenchmarkGit/all_of_1000_files/fetch ns/op", "med", false, "BenchmarkGit/all_of_1000_files/clone ns/op", "≤ 1"},
	{"22", "a repository that has not changed", "BenchmarkGitKnown ns/op", "med", false, "BenchmarkGit/one_of_400/clone ns/op", ""},
	{"24", "`agent skill add`, one skill of 400, whole process", "agent add one of 400", "med", false, "skills add one of 400", "≤ 1/2"},
	{"24", "", "agent add one of 400", "med", false, "git clone one of 400", ""},
	{"24", "`agent skill add --all`, 100 skills, 1,000 files, whole process", "agent add 1,000 files", "med", false, "skills add 1,000 files", "≤ 1"},
	{"24", "", "agent add 1,000 files", "med", false, "git clone 1,000 files", ""},
	{"23", "verifying the content of all skills", "ours verify", "min", false, "ours verify-read", "≤ 2"},
	{"20", "skills that `agent skill list --json` gives to a pipe", "agent count", "count", false, "openskills count", "all of them"},
	{"20", "", "agent count", "count", false, "skills count", ""},
}

// agentRows is the report on the agent.
var agentRows = []row{
	{"A1", "`agent version`, whole process", "agent version", "med", false, "empty", "≤ 10 ms"},
	{"A1", "its peak memory", "agent version", "peak", false, "empty", "≤ 40 MB"},
	{"A1", "`agent skill list`, the bundled skills, whole process", "agent list", "med", false, "empty", "≤ 10 ms"},
	{"A1", "its peak memory", "agent list", "peak", false, "empty", "≤ 40 MB"},
	{"A2", "`agent -p`, start to request, no skill", "none first", "med", false, "none first-post", ""},
	{"A2", "`agent -p`, start to request, the 4 bundled skills", "bundled first", "med", false, "bundled first-post", ""},
	{"A2", "`agent -p`, start to request, list cut to 2,000 tokens", "cut first", "med", false, "cut first-post", ""},
	{"A2", "`agent -p`, start to request, every skill listed", "all first", "med", false, "all first-post", ""},
	{"A2", "peak memory of `agent -p`, the 4 bundled skills", "bundled first-process", "peak", false, "bundled first-post-process", ""},
	{"A2", "peak memory of `agent -p`, list cut to 2,000 tokens", "cut first-process", "peak", false, "cut first-post-process", ""},
	{"A2", "peak memory of `agent -p`, every skill listed", "all first-process", "peak", false, "all first-post-process", ""},
	{"A3", "Enter to request, the 4 bundled skills, first", "bundled enter-first", "med", false, "", ""},
	{"A3", "Enter to request, the 4 bundled skills, then, p50", "bundled enter", "med", false, "bundled enter-post", ""},
	{"A3", "Enter to request, list cut to 2,000 tokens, then, p50", "cut enter", "med", false, "cut enter-post", ""},
	{"A4", "one of 200 turns, whole process, without the server's time, p50", "bundled turn", "med", false, "bundled turn-post", ""},
	{"A4", "one turn in process (`BenchmarkTurn`)", "BenchmarkTurn ns/op", "med", false, "", ""},
	{"A5", "peak memory of a conversation of 200 turns", "bundled turns-200", "peak", false, "bundled turns-1", ""},
	{"A5", "heap that 200 turns keep (`BenchmarkConversation200`)", "BenchmarkConversation200 KiB/conversation", "heap", false, "BenchmarkConversation200 KiB-said", ""},
	{"A6", "a key after an @, among 100,000 files (`BenchmarkFindNames`)", "BenchmarkFindNames ns/op", "med", false, "", "≤ 50 ms"},
}

// toolsetRows is the report on toolsets. They are compared with the smallest server of their language.
var toolsetRows = []row{
	{"T1", "start of the Python host to its tools, and its end", "BenchmarkStart/python ns/op", "med", false, "BenchmarkStart/pythonBare ns/op", "≤ 2"},
	{"T1", "start of the JavaScript host (node) to its tools, and its end", "BenchmarkStart/node ns/op", "med", false, "BenchmarkStart/nodeBare ns/op", "≤ 2"},
	{"T1", "start of the TypeScript host (bun or node 22) to its tools, and its end", "BenchmarkStart/typescript ns/op", "med", false, "BenchmarkStart/typescriptBare ns/op", "≤ 2"},
	{"T2", "one call, Python", "BenchmarkCall/python ns/op", "med", false, "BenchmarkCall/pythonBare ns/op", "≤ 2"},
	{"T2", "one call, JavaScript (node)", "BenchmarkCall/node ns/op", "med", false, "BenchmarkCall/nodeBare ns/op", "≤ 2"},
	{"T2", "one call, TypeScript (bun or node 22)", "BenchmarkCall/typescript ns/op", "med", false, "BenchmarkCall/typescriptBare ns/op", "≤ 2"},
	{"T3", "100 skills with toolsets, none used", "BenchmarkUnused ns/op", "med", false, "", "≤ 10 ms"},
}

// quoted has the figures of peers that this program cannot start.
//
//go:embed quoted.md
var quoted string

// write writes a report to the work folder and clears its notes.
func (b *bench) write(name string, rows []row, more string) error {
	var out strings.Builder
	b.print(&out, rows)
	out.WriteString(more)
	b.notes = nil
	return os.WriteFile(filepath.Join(b.work, name), []byte(out.String()), 0o644)
}

func (b *bench) print(out *strings.Builder, rows []row) {
	fmt.Fprintf(out, "%s/%s, %d CPUs, %s\n\n", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	out.WriteString("| # | figure | skills | ours | compared with | its figure | ratio | target |\n")
	out.WriteString("|---|---|--:|--:|---|--:|--:|---|\n")
	sizes := append([]int{0}, b.sizes...)
	for _, n := range []int{cloneSize, realSize} {
		if !slices.Contains(sizes, n) {
			sizes = append(sizes, n)
		}
	}
	what, last := "", []string(nil)
	for _, r := range rows {
		if r.what != "" {
			what = r.what
		}
		r.what = what
		for _, n := range sizes {
			cells := b.cells(r, n)
			if cells == nil {
				continue
			}
			line := slices.Clone(cells)
			for _, i := range repeated {
				if last != nil && cells[0] == last[0] && cells[i] == last[i] {
					line[i] = ""
				}
			}
			fmt.Fprintf(out, "| %s |\n", strings.Join(line, " | "))
			last = cells
		}
	}
	for _, note := range b.notes {
		out.WriteString("\nNot measured: " + note + ".\n")
	}
}

// repeated are the columns that are empty where the row above has the same number and says the same.
var repeated = []int{0, 1, 4, 7}

// cells returns a row for one size, or nil if a figure is missing.
func (b *bench) cells(r row, n int) []string {
	ours, ok := b.figures[key{r.ours, n}][r.value]
	if !ok {
		return nil
	}
	if r.perSkill {
		ours /= float64(n)
	}
	skills := "-"
	if n > 0 {
		skills = fmt.Sprint(n)
	}
	other, figure, ratio := "-", "-", "-"
	if r.other != "" {
		theirs, ok := b.figures[key{r.other, n}][r.value]
		if !ok || theirs == 0 {
			return nil
		}
		other, figure, ratio = r.other, amount(r.value, theirs), quotient(ours, theirs)
	}
	return []string{r.number, r.what, skills, amount(r.value, ours), other, figure, ratio, cmp.Or(r.target, "-")}
}

// amount formats a value in the unit of its name.
func amount(name string, v float64) string {
	switch name {
	case "min", "med", "p99": // milliseconds
		switch {
		case v < 0.1:
			return fmt.Sprintf("%.2f µs", v*1e3)
		case v < 1e3:
			return fmt.Sprintf("%.2f ms", v)
		}
		return fmt.Sprintf("%.2f s", v/1e3)
	case "heap": // bytes
		if v < 1e5 {
			return fmt.Sprintf("%.0f B", v)
		}
		return fmt.Sprintf("%.1f MB", v/1e6)
	case "peak": // KiB
		return fmt.Sprintf("%.1f MB", v*1024/1e6)
	case "tokens":
		return fmt.Sprintf("%.1f", v)
	case "first", "third", "tenth": // shares
		return fmt.Sprintf("%.3f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// quotient formats a ratio. A ratio far below 1 becomes a fraction, which is easier to read than decimals.
func quotient(a, b float64) string {
	if a > 0 && b/a >= 3 {
		return fmt.Sprintf("1/%.0f", b/a)
	}
	return fmt.Sprintf("%.2f", a/b)
}
