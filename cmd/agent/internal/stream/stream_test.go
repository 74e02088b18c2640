package stream_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/cmd/agent/internal/stream"
	"github.com/agent-base/agent-base/cmd/agent/internal/streamtest"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/want"
)

func text(t *testing.T, l stream.Line) string {
	t.Helper()
	b, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	if err := streamtest.Line(b); err != nil {
		t.Error(err)
	}
	return string(b)
}

func TestLinesOfSteps(t *testing.T) {
	call := &llm.Call{ID: "c1", Name: "bash", Args: json.RawMessage(`{"command":"make"}`)}
	ok := tool.Success(map[string]any{"output": "done"}, "The command ended")
	ok.Duration = 1500 * time.Millisecond
	stopped := tool.CauseStopped.Failure("The command was stopped by the user")
	refused := tool.Result{Error: tool.PermissionDenied, Reason: "not_approved", Message: "no"}
	late := tool.CauseTimeout.Failure("late")
	for _, tt := range []struct {
		step agent.Step
		want string
	}{
		{agent.Step{Text: "hi"}, `{"type":"text","text":"hi"}`},
		{agent.Step{Thought: "hm"}, `{"type":"thought","text":"hm"}`},
		{agent.Step{Depth: 1, Notice: "waits"}, `{"type":"notice","depth":1,"text":"waits"}`},
		{agent.Step{Usage: &llm.Usage{Input: 3, Output: 1}}, `{"type":"usage","usage":{"input":3,"output":1}}`},
		{agent.Step{Call: call}, `{"type":"call","id":"c1","tool":"bash","args":{"command":"make"}}`},
		{agent.Step{Result: &agent.Result{Call: call, Result: ok}}, `"success":true,"message":"The command ended","result":{"output":"done"},"duration_ms":1500}`},
		{agent.Step{Result: &agent.Result{Call: call, Result: ok, Text: "{… cut …}", Cut: true}}, `"message":"The command ended","text":"{… cut …}","duration_ms":1500}`},
		{agent.Step{Result: &agent.Result{Call: call, Result: stopped}}, `"success":false,"error":"execution_failed","cause":"stopped"`},
		{agent.Step{Result: &agent.Result{Call: call, Result: refused}}, `"error":"permission_denied","cause":"not_approved"`},
		{agent.Step{Result: &agent.Result{Call: call, Result: late}}, `"error":"timeout","cause":"timeout"`},
	} {
		l, has := stream.OfStep(&tt.step)
		if got := text(t, l); !has || !strings.Contains(got, tt.want) {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	if _, has := stream.OfStep(&agent.Step{Done: &agent.Answer{}}); has {
		t.Error("the end of a turn is a line of its own")
	}
}

func TestLinesOfEvents(t *testing.T) {
	host := want.HostOf("example.com:443")
	refused := host
	refused.From = want.Refused
	for _, tt := range []struct {
		event tool.Event
		want  string
	}{
		{tool.Event{Kind: tool.EventOutput, Call: "c1", Text: "x\n", Left: 7}, `{"type":"output","id":"c1","text":"x\n","left":7}`},
		{tool.Event{Kind: tool.EventProgress, Call: "c1", Depth: 1, Text: "half", Done: 1, Total: 2}, `{"type":"progress","depth":1,"id":"c1","text":"half","done":1,"total":2}`},
		{tool.Event{Kind: tool.EventNeeds, Call: "c1", Need: refused}, `{"type":"needs","id":"c1","need":{"kind":"host","name":"example.com:443","refused":true}}`},
		{tool.Event{Kind: tool.EventNeeds, Call: "c1", Need: host, Text: "asked"}, `{"type":"needs","id":"c1","text":"asked","need":{"kind":"host","name":"example.com:443"}}`},
	} {
		l, has := stream.OfEvent(&tt.event)
		if got := text(t, l); !has || got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
	for _, kind := range []tool.EventKind{tool.EventStarted, tool.EventEnded} {
		if _, has := stream.OfEvent(&tool.Event{Kind: kind}); has {
			t.Errorf("%s has a line", kind)
		}
	}
}

// The schema names each key that a line can have, and none that it cannot have.
func TestSchemaHasTheKeys(t *testing.T) {
	var schema struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage
			OneOf      []struct {
				Ref string `json:"$ref"`
			}
		} `json:"$defs"`
	}
	if err := json.Unmarshal(stream.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, one := range schema.Defs["line"].OneOf {
		for key := range schema.Defs[strings.TrimPrefix(one.Ref, "#/$defs/")].Properties {
			named[key] = true
		}
	}
	for _, tt := range []struct {
		def string
		of  any
	}{{"", stream.Line{}}, {"prefix", stream.Prefix{}}, {"ended", stream.Call{}}, {"need", stream.Need{}}, {"asked", stream.Question{}},
		{"choice", stream.Choice{}}, {"run", stream.Run{}}, {"tokens", llm.Usage{}}} {
		has := named
		if tt.def != "" {
			has = map[string]bool{}
			for key := range schema.Defs[tt.def].Properties {
				has[key] = true
			}
		}
		kind := reflect.TypeOf(tt.of)
		for i := range kind.NumField() {
			key, _, _ := strings.Cut(kind.Field(i).Tag.Get("json"), ",")
			if !has[key] {
				t.Errorf("%s: the schema does not name %q", kind, key)
			}
			delete(has, key)
		}
		for key := range has {
			t.Errorf("%s has no %q", kind, key)
		}
	}
}

// docs/stream.md has each type, and its lines are as the schema says.
func TestDocs(t *testing.T) {
	text, err := os.ReadFile("../../../../docs/stream.md")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "{") && streamtest.Input([]byte(line)) != nil {
			if err := streamtest.Line([]byte(line)); err != nil {
				t.Error(err)
			}
		}
	}
	for _, kind := range []string{"prompt", "stop", "answer", "start", "turn", "text", "thought", "call", "output", "progress", "needs", "question", "withdrawn", "result", "usage", "notice", "error", "end"} {
		if !strings.Contains(string(text), "\n| `"+kind+"` |") {
			t.Errorf("no row of %s", kind)
		}
	}
}

// Whoever does not read the lines holds up those who wait for them, and no command that runs.
func TestWriterNeverHoldsUpEvents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := make(chan bool)
		var got []stream.Line
		w := stream.NewWriter(func(l stream.Line) error {
			<-reads
			got = append(got, l)
			return nil
		})
		piece := strings.Repeat("x", 1<<10)
		for range 1000 {
			w.Event(tool.Event{Kind: tool.EventOutput, Call: "c1", Text: piece})
		}
		w.Event(tool.Event{Kind: tool.EventNeeds, Call: "c1", Need: want.HostOf("h")})
		close(reads)
		synctest.Wait()
		w.Event(tool.Event{Kind: tool.EventOutput, Call: "c1", Text: "end"})
		if err := w.Write(stream.Line{Type: "notice", Text: "n"}); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		var shown, left int64
		var types []string
		for _, l := range got {
			shown, left = shown+int64(len(l.Text)), left+l.Left
			types = append(types, l.Type)
		}
		if shown+left != 1000<<10+3+1 || left < 700<<10 {
			t.Errorf("%d bytes shown and %d left out", shown, left)
		}
		if n := len(types); !slices.Equal(types[n-3:], []string{"needs", "output", "notice"}) {
			t.Errorf("the last lines: %v", types[n-3:])
		}
	})
}

func TestWriterReportsTheFirstError(t *testing.T) {
	n := 0
	w := stream.NewWriter(func(stream.Line) error { n++; return fmt.Errorf("error %d", n) })
	w.Event(tool.Event{Kind: tool.EventOutput, Text: "x"})
	for range 2 {
		if err := w.Write(stream.Line{Type: "text"}); err == nil || err.Error() != "error 1" {
			t.Errorf("got %v", err)
		}
	}
	if err := w.Close(); err == nil {
		t.Error("Close says nothing")
	}
}

func TestParseInput(t *testing.T) {
	for _, tt := range []struct {
		line string
		want stream.Input
		err  string
	}{
		{`{"type":"prompt","text":"hi"}`, stream.Input{Type: "prompt", Text: "hi"}, ""},
		{`{"type":"prompt","id":"1","text":"a\nb"}`, stream.Input{Type: "prompt", ID: "1", Text: "a\nb"}, ""},
		{`{"type":"stop"}`, stream.Input{Type: "stop"}, ""},
		{`{"type":"answer","id":"q1","answer":""}`, stream.Input{Type: "answer", ID: "q1"}, ""},
		{`{"type":"answer","id":"q1"}`, stream.Input{}, `a line of the type answer needs the key "answer"`},
		{`{"type":"prompt","text":" "}`, stream.Input{}, `the text of the prompt is empty`},
		{`{"type":"prompt","text":"x","answer":"y"}`, stream.Input{}, `a line of the type prompt has no key "answer"`},
		{`{"type":"stop","now":"y"}`, stream.Input{}, `a line of the type stop has no key "now"`},
		{`{"type":"prompt","text":7}`, stream.Input{}, `the key "text" must be a string`},
		{`{"type":"prompt","text":null}`, stream.Input{}, `the key "text" must be a string`},
		{`{"type":"prompt","text":"a","text":"b"}`, stream.Input{}, `key "text" is repeated`},
		{`{"type":"prompts"}`, stream.Input{}, `the type is "prompts", and must be prompt, stop or answer`},
		{`{}`, stream.Input{}, `the type is "", and must be`},
		{`[]`, stream.Input{}, `a line must be one JSON object`},
		{`null`, stream.Input{}, `the type is ""`},
		{`hello`, stream.Input{}, `a line must be one JSON object`},
		{"{\"type\":\"prompt\",\"text\":\"\xff\"}", stream.Input{}, `not valid UTF-8`},
		{`{"type":"prompt","text":"` + strings.Repeat("x", stream.MaxPrompt+1) + `"}`, stream.Input{}, `write it to a file`},
		{`{"type":"prompt","text":"x","id":"` + strings.Repeat("x", stream.MaxID+1) + `"}`, stream.Input{}, `the id has 201 bytes`},
		{`{"type":"answer","id":"x","answer":"` + strings.Repeat("x", stream.MaxAnswer+1) + `"}`, stream.Input{}, `the answer has`},
	} {
		got, err := stream.ParseInput([]byte(tt.line))
		if tt.err == "" && (err != nil || got != tt.want) || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
			t.Errorf("%.60s: got %+v, %v\nwant %+v, %s", tt.line, got, err, tt.want, tt.err)
		}
		if tt.err == "" {
			if err := streamtest.Input([]byte(tt.line)); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestReader(t *testing.T) {
	in := "{\"type\":\"stop\"}\n\n  \r\nno\n" + strings.Repeat("x", stream.MaxLine+1) + "\n{\"type\":\"prompt\",\"text\":\"last\"}"
	r := stream.NewReader(strings.NewReader(in), stream.MaxLine)
	var got []string
	for {
		in, line, err := r.Next()
		var bad *stream.LineError
		switch {
		case errors.As(err, &bad):
			got = append(got, fmt.Sprintf("%d bad, %.40s", line, err))
			if long := strings.Contains(err.Error(), "more than"); long != (len(bad.Begins) == 1<<10) {
				t.Errorf("line %d: %d bytes of its beginning", line, len(bad.Begins))
			}
			continue
		case err != nil:
			got = append(got, err.Error())
		default:
			got = append(got, fmt.Sprint(line, " ", in.Type))
			continue
		}
		break
	}
	want := []string{"1 stop", "4 bad, line 4: a line must be one JSON object: ", "5 bad, line 5: it has more than 8388608 bytes", "6 prompt", "EOF"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever comes is an input that is as the schema says, or an error; and what is written again is read again.
func FuzzParseInput(f *testing.F) {
	for _, seed := range []string{`{"type":"prompt","id":"1","text":"x"}`, `{"type":"stop"}`, `{"type":"answer","id":"q1","answer":"y"}`, `{"type":"answer","TYPE":"x"}`, `{"type":"prompt","text":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		in, err := stream.ParseInput(line)
		if err != nil {
			return
		}
		if err := streamtest.Input(line); err != nil {
			t.Error(err)
		}
		again, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if in.Type == stream.Answer && in.Answer == "" {
			return // the key is left out
		}
		if got, err := stream.ParseInput(again); err != nil && in.ID != "" || err == nil && got != in {
			t.Errorf("%s became %s: %+v, %v", line, again, got, err)
		}
	})
}
