package host_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/toolset/internal/host"
)

// patience is how long a test waits for an answer before it says that there is none.
const patience = 60 * time.Second

// server is a program of this package that serves toolsets of testdata.
type server struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	errors *bytes.Buffer
	done   chan struct{} // closed when the output has ended

	mu      sync.Mutex
	next    int
	waiting map[int]chan answer
	strays  []string // lines of the output that are not answers
}

// answer is a JSON-RPC answer.
type answer struct {
	ID     int             `json:"id"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int
		Message string
	} `json:"error"`
}

// result is what a tool gave: text, and an object if it was one.
type result struct {
	Content           []struct{ Type, Text string }
	StructuredContent map[string]any
	IsError           bool
}

// listing is the answer to tools/list.
type listing struct {
	Tools []struct {
		Name, Description string
		InputSchema       json.RawMessage
		Meta              map[string]string `json:"_meta"`
	}
	Meta struct {
		Failures []host.Failure `json:"agent-base/failures"`
	} `json:"_meta"`
}

// failures is the failures as text, one below the other.
func (l listing) failures() string {
	var text strings.Builder
	for _, f := range l.Meta.Failures {
		fmt.Fprintf(&text, "%s: %s %s\n  %s\n%s\n", f.Toolset, f.Kind, f.Package, f.Message, f.Trace)
	}
	return strings.ReplaceAll(strings.ReplaceAll(text.String(), " \n", "\n"), "\n\n", "\n")
}

// runtime is a program that runs toolsets, and the kind of its arguments.
type runtime struct{ kind, program string }

// start runs the entries of a skill until the test ends.
func start(t *testing.T, r runtime, skill string, entries ...string) *server {
	t.Helper()
	l := host.JavaScript
	if r.kind == "python" {
		l = host.Python
	}
	main := install(t, t.TempDir(), l)
	skill, err := filepath.Abs(skill)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, errors: &bytes.Buffer{}, done: make(chan struct{}), waiting: map[int]chan answer{}}
	s.cmd = exec.CommandContext(t.Context(), r.program, host.Args(r.kind, main, skill, 100_000, entries...)...)
	s.cmd.Env = append(os.Environ(), "AGENT_SKILL_NAME=example", "AGENT_WORKSPACE=/work space", "PYTHONPATH=/nowhere", "NO_COLOR=1")
	s.cmd.Stderr = s.errors
	s.cmd.WaitDelay = patience
	if s.in, err = s.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go s.read(out)
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *server) read(out io.Reader) {
	defer close(s.done)
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		var a answer
		switch {
		case err != nil && len(line) == 0:
			return
		case json.Unmarshal(line, &a) != nil || a.ID == 0:
			s.mu.Lock()
			s.strays = append(s.strays, string(line))
			s.mu.Unlock()
		default:
			s.mu.Lock()
			waiting := s.waiting[a.ID]
			delete(s.waiting, a.ID)
			s.mu.Unlock()
			if waiting != nil {
				waiting <- a
			}
		}
	}
}

// stop ends the input and returns what the program wrote to standard error.
func (s *server) stop() string {
	s.t.Helper()
	s.in.Close()
	select {
	case <-s.done:
	case <-time.After(patience):
		s.t.Errorf("the program did not end with its input")
		_ = s.cmd.Process.Kill()
		<-s.done
	}
	if s.cmd.ProcessState == nil {
		if err := s.cmd.Wait(); err != nil && s.t.Context().Err() == nil {
			s.t.Errorf("the program ended with %v: %s", err, s.errors)
		}
	}
	if len(s.strays) > 0 {
		s.t.Errorf("the wire has lines that are not answers: %q", s.strays)
	}
	return s.errors.String()
}

// withZod returns a copy of a skill in a folder whose node_modules has zod.
func withZod(t *testing.T, skill string) string {
	t.Helper()
	modules, err := filepath.Abs("../../../.tools/zod/node_modules")
	if err == nil {
		_, err = os.Stat(modules)
	}
	if err != nil {
		t.Skipf("zod is not there, make test installs it: %v", err)
	}
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "skill"), os.DirFS(skill)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, "skill")
}

// send writes a request and returns where its answer arrives.
func (s *server) send(method string, params any) (id int, arrives chan answer) {
	s.t.Helper()
	arrives = make(chan answer, 1)
	s.mu.Lock()
	s.next++
	id = s.next
	s.waiting[id] = arrives
	s.mu.Unlock()
	s.write(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	return id, arrives
}

func (s *server) write(message any) {
	s.t.Helper()
	line, err := json.Marshal(message)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.in.Write(append(line, '\n')); err != nil {
		s.t.Fatalf("%v: %s", err, s.errors)
	}
}

func (s *server) wait(arrives chan answer) answer {
	s.t.Helper()
	select {
	case a := <-arrives:
		return a
	case <-s.done:
		s.t.Fatalf("the program ended: %s", s.errors)
	case <-time.After(patience):
		s.t.Fatal("no answer")
	}
	return answer{}
}

func (s *server) request(method string, params any) answer {
	s.t.Helper()
	_, arrives := s.send(method, params)
	return s.wait(arrives)
}

func (s *server) list() listing {
	s.t.Helper()
	var l listing
	if err := json.Unmarshal(s.request("tools/list", nil).Result, &l); err != nil {
		s.t.Fatal(err)
	}
	return l
}

// begin starts a call, whose arguments are JSON.
func (s *server) begin(name, args string) (id int, arrives chan answer) {
	s.t.Helper()
	return s.send("tools/call", map[string]any{"name": name, "arguments": json.RawMessage(args)})
}

func (s *server) call(name, args string) result {
	s.t.Helper()
	_, arrives := s.begin(name, args)
	return s.result(s.wait(arrives))
}

// until calls a tool until it says what is expected.
func (s *server) until(name, want string) {
	s.t.Helper()
	for end := time.Now().Add(patience); ; {
		got := s.call(name, `{}`).text()
		if got == want {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("%s: got %s, want %s", name, got, want)
		}
	}
}

func (s *server) result(a answer) result {
	s.t.Helper()
	if a.Error != nil {
		s.t.Fatalf("error %d: %s", a.Error.Code, a.Error.Message)
	}
	var r result
	if err := json.Unmarshal(a.Result, &r); err != nil || len(r.Content) != 1 || r.Content[0].Type != "text" {
		s.t.Fatalf("%v: %s", err, a.Result)
	}
	return r
}

// text is what the model reads of a result, with "! " before an error.
func (r result) text() string {
	if r.IsError {
		return "! " + r.Content[0].Text
	}
	return r.Content[0].Text
}

// play runs the calls of a file. Each is a line "tool {arguments}" or "schema tool", and below it, indented, what is expected.
func (s *server) play(t *testing.T, file string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]string{}
	for _, tool := range s.list().Tools {
		schemas[tool.Name] = fmt.Sprintf("%s %s", tool.InputSchema, tool.Description)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		lines := strings.Split(strings.TrimSpace(block), "\n")
		for len(lines) > 0 && strings.HasPrefix(lines[0], "#") {
			lines = lines[1:]
		}
		if len(lines) == 0 || lines[0] == "" {
			continue
		}
		name, args, _ := strings.Cut(lines[0], " ")
		want := strings.TrimPrefix(strings.Join(lines[1:], "\n"), "  ")
		want = strings.ReplaceAll(want, "\n  ", "\n")
		got := ""
		if name == "schema" {
			got = strings.TrimSpace(schemas[args])
		} else {
			got = s.call(name, args).text()
		}
		if strings.HasPrefix(want, "! ") && !strings.Contains(want, "\n") { // a trace is compared only if one is expected
			got, _, _ = strings.Cut(got, "\n")
		}
		if got != want {
			t.Errorf("%s\n%s\ngot:\n  %s\nwant:\n  %s", file, lines[0], strings.ReplaceAll(got, "\n", "\n  "), strings.ReplaceAll(want, "\n", "\n  "))
		}
	}
}
