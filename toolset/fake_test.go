package toolset

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// fakeArg makes the test binary a server: fakeArg MODE.
const fakeArg = "-fake-server"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == fakeArg {
		(&fake{mode: os.Args[2], args: os.Args[3:]}).serve()
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

// fake is a server whose mode says what it does wrong.
type fake struct {
	mode      string
	args      []string
	mu        sync.Mutex
	out       *bufio.Writer
	cancelled int
	stuck     bool
}

type fakeRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
		RequestID json.RawMessage `json:"requestId"`
		Meta      struct {
			Token json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	} `json:"params"`
}

func (f *fake) serve() {
	f.out = bufio.NewWriter(os.Stdout)
	switch f.mode {
	case "crash":
		fmt.Fprintln(os.Stderr, "SyntaxError: this is wrong")
		os.Exit(3)
	case "hang":
		fmt.Fprintln(os.Stderr, "importing for ever")
		select {}
	case "flood":
		f.flood(os.Stdout, "noise that is no message\n")
	}
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var r fakeRequest
		if json.Unmarshal(line, &r) == nil {
			f.answer(&r)
		}
	}
}

// flood writes a text until nobody reads it.
func (f *fake) flood(to *os.File, text string) {
	block := []byte(strings.Repeat(text, 1000))
	for {
		if _, err := to.Write(block); err != nil {
			os.Exit(1)
		}
	}
}

func (f *fake) say(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.out.WriteString(text + "\n")
	f.out.Flush()
}

func (f *fake) reply(id json.RawMessage, result string) {
	f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (f *fake) answer(r *fakeRequest) {
	switch r.Method {
	case "server/discover": // which older servers do not know
		f.say(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, r.ID))
	case "initialize":
		f.reply(r.ID, `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}`)
	case "ping":
		if !f.stuck {
			f.reply(r.ID, `{}`)
		}
	case "notifications/cancelled":
		f.cancelled++
	case "tools/list":
		f.list(r)
	case "tools/call":
		if !f.stuck {
			f.call(r)
		}
	}
}

func (f *fake) list(r *fakeRequest) {
	var tools []string
	for _, name := range []string{"echo", "pid", "exit", "never", "flood", "huge", "text", "fail", "stray", "env", "cancelled", "stick", "fork", "deaf", "large", "mute", "slow"} {
		about := "does " + name
		if f.mode == "changes" && name == "echo" {
			about = fmt.Sprintf("does %s since %d", name, time.Now().UnixNano())
		}
		tools = append(tools, fmt.Sprintf(`{"name":%q,"description":%q,"inputSchema":{"type":"object"}}`, name, about))
	}
	f.reply(r.ID, `{"tools":[`+strings.Join(tools, ",")+`]}`)
}

func (f *fake) call(r *fakeRequest) {
	text := func(s string) {
		b, _ := json.Marshal(s)
		f.reply(r.ID, fmt.Sprintf(`{"content":[{"type":"text","text":%s}]}`, b))
	}
	switch r.Params.Name {
	case "echo":
		text(string(r.Params.Arguments))
	case "pid":
		text(fmt.Sprintf(`{"pid":%d}`, os.Getpid()))
	case "exit":
		fmt.Fprintln(os.Stderr, "leaving")
		os.Exit(7)
	case "mute":
		os.Stdout.Close()
		fmt.Fprintln(os.Stderr, "going on")
		select {}
	case "never":
	case "flood":
		f.flood(os.Stdout, "noise that is no message\n")
	case "huge": // 100 MB
		f.mu.Lock()
		defer f.mu.Unlock()
		fmt.Fprintf(f.out, `{"result":{"content":[{"type":"text","text":"`)
		for range 100 {
			f.out.Write(bytes.Repeat([]byte("x"), 1_000_000))
		}
		fmt.Fprintf(f.out, `"}]},"jsonrpc":"2.0","id":%s}`+"\n", r.ID)
		f.out.Flush()
	case "large":
		text(strings.Repeat("x", 2<<20))
	case "cancelled":
		text(fmt.Sprint(f.cancelled))
	case "stick":
		f.stuck = true
		text("from now on")
	case "deaf": // it reads no more
		text("I do not listen")
		select {}
	case "fork":
		f.fork(text)
	case "text":
		text("plain words")
	case "slow":
		f.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"call-99","progress":1,"message":"stranger"}}`)
		if token := r.Params.Meta.Token; token != nil {
			f.say(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2,"message":"half"}}`, token))
		}
		text("done")
	case "fail":
		f.reply(r.ID, `{"content":[{"type":"text","text":"it broke"}],"isError":true}`)
	case "stray":
		f.say("print() of a library")
		text(`{"success":true,"result":1,"message":"done"}`)
	case "env":
		b, _ := json.Marshal(strings.Join(os.Environ(), "\n"))
		text(string(b))
	}
}

// fork starts processes that live on, and says their numbers.
func (f *fake) fork(text func(string)) {
	var pids []int
	for range 3 {
		child := exec.Command(os.Args[0], fakeArg, "hang")
		if err := child.Start(); err != nil {
			break
		}
		pids = append(pids, child.Process.Pid)
	}
	b, _ := json.Marshal(pids)
	text(string(b))
}
