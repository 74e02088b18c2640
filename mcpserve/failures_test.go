package mcpserve

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// security 2.13 #182, 2.14 #188: what one tenant was given is nothing at another, also for the same person and with the same key.
func TestTenantsApart(t *testing.T) {
	w := newWorld(t, map[string]string{"greet/SKILL.md": greet["greet/SKILL.md"], "notes/SKILL.md": greet["notes/SKILL.md"],
		"big/SKILL.md": "---\nname: big\ndescription: Prints much.\n---\nBody\n", "big/scripts/much.sh": "#!/bin/sh\nhead -c 100000 /dev/zero | tr '\\0' x\n"})
	w.o.Key = []byte(strings.Repeat("k", 32))
	servers := map[string]*Server{}
	for _, tenant := range []string{"", "acme", "corp"} {
		o := *w.o
		o.Tenant, o.Limits.Calls = tenant, 1
		s, err := New(&o)
		if err != nil {
			t.Fatal(err)
		}
		servers[tenant] = s
	}
	verify := func(_ context.Context, token string) (*Caller, error) {
		if token == "stranger" {
			return nil, fmt.Errorf("%w: and the client must not read this", ErrStranger)
		}
		return &Caller{Subject: "ada", Server: servers[token]}, nil
	}
	listener := httptest.NewServer(servers[""].Handler(&HTTPOptions{Verify: verify}))
	t.Cleanup(listener.Close)
	clients := map[string]*mcp.ClientSession{}
	for _, token := range []string{"acme", "corp", "none"} {
		c, err := dial(t, listener.URL, token, "")
		if err != nil {
			t.Fatal(err)
		}
		clients[token] = c
	}
	if _, err := dial(t, listener.URL, "stranger", ""); err == nil || !strings.Contains(err.Error(), "Forbidden") || strings.Contains(err.Error(), "must not") {
		t.Errorf("a stranger: %v", err)
	}
	handle := call(t, clients["acme"], "skill", map[string]any{"skill_name": "greet"}).Metadata.Session
	r, err := clients["acme"].CallTool(t.Context(), &mcp.CallToolParams{Name: "script_run", Arguments: map[string]any{"skill_name": "big", "script_name": "much"}})
	if err != nil || len(r.Content) != 2 {
		t.Fatalf("got %+v, %v", r, err)
	}
	link := r.Content[1].(*mcp.ResourceLink).URI
	for token, c := range clients {
		a := call(t, c, "skill_read", map[string]any{"skill_name": "notes", "path": "SKILL.md", "session": handle})
		_, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: link})
		if own := token == "acme"; (err == nil) != own || own != (a.Error == "permission_denied") || !own && !strings.Contains(a.Message, "no handle of this server") {
			t.Errorf("%s: %+v, %v", token, a, err)
		}
	}
	for i := range 2 * maxRequests { // acme is busy, corp is not
		servers["acme"].going.enter("eve"+strconv.Itoa(i), maxRequests)
	}
	if _, err := clients["acme"].ListTools(t.Context(), nil); err == nil {
		t.Error("a tenant has more requests than its quota")
	}
	if _, err := clients["corp"].ListTools(t.Context(), nil); err != nil {
		t.Errorf("a tenant is held up by another: %v", err)
	}
}

// The digest of a file is that of what is read, or the client sees that it is not, whenever the file changes.
func TestChangedSinceListed(t *testing.T) {
	w := newWorld(t, map[string]string{"greet/SKILL.md": greet["greet/SKILL.md"], "greet/a.md": "one"})
	c := w.client(t, nil, "")
	const uri = "skill://greet/a.md"
	digest := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "sha256:" + hex.EncodeToString(sum[:])
	}
	said := func(method string) string {
		r, err := ask(t, c, method, &listParams{URI: "skill://greet/SKILL.md"})
		if err != nil {
			return err.Error()
		}
		b, _ := json.Marshal(r)
		return string(b)
	}
	read := func() string {
		r, err := w.client(t, nil, "").ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}) // a client keeps what it read
		if err != nil {
			return err.Error()
		}
		return r.Contents[0].Text
	}
	listed := said("skills/list")
	file := filepath.Join(w.dir, "greet", "a.md")
	for _, text := range []string{"two", "one more"} { // no watcher has seen it
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := read(); got != text || strings.Contains(listed, digest(got)) || !strings.Contains(said("skills/get"), digest(got)) || !strings.Contains(said("skills/list"), digest(got)) {
			t.Errorf("read %q, listed %s", got, listed)
		}
	}
	secret := filepath.Join(t.TempDir(), "secret")
	if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), os.Remove(file), os.Symlink(secret, file)); err != nil {
		t.Fatal(err)
	}
	if got := read() + said("skills/get") + said("skills/list"); strings.Contains(got, digest("secret")) || !strings.Contains(got, "unknown resource") || strings.HasPrefix(got, "secret") {
		t.Errorf("a link was followed: %s", got)
	}
}

// security 2.13 #182: only the address of a published file names one, in one spelling.
func TestForeignAddresses(t *testing.T) {
	w := newWorld(t, map[string]string{"a/SKILL.md": "---\nname: a\ndescription: A.\n---\nBody\n", "b/SKILL.md": "---\nname: b\ndescription: B.\n---\nBody\n", "b/x.md": "x",
		"hidden/SKILL.md": "---\nname: hidden\ndescription: Not for models.\ndisable-model-invocation: true\n---\nBody\n"})
	c := w.client(t, nil, "")
	if _, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: "skill://b/x.md"}); err != nil {
		t.Fatal(err)
	}
	for _, uri := range []string{"skill://a/../b/x.md", "skill://a/%2e%2e/b/x.md", "skill://a/%2E%2E/b/x.md", "skill://a/..%2fb/x.md", "skill://a/%252e%252e/b/x.md", "skill://a/..%5cb/x.md", "skill://b//x.md",
		"skill://b/./x.md", "skill://b/x.md%00", "skill://b/x.md/", "skill:///b/x.md", "skill:///etc/passwd", "SKILL://b/x.md", "skill://B/x.md", "skill://user@b/x.md", "skill://b:80/x.md", "skill://b/x.md?q", "skill://b/x.md#f",
		"skill://b/\u202ex.md", "skill://b/%78.md", "skill:b/x.md", "skill://hidden/SKILL.md", "skill://b", "", "skill://" + strings.Repeat("b", 1<<16)} {
		if r, err := c.ReadResource(t.Context(), &mcp.ReadResourceParams{URI: uri}); err == nil && uri != "skill://b/%78.md" {
			t.Errorf("%q was read: %+v", uri, r.Contents[0])
		}
		if _, err := ask(t, c, "skills/get", &listParams{URI: strings.Replace(uri, "x.md", "SKILL.md", 1)}); err == nil {
			t.Errorf("%q is a skill", uri)
		}
		if _, err := ask(t, c, "resources/directory/read", &listParams{URI: uri}); err == nil && uri != "skill://b" {
			t.Errorf("%q is a folder", uri)
		}
	}
}

// A client that goes away takes its script with it.
func TestGoneOverStdio(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	w := newWorld(t, map[string]string{"slow/SKILL.md": "---\nname: slow\ndescription: Takes its time.\n---\nBody\n",
		"slow/scripts/wait.sh": "#!/bin/sh\nsleep 300 &\necho $! $$ > " + file + ".new && mv " + file + ".new " + file + "\necho begun\nwait\n"})
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.Background(), in, out) }()
	lines := bufio.NewScanner(ours)
	go fmt.Fprintln(theirs, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"script_run","arguments":{"skill_name":"slow","script_name":"wait"},"_meta":{"progressToken":"p",`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`)
	if !lines.Scan() || !strings.Contains(lines.Text(), "begun") {
		t.Fatalf("got %s, %v", lines.Text(), lines.Err())
	}
	if err := errors.Join(theirs.Close(), ours.Close()); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for pid := range strings.FieldsSeq(string(b)) {
		if alive(pid) {
			t.Errorf("process %s goes on", pid)
		}
	}
}

// alive reports whether a process runs, a zombie not counted; false where that is not known.
func alive(pid string) bool {
	b, err := os.ReadFile("/proc/" + pid + "/stat")
	return err == nil && !strings.Contains(string(b), ") Z ")
}

// modern is a request of the newest revision.
func modern(id any, method, params string) string {
	b, _ := json.Marshal(id)
	return `{"jsonrpc":"2.0","id":` + string(b) + `,"method":"` + method + `","params":{` + params + `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
}

const listenTools = `"notifications":{"toolsListChanged":true},`

// post sends a request, whose answer the caller closes.
func post(ctx context.Context, t *testing.T, at, token, method string, body io.Reader) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, at, body)
	if err != nil {
		t.Fatal(err)
	}
	for k, v := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Authorization": "Bearer " + token} {
		r.Header.Set(k, v)
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// next returns the next message of a stream.
func next(t *testing.T, lines *bufio.Scanner) string {
	t.Helper()
	for lines.Scan() {
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && text != "" {
			return text
		}
	}
	t.Fatalf("the stream has ended: %v", lines.Err())
	return ""
}

// Each of two listeners is told of a change, under its own name, and goes on when the other ends.
func TestTwoListeners(t *testing.T) {
	w := newWorld(t, greet)
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	listener := httptest.NewServer(s.Handler(&HTTPOptions{}))
	defer listener.Close()
	if err := s.refresh(t.Context()); err != nil {
		t.Fatal(err)
	}
	change := func(name string) {
		w.write(t, name+"/SKILL.md", "---\nname: "+name+"\ndescription: One more.\n---\nBody\n")
		if err := s.Changed(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	streams, ends := map[string]*bufio.Scanner{}, map[string]func(){}
	for _, id := range []string{"one", "two"} {
		ctx, cancel := context.WithCancel(t.Context())
		res := post(ctx, t, listener.URL, "", "subscriptions/listen", strings.NewReader(modern(id, "subscriptions/listen", listenTools)))
		ends[id] = func() { cancel(); _ = res.Body.Close() }
		streams[id] = bufio.NewScanner(res.Body)
		if got := next(t, streams[id]); !strings.Contains(got, "subscriptions/acknowledged") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"`+id+`"`) {
			t.Errorf("%s: got %s", id, got)
		}
	}
	change("more")
	for id, lines := range streams {
		if got := next(t, lines); !strings.Contains(got, "notifications/tools/list_changed") || !strings.Contains(got, `"io.modelcontextprotocol/subscriptionId":"`+id+`"`) {
			t.Errorf("%s: got %s", id, got)
		}
	}
	ends["one"]()
	change("most")
	if got := next(t, streams["two"]); !strings.Contains(got, "notifications/tools/list_changed") {
		t.Errorf("got %s", got)
	}
	ends["two"]()
}

// A person may leave out the argument of a prompt, or write one that it has not.
func TestPromptWithoutArgument(t *testing.T) {
	w := newWorld(t, map[string]string{"greet/SKILL.md": "---\nname: greet\ndescription: Greets.\nargument-hint: <name>\n---\nGreet [$ARGUMENTS].\n"})
	c := w.client(t, nil, "")
	for want, args := range map[string]map[string]string{"Greet [].": nil, "Greet [Ada].": {"args": "Ada"}, "[].": {"other": "Ada"}} {
		r, err := c.GetPrompt(t.Context(), &mcp.GetPromptParams{Name: "greet", Arguments: args})
		if err != nil {
			t.Errorf("%v: %v", args, err)
			continue
		}
		if text := r.Messages[0].Content.(*mcp.TextContent).Text; !strings.Contains(text, want) {
			t.Errorf("%v: got %s", args, text)
		}
	}
}

// zeros is a body without an end.
type zeros struct{ n int }

func (z *zeros) Read(p []byte) (int, error) {
	if z.n -= len(p); z.n <= 0 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// security 2.13 #180, #181: what is too long, too deep, too many or too slow is refused, and the next request is answered.
func TestLargeRequests(t *testing.T) {
	w := newWorld(t, greet)
	var mu sync.Mutex
	why := map[string]int{}
	at := w.listen(t, &HTTPOptions{Verify: verify, Refused: func(_ *http.Request, reason string) {
		mu.Lock()
		defer mu.Unlock()
		why[reason]++
	}})
	for name, tt := range map[string]struct {
		body io.Reader
		code int
	}{
		"64 MiB":  {&zeros{64 << 20}, http.StatusRequestEntityTooLarge},
		"a batch": {strings.NewReader("[" + strings.Repeat(modern(1, "tools/list", "")+",", 10_000) + "{}]"), http.StatusBadRequest},
		"deep":    {strings.NewReader(modern(1, "tools/list", `"x":`+strings.Repeat("[", 100_000)+strings.Repeat("]", 100_000)+",")), http.StatusBadRequest},
		"a list":  {strings.NewReader(modern(1, "tools/list", "")), http.StatusOK},
	} {
		res := post(t.Context(), t, at, "token-of-ada", "tools/list", tt.body)
		if _ = res.Body.Close(); res.StatusCode != tt.code {
			t.Errorf("%s: got %d", name, res.StatusCode)
		}
	}
	if why[RefusedBody] != 1 {
		t.Errorf("refused: %v", why)
	}
	slow := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(readBody(w, r, 50*time.Millisecond)) }))
	defer slow.Close()
	c, err := net.Dial("tcp", slow.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n{"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, "408") {
		t.Errorf("a slow body: %q, %v", line, err)
	}
}

// security 2.13 #180: of a thousand streams of one client some are held and the others are told to come back; another client is answered.
func TestManyStreams(t *testing.T) {
	w := newWorld(t, greet)
	w.o.Limits.Calls = 8
	at := w.listen(t, &HTTPOptions{Verify: verify})
	ctx, cancel := context.WithCancel(t.Context())
	codes := map[int]int{}
	var held []io.Closer
	for n := range 1000 {
		res := post(ctx, t, at, "token-of-ada", "subscriptions/listen", strings.NewReader(modern(n, "subscriptions/listen", listenTools)))
		if codes[res.StatusCode]++; res.StatusCode == http.StatusOK {
			held = append(held, res.Body)
			continue
		}
		_ = res.Body.Close()
	}
	if most := maxRequests * 8 / 2; codes[http.StatusOK] != most || codes[http.StatusTooManyRequests] != 1000-most {
		t.Errorf("got %v", codes)
	}
	bob, err := dial(t, at, "token-of-bob", "")
	if err != nil {
		t.Fatal(err)
	}
	if a := call(t, bob, "skill", map[string]any{"skill_name": "notes"}); !a.Success {
		t.Errorf("got %+v", a)
	}
	cancel()
	for _, c := range held {
		_ = c.Close()
	}
}

// security 2.13 #181: over stdio, too, odd messages have errors or none, and the next request is answered.
func TestOddMessages(t *testing.T) {
	w := newWorld(t, greet)
	s, err := New(w.o)
	if err != nil {
		t.Fatal(err)
	}
	in, theirs := io.Pipe()
	ours, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- s.ServeStdio(context.Background(), in, out) }()
	const sent = 500
	go func() {
		for n := range sent {
			fmt.Fprintln(theirs, modern(n, "none/such", ""))
			fmt.Fprintln(theirs, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"never"}}`)
			fmt.Fprintln(theirs, `{"jsonrpc":"2.0","method":"notifications/none"}`)
		}
		fmt.Fprintln(theirs, modern("twice", "tools/list", ""))
		fmt.Fprintln(theirs, modern("twice", "tools/list", ""))
		fmt.Fprintln(theirs, modern("last", "tools/list", ""))
	}()
	lines, failed, last := bufio.NewScanner(ours), 0, false
	lines.Buffer(nil, 1<<20)
	for !(last && failed >= sent) && lines.Scan() {
		if strings.Contains(lines.Text(), `"error"`) {
			failed++
		}
		last = last || strings.Contains(lines.Text(), `"id":"last"`) && strings.Contains(lines.Text(), "script_run")
	}
	if !last {
		t.Errorf("the last request was not answered: %v", lines.Err())
	}
	go func() { _, _ = io.Copy(io.Discard, ours) }()
	if err := errors.Join(theirs.Close(), <-ended, ours.Close()); err != nil {
		t.Error(err)
	}
}
