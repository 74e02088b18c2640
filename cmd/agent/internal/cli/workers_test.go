package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// serverSaid has what the server of mcpCall prints to stderr.
var serverSaid lockedBuffer

type lockedBuffer struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// background makes a call of mcpCall while other things are done.
type background struct {
	c      *mcp.ClientSession
	server *exec.Cmd
	cancel context.CancelFunc
	done   chan bool
	below  []int // processes that were seen below the server
}

// do does what a word of mcpCall says, and reports whether it is one of these:
//   - begin calls script_run with the arguments in the background, and waits until a file slow.sh runs
//   - end waits for its result, cancel takes it back
//   - stop asks the workers to end, kill kills the workers or the server
//   - says waits until the server has said something
//   - until calls script_run until a result has a text
//   - note notes the processes below the workers, gone waits until none is left of those that were noted or killed
func (b *background) do(ctx context.Context, what, arg string) bool {
	switch what {
	case "begin":
		b.done = make(chan bool)
		call, cancel := context.WithCancel(ctx)
		b.cancel = cancel
		go func() { printCall(call, b.c, "script_run", arg); close(b.done) }()
		within("the script begins", func() bool { return slices.ContainsFunc(below(b.server.Process.Pid), slow) })
	case "says":
		within("the server says "+arg, func() bool { return strings.Contains(serverSaid.String(), arg) })
	case "end":
		<-b.done
	case "cancel":
		b.cancel()
		<-b.done
	case "kill":
		children := children(b.server.Process.Pid)
		b.below = below(b.server.Process.Pid)
		if arg == "server" {
			children = []int{b.server.Process.Pid}
		}
		for _, one := range children {
			p, err := os.FindProcess(one)
			exitOn(err)
			exitOn(p.Kill())
		}
	case "stop":
		for _, one := range children(b.server.Process.Pid) {
			p, err := os.FindProcess(one)
			exitOn(err)
			exitOn(p.Signal(syscall.SIGTERM))
		}
	case "until":
		text, args, _ := strings.Cut(arg, " ")
		within("a result has "+text, func() bool {
			r, err := b.c.CallTool(ctx, &mcp.CallToolParams{Name: "script_run", Arguments: json.RawMessage(args)})
			return err == nil && strings.Contains(fmt.Sprint(r.Content[0].(*mcp.TextContent).Text), text)
		})
		fmt.Println("until:", text)
	case "note":
		b.below = nil
		for _, one := range children(b.server.Process.Pid) {
			b.below = append(b.below, below(one)...)
		}
	case "gone":
		within("processes end", func() bool { return !slices.ContainsFunc(b.below, lives) })
		fmt.Println("gone:", len(b.below) > 0)
	default:
		return false
	}
	return true
}

// within waits for something, and ends the program if it takes too long.
func within(what string, is func() bool) {
	for range 600 {
		if is() {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	exitOn(fmt.Errorf("it takes too long until %s", what))
}

// lives reports whether a process is there and no zombie.
func lives(pid int) bool {
	state, _ := stat(pid)
	return state != "" && state != "Z"
}

// stat returns the state of a process and its parent, see proc(5).
func stat(pid int) (state string, parent int) {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	fields := strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))
	if len(fields) < 2 {
		return "", 0
	}
	parent, _ = strconv.Atoi(fields[1])
	return fields[0], parent
}

// slow reports whether a process runs a file slow.sh.
func slow(pid int) bool {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	return strings.Contains(string(b), "/scripts/slow.sh")
}

// below returns the children of a process, and theirs.
func below(pid int) (out []int) {
	for _, one := range children(pid) {
		out = append(append(out, one), below(one)...)
	}
	return out
}

func children(pid int) (out []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range all {
		one, _ := strconv.Atoi(filepath.Base(dir))
		if state, parent := stat(one); parent == pid && state != "Z" {
			out = append(out, one)
		}
	}
	return out
}
