package registry_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"golang.org/x/sys/unix"

	"github.com/agent-base/agent-base/internal/test/fault"
)

func TestMain(m *testing.M) {
	if job := os.Getenv("REGISTRY_TEST_JOB"); job != "" {
		s := systems(os.Getenv("REGISTRY_TEST_DIR"))[os.Getenv("REGISTRY_TEST_DEFECT")]
		n, _ := strconv.Atoi(os.Getenv("REGISTRY_TEST_NUMBER"))
		if err := map[string]func(system, int) error{"loop": loop, "mixed": mixed}[job](s, n); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// process is this program with a job: see loop and mixed.
func process(t *testing.T, job, defect, dir string, number int) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), "REGISTRY_TEST_JOB="+job, "REGISTRY_TEST_DEFECT="+defect, "REGISTRY_TEST_DIR="+dir, "REGISTRY_TEST_NUMBER="+strconv.Itoa(number))
	c.Stderr = os.Stderr
	return c
}

// change makes the i-th change of loop.
func change(s system, i int) error {
	name := fmt.Sprintf("s%d", i%7)
	if i%3 == 2 {
		return s.remove(name)
	}
	return s.put(name, fmt.Sprintf("sha256:%064x", i))
}

// loop makes changes from the n-th on, and prints a line before the first and after each.
func loop(s system, n int) error {
	fmt.Println("ready")
	for ; ; n++ {
		if err := change(s, n); err != nil {
			return err
		}
		fmt.Println(n + 1)
	}
}

// security 2.9 #129 and #134: a process that is killed at any instant leaves the registry as it was before the change or after it.
// No change that it reported is lost, and its lock is free. A writer that writes in place is found.
func TestKilled(t *testing.T) {
	kills := 60
	if fault.Full() {
		kills = 5000
	}
	if got := killed(t, "", kills, 8*time.Millisecond); got != "" {
		t.Error(got)
	}
	if got := killed(t, "in place, slow", 400, 200*time.Millisecond); got == "" { // the first few find it
		t.Error("the defect was not found")
	}
}

// killed kills a process many times and reports what was wrong first. Each is killed at some time after a change, so that every one
// has got that far on a busy machine, too; within is how long after it at the most.
func killed(t *testing.T, defect string, kills int, within time.Duration) string {
	dir := inMemory(t)
	s := systems(dir)[defect]
	want := modelSystem{}
	n := 0 // changes that are done
	for range kills {
		c := process(t, "loop", defect, dir, n)
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(out)
		lines.Scan() // it is ready
		if rand.N(4) > 0 && lines.Scan() {
			change(want, n)
			n++
		}
		time.Sleep(rand.N(within))
		c.Process.Kill()
		for ; lines.Scan(); n++ {
			change(want, n)
		}
		c.Wait()
		got, err := s.state()
		if err != nil {
			return fmt.Sprintf("after %d changes: %v", n, err)
		}
		if !maps.Equal(got, want) {
			change(want, n) // it may be done and not reported
			if n++; !maps.Equal(got, want) {
				return fmt.Sprintf("after %d changes: got %v, want %v", n, got, want)
			}
		}
	}
	t.Logf("%d kills, %d changes", kills, n)
	return ""
}

// operation is one call of mixed, as it reports it.
type operation struct {
	Name   string            // "" lists all
	Digest string            // "" removes
	Read   bool              // of Name
	Got    map[string]string // of a read
	Call   int64             // nanoseconds of the clock that all processes share
	Return int64
}

// mixed makes calls of all kinds and reports each.
func mixed(s system, seed int) error {
	random := rand.New(rand.NewPCG(uint64(seed), 1))
	calls := 12
	if fault.Full() {
		calls = 300
	}
	out := json.NewEncoder(os.Stdout)
	for i := range calls {
		o := operation{Name: fmt.Sprintf("s%d", random.IntN(4)), Call: clock()}
		var err error
		switch random.IntN(6) {
		case 0:
			o.Name, o.Read = "", true
			o.Got, err = s.state()
		case 1:
			o.Read = true
			o.Got, err = s.state()
			maps.DeleteFunc(o.Got, func(name, _ string) bool { return name != o.Name })
		case 2:
			err = s.remove(o.Name)
		default:
			o.Digest = fmt.Sprintf("sha256:%064x", seed*1000+i)
			err = s.put(o.Name, o.Digest)
		}
		o.Return = clock()
		if err != nil {
			return err
		}
		if err := out.Encode(o); err != nil {
			return err
		}
	}
	return nil
}

func clock() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}

// security 2.9 #133 and #138: 16 processes with mixed calls see what one after the other would see, and lose nothing. A writer
// without a lock is found.
func TestLinearizable(t *testing.T) {
	if got := linearizable(t, ""); got != porcupine.Ok {
		t.Errorf("the history is %s", got)
	}
	for range 500 { // the first few find it
		if linearizable(t, "no lock") == porcupine.Illegal {
			return
		}
	}
	t.Error("the defect was not found")
}

func linearizable(t *testing.T, defect string) porcupine.CheckResult {
	dir := inMemory(t)
	var all []*exec.Cmd
	var outputs []io.ReadCloser
	for i := range 16 {
		c := process(t, "mixed", defect, dir, i)
		if defect != "" {
			c.Stderr = nil
		}
		out, err := c.StdoutPipe()
		if err == nil {
			err = c.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		all, outputs = append(all, c), append(outputs, out)
	}
	var history []porcupine.Operation
	histories := make(chan []porcupine.Operation)
	for i := range all {
		go func() { histories <- operations(i, outputs[i]) }()
	}
	for range all {
		history = append(history, <-histories...)
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			if defect != "" {
				return porcupine.Illegal // it found a damaged file
			}
			t.Fatal(err)
		}
	}
	last := operation{Read: true, Call: clock()} // nothing is lost in the end
	state, err := systems(dir)[defect].state()
	if err != nil {
		return porcupine.Illegal
	}
	last.Got, last.Return = state, clock()
	text, err := json.Marshal(last)
	if err != nil {
		t.Fatal(err)
	}
	history = append(history, operations(len(all), bytes.NewReader(text))...)
	got := porcupine.CheckOperationsTimeout(model(), history, time.Minute)
	t.Logf("defect %q: %d calls: %s", defect, len(history), got)
	return got
}

// operations reads what a process reported. A list of all skills is one read of each.
func operations(client int, out io.Reader) (list []porcupine.Operation) {
	for d := json.NewDecoder(out); ; {
		var o operation
		if d.Decode(&o) != nil {
			return list
		}
		names := []string{o.Name}
		if o.Name == "" {
			names = []string{"s0", "s1", "s2", "s3"}
		}
		for _, name := range names {
			one := o
			one.Name = name
			list = append(list, porcupine.Operation{ClientId: client, Input: one, Output: o.Got[name], Call: o.Call, Return: o.Return})
		}
	}
}

// model is a map that one caller at a time reads or changes. Its names do not depend on each other, so each has its own history,
// and the state is a digest or "".
func model() porcupine.Model {
	return porcupine.Model{
		Partition: func(history []porcupine.Operation) [][]porcupine.Operation {
			byName := map[string][]porcupine.Operation{}
			for _, o := range history {
				name := o.Input.(operation).Name
				byName[name] = append(byName[name], o)
			}
			return slices.Collect(maps.Values(byName))
		},
		Init: func() any { return "" },
		Step: func(state, input, output any) (bool, any) {
			if o := input.(operation); !o.Read {
				return true, o.Digest
			}
			return state == output, state
		},
	}
}
