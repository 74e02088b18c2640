package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is a process that answers one kind of call.
type server struct {
	of  *subject
	cmd *exec.Cmd

	url    string // of a server over HTTP
	client *http.Client

	mu      sync.Mutex
	in      io.WriteCloser
	waiting map[int]chan []byte
	next    atomic.Int64
}

// start starts the server of a subject in a folder.
func start(dir string, overHTTP bool, of *subject) (*server, error) {
	v := &server{of: of, waiting: map[int]chan []byte{}}
	args := of.command[1:]
	if overHTTP {
		l, err := net.Listen("tcp", "127.0.0.1:0") // to find a free port
		if err != nil {
			return nil, err
		}
		addr := l.Addr().String()
		_ = l.Close()
		if args[0] == "serve" {
			args = append(args[:1:1], "--http")
		}
		args = append(args[:len(args):len(args)], addr)
		v.url = "http://" + addr
		v.client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	}
	v.cmd = exec.Command(of.command[0], args...)
	v.cmd.Dir, v.cmd.Env = dir, []string{"HOME=" + dir, "PATH=" + os.Getenv("PATH")}
	if overHTTP {
		return v, errors.Join(v.cmd.Start(), v.ready())
	}
	in, err := v.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := v.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	v.in = in
	if err := v.cmd.Start(); err != nil {
		return nil, err
	}
	go v.read(out)
	return v, nil
}

// ready waits until the server answers.
func (v *server) ready() error {
	var err error
	for range 100 {
		if err = v.call(); err == nil {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return err
}

func (v *server) stop() {
	if v.in != nil {
		_ = v.in.Close()
	}
	_ = v.cmd.Process.Signal(os.Interrupt)
	_ = v.cmd.Wait()
}

// measure makes calls, so many at a time.
func (v *server) measure(atOnce, calls int) (figure, error) {
	var wg sync.WaitGroup
	var left atomic.Int64
	left.Store(int64(calls))
	errs := make(chan error, atOnce)
	cpu, began := v.cpu(), time.Now()
	for range atOnce {
		wg.Go(func() {
			for left.Add(-1) >= 0 {
				if err := v.call(); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	f := figure{time.Since(began) / time.Duration(calls), (v.cpu() - cpu) / time.Duration(calls)}
	select {
	case err := <-errs:
		return f, err
	default:
		return f, nil
	}
}

// cpu returns the processor time of the server: the kernel counts it in hundredths of a second.
func (v *server) cpu() time.Duration {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", v.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// call makes one call.
func (v *server) call() error {
	id := int(v.next.Add(1))
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":%q,"io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n",
		id, v.of.tool, v.of.args, revision)
	var answer []byte
	var err error
	if v.client != nil {
		answer, err = v.post(body)
	} else {
		answer, err = v.send(id, body)
	}
	if err == nil && !bytes.Contains(answer, []byte(v.of.want)) {
		err = fmt.Errorf("the answer is %.300s", answer)
	}
	return err
}

const revision = "2026-07-28"

func (v *server) post(body []byte) ([]byte, error) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, v.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": revision,
		"Mcp-Method": "tools/call", "Mcp-Name": v.of.tool} {
		r.Header.Set(name, value)
	}
	res, err := v.client.Do(r)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	return io.ReadAll(res.Body)
}

func (v *server) send(id int, body []byte) ([]byte, error) {
	answer := make(chan []byte, 1)
	v.mu.Lock()
	v.waiting[id] = answer
	_, err := v.in.Write(body)
	v.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return <-answer, nil
}

// read gives each answer to the call with its id.
func (v *server) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		_, rest, _ := bytes.Cut(line, []byte(`"id":`))
		end := bytes.IndexAny(rest, ",}")
		id, err := strconv.Atoi(string(rest[:max(end, 0)]))
		if err != nil {
			continue
		}
		v.mu.Lock()
		if answer := v.waiting[id]; answer != nil {
			answer <- line
		}
		delete(v.waiting, id)
		v.mu.Unlock()
	}
}

// echo serves the tool that says what it was given, on stdio or at an address.
func echo(ctx context.Context, addr string) error {
	type words struct {
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "echo", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "echo"}, func(_ context.Context, _ *mcp.CallToolRequest, in words) (*mcp.CallToolResult, words, error) {
		return nil, in, nil
	})
	if addr == "" {
		return s.Run(ctx, &mcp.StdioTransport{})
	}
	h := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return s }, &mcp.StreamableHTTPOptions{Stateless: true})
	return (&http.Server{Addr: addr, Handler: h, ReadHeaderTimeout: time.Minute}).ListenAndServe()
}
