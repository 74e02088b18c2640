package hosttool

import (
	"context"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/tool"
)

func cancelled(t *testing.T) (context.Context, context.CancelFunc) {
	return context.WithCancel(t.Context())
}

func allow(o *Options) {
	o.Approve = func(context.Context, *Request) (Answer, error) { return Answer{Allowed: true}, nil }
	o.Env = []string{"PATH=/usr/bin:/bin", "GREETING=hi"}
}

func TestBash(t *testing.T) {
	t.Setenv("HOST_SECRET", "secret")
	k := newKit(t, allow)
	for _, row := range []struct{ command, want string }{
		{`echo $GREETING; echo err >&2`, `{"success":true,"result":{"output":"hi\nerr\n","exit_code":0},"message":"The command ended"`},
		{`cat a.txt | head -1`, `{"success":true,"result":{"output":"one\n"`},
		{`echo [$HOST_SECRET]`, `{"success":true,"result":{"output":"[]\n"`},
		{`cat`, `{"success":true,"result":{"output":""`},
		{`echo said; exit 3`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 3","result":{"output":"said\n","exit_code":3`},
		{`kill -9 $$`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 137"`},
		{`printf '\\377'`, `{"success":true,"result":{"output":"` + "\ufffd" + `"`},
		{``, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`},
		{strings.Repeat("x", maxCommand+1), `{"success":false,"error":"args_too_large"`},
	} {
		k.want("bash", `{"command":"`+row.command+`"}`, row.want)
	}
	for _, bad := range []string{"-1", "600001"} {
		k.want("bash", `{"command":"true","timeout_ms":`+bad+`}`, `{"success":false,"error":"execution_failed","reason":"invalid_arguments"`)
	}
	k.want("bash", `{"command":"pwd"}`, `{"success":true,"result":{"output":"`+k.ws+`\n"`)
	broken := newKit(t, func(o *Options) { allow(o); o.Shell = "/nowhere/sh" })
	broken.want("bash", `{"command":"true"}`, `{"success":false,"error":"execution_failed","message":"The command could not be started:`)
}

// Secrets in the output of a command do not reach a model, however it ends. R176
func TestBashIsCleaned(t *testing.T) {
	k := newKit(t, func(o *Options) {
		allow(o)
		o.Clean = func(text string) string { return strings.ReplaceAll(text, "sk-1234", "[redacted]") }
	})
	k.want("bash", `{"command":"echo sk-1234"}`, `{"success":true,"result":{"output":"[redacted]\n"`)
	k.want("bash", `{"command":"echo sk-1234; exit 3"}`, `{"success":false,"error":"execution_failed","message":"The command ended with exit code 3","result":{"output":"[redacted]\n"`)
}

// Nothing runs that was not allowed, and the refusal says what would allow it.
func TestBashAsks(t *testing.T) {
	refused := `{"success":false,"error":"permission_denied","reason":"not_approved","message":"`
	command := `{"command":"echo x > made"}`
	k := newKit(t, nil)
	k.want("bash", command, refused+`This command needs the user's approval, because it runs outside a sandbox, and nobody can be asked here"`)
	named := newKit(t, func(o *Options) { o.Cure = func(c *permit.Call) string { return "ask " + c.Tool + " nicely" } })
	named.want("bash", command, refused+`This command needs the user's approval, because it runs outside a sandbox, and nobody can be asked here; ask bash nicely`)
	var asked string
	no := newKit(t, func(o *Options) {
		o.Approve = func(_ context.Context, r *Request) (Answer, error) { asked = r.Command; return Answer{}, nil }
	})
	no.want("bash", command, refused+`The user did not allow this command"`)
	says := newKit(t, func(o *Options) {
		o.Approve = func(context.Context, *Request) (Answer, error) { return Answer{Why: "use make"}, nil }
	})
	says.want("bash", command, refused+`The user did not allow this command, and says: use make"`)
	if asked != "echo x > made" {
		t.Errorf("asked about %q", asked)
	}
	fail := newKit(t, func(o *Options) {
		o.Approve = func(context.Context, *Request) (Answer, error) {
			return Answer{Allowed: true}, errors.New("no terminal")
		}
	})
	fail.want("bash", command, refused+`The user could not be asked about this command: no terminal`)
	for _, k := range []*kit{k, named, no, says, fail} {
		if _, err := os.Stat(filepath.Join(k.ws, "made")); err == nil {
			t.Error("a command ran without permission")
		}
	}
}

// A command ends with its time, and with the turn.
func TestBashEnds(t *testing.T) {
	k := newKit(t, allow)
	if r := k.call("bash", `{"command":"while :; do sleep 60; done","timeout_ms":200}`); r.Error != tool.Timeout || r.Message != "The command was stopped after 200ms" {
		t.Errorf("got %s", text(r))
	}
	ctx, cancel := cancelled(t)
	stop := newKit(t, func(o *Options) {
		allow(o)
		o.Approve = func(context.Context, *Request) (Answer, error) { cancel(); return Answer{Allowed: true}, nil }
	})
	if r := stop.exec.Call(ctx, "bash", []byte(`{"command":"echo x > made; sleep 600"}`)); r.Cause() != tool.CauseStopped {
		t.Errorf("got %s", text(r))
	}
}

// A turn's own deadline is not the timeout of the command: the text does not name that.
func TestBashEndsWithTheTurnsDeadline(t *testing.T) {
	k := newKit(t, allow)
	for _, tt := range []struct {
		command string
		turn    time.Duration
		want    string
	}{
		{`{"command":"while :; do sleep 60; done"}`, 300 * time.Millisecond, "The command was stopped because the time for this prompt was over"},
		{`{"command":"while :; do sleep 60; done","timeout_ms":600000}`, 300 * time.Millisecond, "The command was stopped because the time for this prompt was over"},
		{`{"command":"while :; do sleep 60; done","timeout_ms":50}`, time.Hour, "The command was stopped after 50ms"},
	} {
		ctx, cancel := context.WithTimeout(t.Context(), tt.turn)
		defer cancel()
		if r := k.exec.Call(ctx, "bash", []byte(tt.command)); r.Error != tool.Timeout || r.Message != tt.want {
			t.Errorf("%s: got %s", tt.command, text(r))
		}
	}
}

func TestBashOutputIsCut(t *testing.T) {
	k := newKit(t, allow)
	r := k.call("bash", `{"command":"i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"}`)
	ran := r.Result.(Ran)
	if ran.Bytes != 208890 || len(ran.Output) > MaxOutput+100 || !strings.HasPrefix(ran.Output, "line 0\nline 1\n") || !strings.HasSuffix(ran.Output, "line 19998\nline 19999\n") ||
		!strings.Contains(ran.Output, "\n… 178890 bytes left out …\n") {
		t.Errorf("got %d of %d bytes: %.40q … %q", len(ran.Output), ran.Bytes, ran.Output, ran.Output[len(ran.Output)-40:])
	}
}

// Whatever the pieces, the beginning and the end are kept.
func TestHeadTail(t *testing.T) {
	rng := rand.New(rand.NewSource(1))
	for range 2000 {
		b, all := &headTail{max: 2 + 2*rng.Intn(8)}, []byte{}
		for range rng.Intn(12) {
			p := make([]byte, rng.Intn(10))
			for i := range p {
				p[i] = byte('a' + (len(all)+i)%26)
			}
			b.add(p)
			all = append(all, p...)
		}
		half, got := b.max/2, b.text()
		if len(all) <= b.max {
			if got != string(all) || b.cut() {
				t.Fatalf("got %q, want %q", got, all)
			}
		} else if !strings.HasPrefix(got, string(all[:half])+"\n…") || !strings.HasSuffix(got, "…\n"+string(all[len(all)-half:])) || !b.cut() {
			t.Fatalf("got %q of %q, half %d", got, all, half)
		}
	}
}
