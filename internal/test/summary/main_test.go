package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// lines are events as `go test -json` prints them.
func lines(events ...[3]string) string {
	var b strings.Builder
	for _, e := range events {
		test, output := "", ""
		if e[1] != "" {
			test = fmt.Sprintf(`,"Test":%q`, e[1])
		}
		if e[0] == "output" {
			output = fmt.Sprintf(`,"Output":%q`, e[2])
		}
		fmt.Fprintf(&b, `{"Action":%q,"Package":"host/who/mod/a/b"%s%s,"Elapsed":1.5}`+"\n", e[0], test, output)
	}
	return b.String()
}

func TestReport(t *testing.T) {
	pass := [][3]string{{"run", "TestA", ""}, {"run", "TestA/x", ""}, {"output", "TestA/x", "noise\n"}, {"pass", "TestA/x", ""}, {"pass", "TestA", ""}}
	fail := [][3]string{{"run", "TestB", ""}, {"output", "TestB", "    b_test.go:3: wrong\n"}, {"fail", "TestB", ""}}
	skip := [][3]string{{"run", "TestC", ""}, {"output", "TestC", "=== RUN   TestC\n"}, {"output", "TestC", "    c_test.go:4: no python3\n"}, {"output", "TestC", "--- SKIP: TestC\n"}, {"skip", "TestC", ""}}
	counted := [3]string{"output", "", "coverage: 84.9% of statements\n"}
	for _, tt := range []struct {
		name   string
		events [][3]string
		core   string
		ok     bool
		again  string
		has    []string
		not    string
	}{
		{"all pass", append(append([][3]string{}, pass...), [3]string{"pass", "", ""}), "", true, "", []string{"ok  \thost/who/mod/a/b\t1.5s\n", "1 passed, 0 failed, 0 skipped"}, "noise"},
		{"one fails", append(append([][3]string{}, fail...), [3]string{"output", "", "FAIL\n"}, [3]string{"fail", "", ""}), "", false, "host/who/mod/a/b ^TestB$\n", []string{"b_test.go:3: wrong", "0 passed, 1 failed"}, "ok"},
		{"one below another one fails", [][3]string{{"run", "TestD", ""}, {"run", "TestD/a+b", ""}, {"fail", "TestD/a+b", ""}, {"fail", "TestD", ""}, {"fail", "", ""}}, "", false, "host/who/mod/a/b ^TestD$/^a\\+b$\n", []string{"0 passed, 2 failed"}, ""},
		{"a skipped one is named", append(append([][3]string{}, skip...), [3]string{"pass", "", ""}), "", true, "", []string{"1 tests were skipped:\n  host/who/mod/a/b TestC: c_test.go:4: no python3\n", "0 passed, 0 failed, 1 skipped"}, ""},
		{"a race is no chance", append(append([][3]string{}, fail...), [3]string{"output", "TestB", "WARNING: DATA RACE\n"}, [3]string{"fail", "", ""}), "", false, "", []string{"wrong"}, ""},
		{"a panic is no chance", append(append([][3]string{}, fail...), [3]string{"output", "", "panic: x\n"}, [3]string{"fail", "", ""}), "", false, "", []string{"panic: x"}, ""},
		{"no test is named", [][3]string{{"output", "", "exit status 2\n"}, {"fail", "", ""}}, "", false, "", []string{"exit status 2"}, ""},
		{"too little coverage", append(append([][3]string{}, pass...), counted, [3]string{"pass", "", ""}), "host/who/mod/a/b", false, "", []string{"COVERAGE: host/who/mod/a/b has 84.9 %", "coverage: 84.9%"}, ""},
		{"coverage that nobody asks for", append(append([][3]string{}, pass...), counted, [3]string{"pass", "", ""}), "", true, "", nil, "COVERAGE"},
		{"a package that was not counted", append(append([][3]string{}, pass...), counted, [3]string{"pass", "", ""}), "host/who/mod/b", false, "", []string{"COVERAGE: host/who/mod/b was not counted"}, ""},
		{"nothing was tested", nil, "", false, "", []string{"0 passed, 0 failed, 0 skipped"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			r := newReport(&out)
			if err := r.read(strings.NewReader("go: downloading x\n" + lines(tt.events...))); err != nil {
				t.Fatal(err)
			}
			again := r.again()
			ok := r.coverage(strings.Fields(tt.core), 85)
			if ok = r.end() && ok; ok != tt.ok || again != tt.again {
				t.Errorf("ok %t, again %q, want %t, %q", ok, again, tt.ok, tt.again)
			}
			for _, want := range append(tt.has, "go: downloading x\n") {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
			}
			if tt.not != "" && strings.Contains(out.String(), tt.not) {
				t.Errorf("%q is in\n%s", tt.not, out.String())
			}
		})
	}
}

// More than three failed tests are not run again.
func TestManyFailures(t *testing.T) {
	var events [][3]string
	for i := range 4 {
		events = append(events, [3]string{"fail", fmt.Sprint("Test", i), ""})
	}
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(lines(append(events, [3]string{"fail", "", ""})...))); err != nil || r.again() != "" {
		t.Errorf("%v, again %q", err, r.again())
	}
}

// The events are those that this version of the go command prints.
func TestRealEvents(t *testing.T) {
	text, err := exec.Command("go", "test", "-json", "-cover", "-vet=off", "-run", "TestManyFailures", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	r := newReport(&out)
	if err := r.read(strings.NewReader(string(text))); err != nil || !r.end() || r.passed != 1 || len(r.covered) != 1 || !r.coverage([]string{"github.com/agent-base/agent-base/internal/test/summary"}, 1) {
		t.Errorf("%v, %+v\n%s", err, r, out.String())
	}
}
