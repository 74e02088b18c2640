// Command summary reads what `go test -json` prints and says what matters: the packages, the output of failed tests, the tests that
// were skipped, and why, and the coverage of packages that need some.
//
//	go test -json ./... | summary [-core "PACKAGE..." -least PERCENT] [-again FILE]
//
// Its exit code is 1 if a test failed, if nothing was tested, or if a package of -core has too little coverage. It writes to FILE the tests
// that may be run once more: each line has a package and a pattern for its tests. FILE is empty where a second run would prove nothing.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	core := flag.String("core", "", "packages that need coverage")
	least := flag.Float64("least", 85, "the coverage that each needs, in percent")
	again := flag.String("again", "", "file for the tests that may be run once more")
	flag.Parse()
	r := newReport(os.Stdout)
	err := r.read(os.Stdin)
	enough := r.coverage(strings.Fields(*core), *least)
	r.hopeless = r.hopeless || !enough
	if err == nil && *again != "" {
		err = os.WriteFile(*again, []byte(r.again()), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "summary:", err)
		os.Exit(1)
	}
	if !r.end() || !enough {
		os.Exit(1)
	}
}

// event is a line of `go test -json`.
type event struct {
	Action, Package, ImportPath, Test, Output string

	Elapsed float64
}

// key names a test, or with Test "" a package.
type key struct{ Package, Test string }

// report collects events.
type report struct {
	out                    io.Writer
	output                 map[key][]string
	covered                map[string]float64 // percent, by package
	failed                 map[string][]string
	packages               []string // that failed
	skipped                []skipped
	passed, broken, tested int
	hopeless               bool // a second run would prove nothing
	parents                map[key]bool
}

type skipped struct {
	key
	reason string
}

func newReport(out io.Writer) *report {
	return &report{out: out, output: map[key][]string{}, covered: map[string]float64{}, failed: map[string][]string{}, parents: map[key]bool{}}
}

// read reads events until the input ends. A line that is none is printed as it is.
func (r *report) read(in io.Reader) error {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadString('\n')
		var e event
		if strings.HasPrefix(line, "{") && json.Unmarshal([]byte(line), &e) == nil {
			r.add(&e)
		} else {
			fmt.Fprint(r.out, line)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (r *report) add(e *event) {
	k := key{e.Package, e.Test}
	switch e.Action {
	case "output":
		r.say(k, e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "build-fail":
		r.hopeless = true
	case "run":
		if i := strings.LastIndex(e.Test, "/"); i >= 0 {
			r.parents[key{e.Package, e.Test[:i]}] = true
		}
	case "pass", "fail", "skip":
		if e.Test == "" {
			r.packageEnds(e)
		} else {
			r.testEnds(e.Action, k)
		}
		delete(r.output, k)
	}
}

// signs begin a line of output that chance does not excuse.
var signs = []string{"WARNING: DATA RACE", "panic: ", "fatal error: "}

// say keeps a line of output.
func (r *report) say(k key, text string) {
	r.output[k] = append(r.output[k], text)
	r.hopeless = r.hopeless || slices.ContainsFunc(signs, func(sign string) bool { return strings.HasPrefix(text, sign) })
	var percent float64
	if n, _ := fmt.Sscanf(text, "coverage: %f%% of statements", &percent); n == 1 && k.Test == "" {
		r.covered[k.Package] = percent
	}
}

func (r *report) testEnds(action string, k key) {
	switch action {
	case "skip":
		r.skipped = append(r.skipped, skipped{k, reason(r.output[k])})
	case "fail":
		fmt.Fprint(r.out, strings.Join(r.output[k], ""))
		r.broken++
		below := func(name string) bool { return strings.HasPrefix(name, k.Test+"/") }
		if !slices.ContainsFunc(r.failed[k.Package], below) { // else it is run with those
			r.failed[k.Package] = append(r.failed[k.Package], k.Test)
		}
	case "pass":
		if !r.parents[k] {
			r.passed++
		}
	}
}

// reason returns what a test that is skipped says.
func reason(output []string) string {
	said := ""
	for _, line := range output {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "=== ") || strings.HasPrefix(line, "--- ") || strings.HasPrefix(line, "WORK=") {
			continue
		}
		said = line
	}
	return cmp.Or(said, "no reason given")
}

func (r *report) packageEnds(e *event) {
	r.tested++
	switch {
	case e.Action == "fail":
		fmt.Fprint(r.out, strings.Join(r.output[key{Package: e.Package}], ""))
		r.packages = append(r.packages, e.Package)
		if len(r.failed[e.Package]) == 0 {
			r.hopeless = true // it did not build, or ended without a word
		}
	case e.Action == "pass":
		percent, counted := r.covered[e.Package]
		if fmt.Fprintf(r.out, "ok  \t%s\t%.1fs", e.Package, e.Elapsed); counted {
			fmt.Fprintf(r.out, "\tcoverage: %.1f%%", percent)
		}
		fmt.Fprintln(r.out)
	}
}

// mostAgain is the most tests that are run once more. Where more fail, it is not chance.
const mostAgain = 3

// again returns the tests that may be run once more: a line for each package, with the value of -run.
func (r *report) again() string {
	n, text := 0, ""
	for _, p := range r.packages {
		n += len(r.failed[p])
		var patterns []string
		for _, name := range r.failed[p] {
			patterns = append(patterns, "^"+strings.ReplaceAll(regexp.QuoteMeta(name), "/", "$/^")+"$")
		}
		text += p + " " + strings.Join(patterns, "|") + "\n"
	}
	if r.hopeless || n > mostAgain {
		return ""
	}
	return text
}

// coverage prints the packages that have too little, and reports whether there is none.
func (r *report) coverage(core []string, least float64) bool {
	enough := true
	for _, p := range core {
		switch percent, counted := r.covered[p]; {
		case !counted:
			fmt.Fprintf(r.out, "COVERAGE: %s was not counted\n", p)
			enough = false
		case percent < least:
			fmt.Fprintf(r.out, "COVERAGE: %s has %.1f %% of its statements tested, and needs %.0f %%\n", p, percent, least)
			enough = false
		}
	}
	return enough
}

// end prints the tests that were skipped and the numbers, and reports whether all tests passed.
func (r *report) end() bool {
	if len(r.skipped) > 0 {
		fmt.Fprintf(r.out, "%d tests were skipped:\n", len(r.skipped))
	}
	for _, s := range r.skipped {
		fmt.Fprintf(r.out, "  %s %s: %s\n", s.Package, s.Test, s.reason)
	}
	fmt.Fprintf(r.out, "%d passed, %d failed, %d skipped\n", r.passed, r.broken, len(r.skipped))
	return r.tested > 0 && len(r.packages) == 0
}
