package mcphost

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// said writes some text to a wire whose requests 1 and 2 wait for answers, and returns what it passes on, and the reasons of
// which it complains.
func said(t testing.TB, pieces ...[]byte) (messages []jsonrpc.Message, reasons []string, left Strays) {
	t.Helper()
	c := newWire(func(why string) { reasons = append(reasons, why) })
	c.mostNoise = 1 << 20
	for _, id := range []float64{1, 2} {
		i, err := jsonrpc.MakeID(id)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Write(t.Context(), &jsonrpc.Request{ID: i, Method: "tools/call"}); err != nil {
			t.Fatal(err)
		}
	}
	done, l := make(chan struct{}), &link{wire: c, over: make(chan struct{})}
	go func() {
		defer close(done)
		for {
			m, err := l.Read(t.Context())
			if err != nil {
				return
			}
			messages = append(messages, m)
		}
	}()
	for _, p := range pieces {
		if n, err := (output{c}).Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	c.end()
	<-done
	c.close()
	return messages, reasons, c.stray.Strays
}

func TestLines(t *testing.T) {
	answer := `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
	for _, tt := range []struct {
		name     string
		text     string
		messages int
		lines    int64
	}{
		{"an answer", answer, 1, 0},
		{"twice", answer + answer, 1, 0},
		{"for nobody", `{"jsonrpc":"2.0","id":7,"result":{}}` + "\n", 0, 0},
		{"words before", "print\n" + answer, 1, 1},
		{"words on its line", "print " + answer, 0, 1},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}` + "\n", 0, 0},
		{"a request", `{"jsonrpc":"2.0","id":9,"method":"ping"}` + "\n", 1, 0},
		{"another version", `{"jsonrpc":"1.0","id":1,"result":{}}` + "\n", 0, 1},
		{"other JSON", "{}\n[]\n3\n", 0, 3},
		{"empty lines", "\n\r\n \n" + answer, 1, 0},
		{"carriage returns", strings.ReplaceAll(answer, "\n", "\r\n"), 1, 0},
		{"no end", strings.TrimSpace(answer), 0, 0},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			t.Run(fmt.Sprint(tt.name, " ", size), func(t *testing.T) {
				var pieces [][]byte
				for text := []byte(tt.text); len(text) > 0; text = text[min(size, len(text)):] {
					pieces = append(pieces, text[:min(size, len(text))])
				}
				messages, reasons, left := said(t, pieces...)
				if len(messages) != tt.messages || left.Lines != tt.lines || len(reasons) > 0 {
					t.Errorf("got %d messages and %d lines, %q", len(messages), left.Lines, reasons)
				}
			})
		}
	}
}

// An answer that is too long fails its own request, wherever its id stands.
func TestLongLines(t *testing.T) {
	long := strings.Repeat("x", maxMessage)
	for _, tt := range []struct {
		name, text string
		id         int64 // 0: it is noise
	}{
		{"id first", `{"jsonrpc": "2.0", "id": 2, "result": {"content": "` + long + `"}}`, 2},
		{"id last", `{"result":{"content":"` + long + `"},"jsonrpc":"2.0","id":2}`, 2},
		{"id before the version", `{"result":{"content":"` + long + `"},"id":2,"jsonrpc":"2.0"}`, 2},
		{"an id in the text", `{"jsonrpc":"2.0","result":{"x":"\"id\":1,` + long + `"},"id":2}`, 2},
		{"for nobody", `{"jsonrpc":"2.0","id":5,"result":{"content":"` + long + `"}}`, 0},
		{"no answer", long + "y", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			messages, reasons, _ := said(t, []byte(tt.text), []byte("\n"))
			if tt.id == 0 {
				if len(messages) > 0 || len(reasons) != 1 {
					t.Errorf("got %v, %q", messages, reasons)
				}
				return
			}
			if len(messages) != 1 || len(reasons) > 0 {
				t.Fatalf("got %v, %q", messages, reasons)
			}
			r, ok := messages[0].(*jsonrpc.Response)
			if !ok || r.ID.Raw() != tt.id || r.Error == nil || !strings.Contains(r.Error.Error(), fmt.Sprintf("its answer has %d bytes", len(tt.text))) {
				t.Errorf("got %+v", messages[0])
			}
		})
	}
}

// Whatever a process writes, it is told once that it is too much, and nothing grows.
func TestNoise(t *testing.T) {
	block := bytes.Repeat([]byte("noise\n"), 1<<20/perLine)
	messages, reasons, left := said(t, block, block, block)
	if len(messages) > 0 || len(reasons) != 1 || !strings.Contains(reasons[0], "more than 1 MiB") || left.First != "noise" {
		t.Errorf("got %v, %q, %+v", messages, reasons, left)
	}
	pings := bytes.Repeat([]byte(`{"jsonrpc":"2.0","method":"notifications/message"}`+"\n"), 2<<20/perRequest)
	if messages, reasons, _ := said(t, pings); len(messages) > 0 || len(reasons) != 1 {
		t.Errorf("got %v, %q", messages, reasons)
	}
}

// A process that does not read is no reason to wait.
func TestNobodyReads(t *testing.T) {
	c := newWire(func(string) {})
	c.mostQueue = 1 << 10
	if _, err := (&link{wire: c, over: make(chan struct{})}).Connect(t.Context()); err != nil {
		t.Fatal(err)
	}
	big := &jsonrpc.Request{Method: "x", Params: []byte(`"` + strings.Repeat("x", 1<<9) + `"`)}
	if err := c.Write(t.Context(), big); err != nil {
		t.Fatal(err)
	}
	if err := c.Write(t.Context(), big); err == nil || !strings.Contains(err.Error(), "it has not read") {
		t.Errorf("got %v", err)
	}
	c.end()
	if err := c.Write(t.Context(), big); err != io.ErrClosedPipe {
		t.Errorf("got %v", err)
	}
	c.close()
}

func FuzzLines(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"result":{}}`+"\n"), 3)
	f.Add([]byte("x\n\n{\"id\":2}\n{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"error\":{\"code\":1,\"message\":\"m\"}}\n"), 1)
	f.Fuzz(func(t *testing.T, text []byte, size int) {
		size = max(1, min(size, len(text)+1))
		whole, _, first := said(t, text)
		var pieces [][]byte
		for rest := text; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			pieces = append(pieces, rest[:min(size, len(rest))])
		}
		parts, _, second := said(t, pieces...)
		if len(whole) != len(parts) || first != second {
			t.Errorf("got %d messages and %+v at once, %d and %+v in pieces", len(whole), first, len(parts), second)
		}
	})
}

// Each kind of what has no meaning has a budget of its own.
func TestBudgets(t *testing.T) {
	most := int(1<<20) / perRequest * 9 / 10
	progress := strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/progress","params":{}}`+"\n", most*perRequest/(perRequest+64))
	note := strings.ReplaceAll(progress, "progress", "messages")
	lines := strings.Repeat("x\n", most*perRequest/(perLine+1))
	if _, reasons, _ := said(t, []byte(progress), []byte(note), []byte(lines)); len(reasons) > 0 {
		t.Errorf("got %q", reasons)
	}
	if _, reasons, _ := said(t, []byte(progress), []byte(progress)); len(reasons) != 1 {
		t.Errorf("got %q", reasons)
	}
}

// What a process prints is counted from one answer to the next.
func TestPrinted(t *testing.T) {
	var reasons []string
	c := New(&Options{Kill: func(why string) { reasons = append(reasons, why) }})
	c.w.mostPrinted = 4 << 20
	id, _ := jsonrpc.MakeID(1.0)
	if err := c.w.Write(t.Context(), &jsonrpc.Request{ID: id, Method: "tools/call"}); err != nil {
		t.Fatal(err)
	}
	print := func(times int) {
		for range times {
			_, _ = c.Err().Write(make([]byte, 1<<20))
		}
	}
	_, _ = c.Err().Write([]byte("begins"))
	if end, all := c.Recent(); string(end) != "begins" || !all {
		t.Errorf("got %q, %t", end, all)
	}
	print(3)
	_, _ = c.Err().Write([]byte("the end"))
	if end, all := c.Recent(); len(end) != kept || !bytes.HasSuffix(end, []byte("the end")) || all {
		t.Errorf("got %q, %t", end, all)
	}
	c.w.awaited("1")
	print(4)
	if len(reasons) > 0 {
		t.Errorf("got %q", reasons)
	}
	print(4)
	if want := []string{"it printed more than 4 MiB and answered nothing meanwhile"}; !slices.Equal(reasons, want) {
		t.Errorf("got %q, want %q", reasons, want)
	}
}
