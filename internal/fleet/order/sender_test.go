package order_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/internal/fleet/order"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

// pair is a sender and a worker that share the memory of one process.
type pair struct {
	*order.Sender
	s       *skill.Skill
	worker  *order.Worker
	sent    *order.Order
	change  func(*order.Order)  // between them
	answers func(*order.Result) // likewise
	events  []trace.Event
	granted script.Grant
}

func newPair(t *testing.T, files map[string]string) *pair {
	t.Helper()
	p := &pair{s: probe.In(t, t.TempDir(), files), granted: script.Grant{Declared: true}}
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	cache := scratch.Dir(t)
	p.worker = order.NewWorker(func(tenant string) (*script.Options, error) {
		return &script.Options{LookPath: exec.LookPath, Cache: filepath.Join(cache, "of-"+tenant), Env: []string{"A_TOKEN=of the worker"}}, nil
	})
	p.Sender = order.NewSender(&order.SenderOptions{Host: host,
		Granted: func(context.Context, *skill.Skill) (script.Grant, error) { return p.granted, nil },
		Trace:   trace.TracerFunc(func(_ context.Context, e trace.Event) { p.events = append(p.events, e) }),
		Send: func(ctx context.Context, o *order.Order, s *skill.Skill, out func(*order.Part) error) (*order.Result, error) {
			p.sent = o
			asked := *o
			if p.change != nil {
				p.change(&asked)
			}
			var input []byte
			if asked.Stdin != nil {
				input = asked.Stdin.Whole
			}
			r := p.worker.Do(ctx, &asked, s, input, out)
			if p.answers != nil {
				p.answers(r)
			}
			return r, nil
		}})
	return p
}

const manifestText = probe.Start + "permissions:\n  env: [A_TOKEN]\nhooks:\n  Stop:\n    - hooks:\n        - type: command\n          command: cat; echo bad >&2; exit 2\n---\nbody\n"

var run = script.Script{Name: "run", File: "scripts/run.sh"}

// A run by an order has the output as it comes, in order, and what a run here has.
func TestRun(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "echo one; echo two >&2; wc -c; echo $A_TOKEN; exit ${1:-0}\n"})
	var out, errs bytes.Buffer
	input := strings.Repeat("x", order.MaxInline+1)
	r, err := p.Run(t.Context(), p.s, run, &script.RunOptions{Stdin: strings.NewReader(input), Out: &out, Err: &errs})
	if err != nil || strings.Join(strings.Fields(r.Text), " ") != "one 65537" || out.String() != r.Text || errs.String() != "two\n" || r.Duration == 0 {
		t.Errorf("got %+v, %v, %q and %q", r, err, out.String(), errs.String())
	}
	if i := p.sent.Stdin; i.Data != nil || i.Size != int64(len(input)) || !strings.HasPrefix(p.sent.Skill.Layer, "folder@") {
		t.Errorf("sent %+v", p.sent)
	}
	last := p.events[len(p.events)-1]
	if last.Kind != trace.ScriptRun || !slices.ContainsFunc(last.Attrs, func(a slog.Attr) bool { return a.Key == trace.AttrExitCode && a.Value.Int64() == 0 }) {
		t.Errorf("traced %+v", last)
	}
	_, err = p.Run(t.Context(), p.s, run, &script.RunOptions{Args: []string{"3"}})
	if e, ok := errors.AsType[*script.Error](err); !ok || !strings.HasPrefix(e.Message, "Script failed with exit code 3") || p.sent.Watch {
		t.Errorf("got %v", err)
	}
}

// What is of this machine is refused before anything is sent, and says why.
func TestStaysHere(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "echo one\n"})
	call := func(o *script.RunOptions) error {
		p.sent = nil
		_, err := p.Run(t.Context(), p.s, run, o)
		if p.sent != nil {
			t.Error("it was sent")
		}
		return err
	}
	for text, g := range map[string]want.Want{"write:/data": want.WriteOf("/data"), "read:.": want.ReadOf(want.Here), "home": want.Of(want.Home, ""), "host:*": want.HostOf(want.Any)} {
		p.granted = script.Grant{Given: want.New(g)}
		var local *order.LocalError
		if err := call(nil); !errors.As(err, &local) || !strings.Contains(err.Error(), `Skill 'probe' is not run: the grant "`+text+`" is about one machine`) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	p.granted = script.Grant{}
	if err := call(&script.RunOptions{Env: []string{"A=b"}}); err == nil || !strings.Contains(err.Error(), "sets variables") {
		t.Errorf("got %v", err)
	}
	if err := call(&script.RunOptions{Args: []string{"\xff"}}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("got %v", err)
	}
	if err := call(&script.RunOptions{Stdin: strings.NewReader(strings.Repeat("x", runner.MaxStdin+1))}); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v", err)
	}
	refused := errors.New("refused")
	if err := call(&script.RunOptions{Admit: func(context.Context, *skill.Skill) (*skill.Skill, error) { return nil, refused }}); !errors.Is(err, refused) {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	waits, _, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer waits.Close()
	if _, err := p.Run(ctx, p.s, run, &script.RunOptions{Stdin: waits}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// A worker trusts nothing that comes to it, and neither does the sender.
func TestNoTrust(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "sleep 60 &\nwait\n"})
	other := "sha256:" + strings.Repeat("0", 64)
	for text, edit := range map[string]func(*order.Order){
		"what came to the machine that runs it is": func(o *order.Order) { o.Skill.Digest = other },
		"deadline exceeded":                        func(o *order.Order) { o.Until = time.Now().Add(time.Millisecond) },
		"it is another one: 7 bytes":               func(o *order.Order) { o.Stdin = &order.Input{Digest: other, Size: 7, Whole: []byte("another")} },
		"it is another one: 0 bytes":               func(o *order.Order) { o.Stdin = &order.Input{Digest: other, Size: 7} },
	} {
		p.change = edit
		if _, err := p.Run(t.Context(), p.s, run, nil); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v", text, err)
		}
	}
	p.change = func(o *order.Order) { o.Until = time.Now().Add(time.Millisecond) }
	for text, edit := range map[string]func(*order.Result){
		"that of the run":         func(r *order.Result) { r.Run = "another" },
		"that of the run \"":      func(r *order.Result) { r.Attempt++ },
		"no answer of the call r": func(r *order.Result) { r.Failure = nil },
	} {
		p.answers = edit
		if _, err := p.Run(t.Context(), p.s, run, nil); err == nil || !strings.Contains(err.Error(), "answered what it was not asked") || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

// A worker is no author: what it says of other steps, and of another time, is not in the trace.
func TestLies(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "echo one\n"})
	yes := true
	p.answers = func(r *order.Result) {
		r.Facts = append(r.Facts, order.Attr{Key: trace.AttrUnknown, Bool: &yes}, order.Attr{Key: trace.AttrDigest, Text: "sha256:0"})
		r.Events = []order.Event{{Kind: trace.TrustApproved, Script: "run"}, {Kind: trace.NetworkRefused, Time: time.Now().Add(-time.Hour), Attrs: []order.Attr{{Key: trace.AttrHost, Text: "h:1"}, {Key: trace.AttrGrant, Text: "x"}}}}
	}
	if _, err := p.Run(t.Context(), p.s, run, nil); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range p.events {
		line := string(e.Kind)
		for _, a := range e.Attrs {
			line += " " + a.Key
		}
		got = append(got, line)
		if e.Skill != "probe" || time.Since(e.Time) > time.Minute {
			t.Errorf("got %+v", e)
		}
	}
	if all := strings.Join(got, ", "); all != "script_started, network_refused host, script_run program exit_code stdout_bytes stderr_bytes sandbox" {
		t.Errorf("got %s", all)
	}
}

// A hook runs by an order if the content has it, and help does as here.
func TestHookAndHelp(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "# Does nothing.\n"})
	h := p.s.Manifest().Hooks[0]
	o, err := p.RunHook(t.Context(), p.s, &script.HookOptions{Hook: h, Input: []byte("in"), Timeout: time.Minute})
	if err != nil || o.ExitCode != 2 || string(o.Stdout) != "in" || string(o.Stderr) != "bad\n" {
		t.Errorf("got %+v, %v", o, err)
	}
	traced := func() (n int) {
		for _, e := range p.events {
			if e.Kind == trace.HookRun {
				n++
			}
		}
		p.events = nil
		return n
	}
	if n := traced(); n != 1 {
		t.Errorf("traced %d times", n)
	}
	_, err = p.RunHook(t.Context(), p.s, &script.HookOptions{Hook: manifest.Hook{Event: "Stop", Command: "cat; rm -rf ."}})
	if err == nil || !strings.Contains(err.Error(), "has no such hook") || traced() != 1 {
		t.Errorf("got %v", err)
	}
	p.sent = nil
	help, err := p.Help(t.Context(), p.s, run, nil)
	if err != nil || !help.Described || help.Text != "Does nothing." || p.sent != nil {
		t.Errorf("got %+v, %v", help, err)
	}
}

// An answer that is too large to come back is cut as every long output is, or is a failure that says that the script has run.
func TestLargeAnswers(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "head -c 1100000 /dev/zero | tr '\\0' a\n"})
	r, err := p.Run(t.Context(), p.s, run, nil)
	if err != nil || len(r.Text) != order.MaxOutput || !strings.Contains(r.Warning, "output truncated at 1048576 bytes") {
		t.Errorf("%d bytes, %v", len(r.Text), err)
	}
	big := &order.Result{Version: order.Version, Run: "r", Output: &order.Output{Text: strings.Repeat("\x01", order.MaxOutput)}}
	b, err := big.Encode()
	if err != nil {
		t.Fatal(err)
	}
	back, err := order.DecodeResult(b)
	if err != nil || back.Output != nil || !strings.Contains(back.Failure.Text, "The script has run, but its answer does not come back from another machine: the result has 6291") {
		t.Errorf("got %v, %+v", err, back)
	}
}

// Variables come sealed, for one order alone, and in place of those of the worker; one that the skill was not granted does not pass.
func TestVariables(t *testing.T) {
	hook := strings.Replace(manifestText, "cat; echo bad >&2; exit 2", "echo $A_TOKEN; echo $B_TOKEN", 1)
	p := newPair(t, map[string]string{"SKILL.md": hook, "scripts/run.sh": "test \"$A_TOKEN\" = of-the-tenant && echo same; echo $A_TOKEN; echo $B_TOKEN $HTTPS_PROXY\n"})
	var err error
	if p.worker.Key, err = order.NewKey(); err != nil {
		t.Fatal(err)
	}
	values := []string{"A_TOKEN=of-the-tenant", "B_TOKEN=not-granted", "HTTPS_PROXY=http://x"}
	public := p.worker.Key.Public()
	p.change = func(o *order.Order) {
		o.Worker, o.Start, o.Attempt = "w", "s", 1
		if err := o.Seal(public, values); err != nil {
			t.Error(err)
		}
		if b, _ := o.Encode(); bytes.Contains(b, []byte("tenant")) {
			t.Errorf("it can be read: %s", b)
		}
	}
	p.answers = func(r *order.Result) { r.Worker, r.Start, r.Attempt = "", "", 0 }
	r, err := p.Run(t.Context(), p.s, run, nil)
	if err != nil || r.Text != "same\n[redacted A_TOKEN]\n\n" {
		t.Errorf("got %+v, %v", r, err)
	}
	o, err := p.RunHook(t.Context(), p.s, &script.HookOptions{Hook: p.s.Manifest().Hooks[0], Timeout: time.Minute})
	if err != nil || string(o.Stdout) != "[redacted A_TOKEN]\n\n" {
		t.Errorf("got %+v, %v", o, err)
	}
	seal := p.change
	former, err := order.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	for name, edit := range map[string]func(*order.Order){
		"another attempt": func(o *order.Order) { seal(o); o.Attempt++ },
		"another run":     func(o *order.Order) { seal(o); o.Run += "x" },
		"another tenant":  func(o *order.Order) { seal(o); o.For.Tenant = "x" },
		"another skill":   func(o *order.Order) { seal(o); o.Skill.Layer = "x" },
		"a former start":  func(o *order.Order) { seal(o); _ = o.Seal(former.Public(), values) },
		"no seal":         func(o *order.Order) { o.Sealed = []byte("x") },
	} {
		p.change = edit
		p.answers = func(r *order.Result) { r.Worker, r.Start, r.Attempt, r.Run = "", "", 0, p.sent.Run }
		if _, err := p.Run(t.Context(), p.s, run, nil); err == nil || !strings.Contains(err.Error(), "its variables cannot be read") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if err := new(order.Order).Seal([]byte("x"), nil); err == nil {
		t.Error("sealed to no key")
	}
}

// Where nobody knows what became of an order, the failure says so.
func TestLost(t *testing.T) {
	p := newPair(t, map[string]string{"SKILL.md": manifestText, "scripts/run.sh": "echo one\n"})
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: scratch.Dir(t)})
	if err != nil {
		t.Fatal(err)
	}
	s := order.NewSender(&order.SenderOptions{Host: host, Send: func(context.Context, *order.Order, *skill.Skill, func(*order.Part) error) (*order.Result, error) {
		return nil, errors.New("it does not answer")
	}})
	if _, err := s.Run(t.Context(), p.s, run, nil); err == nil || !strings.Contains(err.Error(), "It is not known what became of a call of skill 'probe': it does not answer") {
		t.Errorf("got %v", err)
	}
}
