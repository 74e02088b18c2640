package order

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/fleet/cause"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/want"
)

var update = flag.Bool("update", false, "write the vectors")

var until = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// full is an order with all that one can have.
func full() *Order {
	return &Order{Version: Version, Run: "r1", Attempt: 7, Worker: "w1", Start: "s1", For: Identity{"main", "t", "acme", "c", "m"},
		Parent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", Call: Run, Skill: skill.ID{Layer: "project", Name: "a", Digest: digest},
		Script: &Script{"run", "scripts/run.py"}, Args: []string{"<x>", "é"}, JSON: script.JSONYes, Stdin: &Input{Data: []byte("in")},
		Grant:   Grant{want.New(want.HostOf("a.example"), want.Want{Kind: want.Variable, Name: "A_*", From: want.Declared}), "note", runner.ConfineRequired},
		Timeout: time.Minute, Until: until, Watch: true, Repeat: true, Sealed: []byte{1}}
}

func fullResult() *Result {
	n, yes := int64(3), true
	return &Result{Version: Version, Run: "r1", Attempt: 7, Worker: "w1", Start: "s1", Parts: 2,
		Output: &Output{JSON: json.RawMessage(`{"a":"<1>"}`), Text: "t", Warning: "w", Duration: time.Second, Sandbox: runner.Sandbox{Tier: "A", Layers: []string{"x"}, Missing: []string{"y"}},
			Wants: want.New(want.HostOf("a.example"))},
		Help: &HelpText{"t", "u", true}, Hook: &HookOutput{ExitCode: 2, Stdout: []byte("o"), Cut: true, Stderr: []byte("e"), Duration: 1, Missed: cause.Of(errors.New("x"))},
		Failure: cause.Of(&script.Error{Code: script.Timeout, Message: "m"}),
		Facts:   []Attr{{Key: "program", Text: "b"}, {Key: "n", Int: &n}, {Key: "y", Bool: &yes}},
		Events:  []Event{{until, trace.NetworkRefused, -4, "s", "m", 5, cause.Of(errors.New("x")), []Attr{{Key: "host", Text: "h"}}}}}
}

func key() ed25519.PrivateKey {
	return ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
}

// What other versions wrote is read, and what they read is written.
func TestVectors(t *testing.T) {
	for name, made := range map[string]func() ([]byte, error){
		"order.json":  full().Encode,
		"signed.json": func() ([]byte, error) { return full().Sign("d1", key()) },
		"result.json": fullResult().Encode,
	} {
		b, err := made()
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, append(b, '\n'), 0o644); err != nil { //nolint:gosec // no secret
				t.Fatal(err)
			}
		}
		wanted, err := os.ReadFile(file)
		if err != nil || string(b)+"\n" != string(wanted) {
			t.Errorf("%s:\ngot  %s\nwant %s%v", name, b, wanted, err)
		}
	}
	b, _ := os.ReadFile("testdata/order.json")
	if got, err := Decode(b); err != nil || cmp.Diff(full(), got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(full(), got))
	}
	b, _ = os.ReadFile("testdata/result.json")
	if got, err := DecodeResult(b); err != nil || cmp.Diff(fullResult(), got) != "" {
		t.Errorf("%v %s", err, cmp.Diff(fullResult(), got))
	}
}

// An order that is not whole, or names what no order may, is refused, however it came to be.
func TestRefused(t *testing.T) {
	for text, edit := range map[string]func(*Order){
		"version 2":                        func(o *Order) { o.Version = 2 },
		"names its run":                    func(o *Order) { o.Run = "" },
		"is no call":                       func(o *Order) { o.Call = "shell" },
		"no content of a skill":            func(o *Order) { o.Skill.Digest = "sha256:" + strings.Repeat("A", 64) },
		"no content of a skill: \"A\"":     func(o *Order) { o.Skill.Name = "A" },
		"the one that it is about":         func(o *Order) { o.Hook = &HookOf{Event: "Stop"} },
		"call help has a script":           func(o *Order) { o.Call, o.Script = Help, nil },
		"no script of a skill: \"../x\"":   func(o *Order) { o.Script.File = "../x" },
		"no script of a skill: \"/x\"":     func(o *Order) { o.Script.File = "/x" },
		"timeout of -1":                    func(o *Order) { o.Timeout = -1 },
		"JSON is \"x\"":                    func(o *Order) { o.JSON = "x" },
		"standard input of 65537 bytes":    func(o *Order) { o.Stdin.Data = make([]byte, MaxInline+1) },
		"standard input with the digest":   func(o *Order) { o.Stdin = &Input{Digest: digest, Size: runner.MaxStdin + 1} },
		"grant \"read:/etc\" is about one": func(o *Order) { o.Grant.Given = want.Set{want.ReadOf("/etc")} },
		"grant \"home\" is about one":      func(o *Order) { o.Grant.Given = want.Set{want.Of(want.Home, "")} },
		"grant \"socket:ssh\" is about":    func(o *Order) { o.Grant.Given = want.Set{want.Of(want.Socket, want.SSH)} },
		"grant \"host:*\" is about one":    func(o *Order) { o.Grant.Given = want.Set{want.HostOf(want.Any)} },
		"nobody can grant":                 func(o *Order) { o.Grant.Given = want.Set{want.Of(want.Command, "git")} },
		"confines nothing":                 func(o *Order) { o.Grant.Confine = "perhaps" },
		"Too many arguments":               func(o *Order) { o.Args = make([]string, script.MaxArgs+1) },
		"bytes, more than":                 func(o *Order) { o.Sealed = make([]byte, MaxOrder) },
	} {
		o := full()
		edit(o)
		if _, err := o.Encode(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: encoded with the error %v", text, err)
		}
		b, _ := json.Marshal(o)
		if _, err := Decode(b); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: decoded with the error %v", text, err)
		}
	}
	whole, _ := full().Encode()
	for want, b := range map[string]string{
		"version 2": strings.Replace(string(whole), `"v":1`, `"v":2`, 1), "unknown field": strings.Replace(string(whole), `"v":1`, `"v":1,"only":"x"`, 1),
		"after top-level": string(whole) + "{}", "no order": "[",
	} {
		if _, err := Decode([]byte(b)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", want, err)
		}
	}
	for want, b := range map[string]string{"version 0": "{}", "no result": "x", "more than": strings.Repeat(" ", MaxResult+1)} {
		if _, err := DecodeResult([]byte(b)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a result, %s: got %v", want, err)
		}
	}
}

// What a manifest declares is in the order, but not what was withheld; no kind of grant is forgotten.
func TestGrant(t *testing.T) {
	m, _ := manifest.Parse([]byte("---\nname: a\ndescription: d\npermissions:\n  env: [A_TOKEN, B_TOKEN]\n  network: [a.example]\n---\n"), nil)
	g, err := grantOf(&script.Grant{Declared: true, Withheld: want.Set{want.VariableOf("B_TOKEN")}, Given: want.Set{want.HostOf("b.example"), want.Of(want.Unasked, "")}, Note: "n"}, m)
	if err != nil || g.Given.String() != "declared env:A_TOKEN, unasked, declared host:a.example, host:b.example" || g.Note != "n" {
		t.Errorf("got %v, %v", g, err)
	}
	for _, k := range want.Kinds() {
		w := want.Of(k, k.Sample())
		if k == want.Read || k == want.Write || k == want.Around {
			w.Name = "/x"
		}
		g, err := grantOf(&script.Grant{Given: want.Set{w}}, nil)
		var local *LocalError
		if travels := len(g.Given) == 1; errors.As(err, &local) != k.Local() || travels == k.Local() && k.Granted() {
			t.Errorf("%s: got %v, %v", k, g, err)
		}
	}
}

// A worker takes an order only if a known key signed it for this start of the worker.
func TestReceiver(t *testing.T) {
	receiver := Receiver{Worker: "w1", Start: "s1", Tenant: "acme", Keys: map[string]ed25519.PublicKey{"d1": key().Public().(ed25519.PublicKey)}}
	sign := func(edit func(*Order), name string, k ed25519.PrivateKey) []byte {
		o := full()
		if edit != nil {
			edit(o)
		}
		b, err := o.Sign(name, k)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	good, other := sign(nil, "d1", key()), ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	var parts signed
	if err := json.Unmarshal(good, &parts); err != nil {
		t.Fatal(err)
	}
	parts.Order = bytes.Replace(parts.Order, []byte("a.example"), []byte("b.example"), 1)
	altered, _ := json.Marshal(parts)
	for want, b := range map[string][]byte{
		"":                        good,
		"nobody signed":           sign(nil, "d1", other),
		"nobody signed the order": sign(nil, "d2", key()),
		"nobody signed the":       altered,
		"another worker":          sign(func(o *Order) { o.Worker = "w2" }, "d1", key()),
		"another start":           sign(func(o *Order) { o.Start = "s0" }, "d1", key()),
		"another tenant":          sign(func(o *Order) { o.For.Tenant = "other" }, "d1", key()),
		"no order":                []byte("x"),
	} {
		if o, err := receiver.Open(b); want == "" && (err != nil || o.Run != "r1") || want != "" && (o != nil || err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: got %v, %v", want, o, err)
		}
	}
	for _, edit := range []func(*Order){func(o *Order) { o.Until = time.Time{} }, func(o *Order) { o.Start = "" }, func(o *Order) { o.Attempt = 0 }} {
		o := full()
		if edit(o); true {
			if _, err := o.Sign("d1", key()); err == nil {
				t.Errorf("signed: %+v", o)
			}
		}
	}
}

// What is read as an order is written as the same order, and what nobody signed is never opened.
func FuzzDecode(f *testing.F) {
	for _, name := range []string{"order.json", "signed.json", "result.json"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if o, err := Decode(b); err == nil {
			text, err := o.Encode()
			if err != nil && len(b) < MaxOrder/8 {
				t.Fatal(err)
			}
			if again, err2 := Decode(text); err == nil && (err2 != nil || cmp.Diff(o, again) != "") {
				t.Fatalf("%v %s", err2, cmp.Diff(o, again))
			}
		}
		r := &Receiver{Worker: "w1", Start: "s1"}
		if o, err := r.Open(b); err == nil {
			t.Fatalf("opened %+v", o)
		}
		if r, err := DecodeResult(b); err == nil {
			_ = r.of(full())
			if err := r.Failure.Err(); err != nil {
				_ = err.Error()
			}
			if r.Hook != nil {
				_ = r.Hook.answer()
			}
			_ = r.facts()
		}
	})
}
