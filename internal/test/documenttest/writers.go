package documenttest

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/document"
)

// Of Writers: how many processes there are at a time, with how many writers each, how many changes a writer makes, and how often a
// process is killed.
const (
	processes = 8
	writers   = 8
	changes   = 4
	kills     = 3 // of each process; the last one lives
)

// padding makes the document so large that kills hit its writing.
var padding = strings.Repeat(" ", 200)

const job = "DOCUMENTTEST_JOB"

// Main runs the writers of a process that Writers started, and ends it. It returns in any other process.
func Main(open Open) {
	place, name, ok := strings.Cut(os.Getenv(job), "\n")
	if !ok {
		return
	}
	var all sync.WaitGroup
	for w := range writers {
		all.Go(func() {
			s := open(place, nil)
			for i := range changes {
				line := fmt.Sprintf("%s.%d %d", name, w, i)
				text := line + padding + "\n"
				err := s.Transform(context.Background(), document.Plain(func(old []byte) ([]byte, error) { return append(old, text...), nil }))
				if err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
				fmt.Println(line)
			}
		})
	}
	all.Wait()
	os.Exit(0)
}

// Writers lets 64 writers of eight processes change one document, kills the processes at any time, and says what was wrong with it
// afterwards: each change that was reported is there once, and of others at most the last one of a writer that was killed.
func Writers(t *testing.T, place string, open Open) (wrong string) {
	var mu sync.Mutex
	var all sync.WaitGroup
	reported := map[string]bool{}
	for p := range processes {
		all.Go(func() {
			for generation := range kills + 1 {
				for _, line := range process(t, place, fmt.Sprintf("%d.%d", p, generation), generation < kills) {
					mu.Lock()
					reported[line] = true
					mu.Unlock()
				}
			}
		})
	}
	done := make(chan bool)
	go func() { all.Wait(); close(done) }()
	reader := open(place, nil)
	for last := 0; ; {
		content, err := reader.Load(t.Context())
		if err != nil || len(content) > 0 && !bytes.HasSuffix(content, []byte("\n")) || len(content) < last {
			wrong = fmt.Sprintf("a reader found %d bytes after %d, %v", len(content), last, err)
		}
		last = len(content)
		select {
		case <-done:
			content, err := reader.Load(t.Context())
			if err != nil {
				return err.Error()
			}
			if found := check(string(content), reported); found != "" {
				return found
			}
			return wrong
		case <-time.After(time.Millisecond):
		}
	}
}

// process starts a process with a name, kills it some time after its first change or lets it end, and returns what it reported.
func process(t *testing.T, place, name string, kill bool) (lines []string) {
	self, err := os.Executable()
	if err != nil {
		t.Error(err)
		return nil
	}
	c := exec.CommandContext(t.Context(), self)
	c.Env = append(os.Environ(), job+"="+place+"\n"+name)
	c.Stderr = os.Stderr
	out, err := c.StdoutPipe()
	if err == nil {
		err = c.Start()
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	for in := bufio.NewScanner(out); in.Scan(); {
		if lines = append(lines, in.Text()); kill && len(lines) == 1 {
			time.AfterFunc(rand.N(30*time.Millisecond), func() { c.Process.Kill() })
		}
	}
	if err := c.Wait(); err != nil && !kill {
		t.Errorf("process %s: %v", name, err)
	}
	return lines
}

// check compares the lines of the document with those that were reported.
func check(content string, reported map[string]bool) string {
	count, unreported := map[string]int{}, map[string]int{}
	for line := range strings.Lines(content) {
		line = strings.TrimRight(line, " \n")
		if count[line]++; count[line] > 1 {
			return "twice: " + line
		}
		writer, n, _ := strings.Cut(line, " ")
		if i, err := strconv.Atoi(n); err != nil || i > 0 && count[writer+" "+strconv.Itoa(i-1)] == 0 {
			return "out of order: " + line
		}
		if !reported[line] {
			unreported[writer]++
		}
		if unreported[writer] > 1 {
			return "was not reported: " + line
		}
	}
	for line := range reported {
		if count[line] == 0 {
			return "lost: " + line
		}
	}
	return ""
}
