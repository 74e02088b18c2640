// Package order has a call of a skill as data: the order for it, the parts of its output, and its result. A Sender makes orders of the
// calls of a skilltool.Kit, a Worker carries them out, and neither shares a folder or a pointer with the other. How the bytes get from
// one to the other is not decided here.
//
// An order names no folder of any machine: the skill is content, by its ID, and what it was granted is names. What stands for a folder
// is refused.
package order

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/want"
)

// Version is that of the forms of orders and results.
const Version = 1

// Bounds of what is sent, in bytes.
const (
	MaxOrder  = 512 << 10
	MaxResult = 2 << 20
	MaxOutput = script.DefaultOutput // of a script; a manifest may ask for more
	MaxInline = 64 << 10             // of standard input that is in the order itself
)

// Call is what is called.
type Call string

// The calls.
const (
	Run  Call = "run"
	Help Call = "help"
	Hook Call = "hook"

	Tools Call = "tools" // lists those of toolsets
	Tool  Call = "tool"  // calls one of them
)

// Order is a call of a skill.
type Order struct {
	Version int             `json:"v"`
	Run     string          `json:"run"`               // names the run; no other order has it
	Attempt uint64          `json:"attempt,omitempty"` // a later attempt at the run has a higher one
	Worker  string          `json:"worker,omitempty"`  // alone carries it out
	Start   string          `json:"start,omitempty"`   // the start of the worker that does
	For     Identity        `json:"for"`
	Parent  string          `json:"traceparent,omitempty"` // the span that it belongs to, as W3C Trace Context has it
	Call    Call            `json:"call"`
	Skill   skill.ID        `json:"skill"`
	Script  *Script         `json:"script,omitempty"` // of run and help
	Hook    *HookOf         `json:"hook,omitempty"`
	Tool    *ToolOf         `json:"tool,omitempty"`    // of tools and tool
	Session string          `json:"session,omitempty"` // likewise: the session of the tenant that has the toolsets
	Args    []string        `json:"args,omitempty"`
	JSON    script.JSONMode `json:"json,omitempty"`
	Stdin   *Input          `json:"stdin,omitempty"`
	Grant   Grant           `json:"grant"`
	Timeout time.Duration   `json:"timeout,omitempty"` // of the run, in nanoseconds; 0 means the worker's
	Until   time.Time       `json:"until,omitzero"`    // when it is too late to begin, and to go on
	Watch   bool            `json:"watch,omitempty"`   // somebody reads the output while it runs
	Repeat  bool            `json:"repeat,omitempty"`  // it may run twice: the caller says so
	Sealed  []byte          `json:"sealed,omitempty"`  // the values of variables, which this start of the worker alone can open
}

// Identity says for whom a call is made, as trace.Identity has it.
type Identity struct {
	Agent       string `json:"agent,omitempty"`
	Task        string `json:"task,omitempty"`
	Tenant      string `json:"tenant,omitempty"`
	Correlation string `json:"correlation,omitempty"`
	Model       string `json:"model,omitempty"`
}

// Script is a script of a skill, see script.Script.
type Script struct {
	Name string `json:"name"`
	File string `json:"file"`
}

// HookOf is a hook of a skill: either a Script or a Command.
type HookOf struct {
	Event   string `json:"event"`
	Script  string `json:"script,omitempty"`
	Command string `json:"command,omitempty"`
}

// Input is standard input: its Data, or its Digest and Size where it is too long for an order.
type Input struct {
	Data   []byte `json:"data,omitempty"`
	Digest string `json:"digest,omitempty"`
	Size   int64  `json:"size,omitempty"`
	Whole  []byte `json:"-"` // the input itself, where the order is made
}

// Grant is what the skill has, everything that counts of its manifest included: hosts, names of variables, packages.
type Grant struct {
	Given   want.Set           `json:"given,omitempty"`
	Note    string             `json:"note,omitempty"`
	Confine runner.Confinement `json:"confine,omitempty"`
}

// LocalError is the error of a grant that cannot be sent.
type LocalError struct{ Want want.Want }

// Error names it.
func (e *LocalError) Error() string {
	return fmt.Sprintf("the grant %q is about one machine, and scripts run on another: take it back, or run the skill where it was granted", e.Want.String())
}

// grantOf returns what travels of what a skill was granted. It returns a *LocalError for what is of one machine alone: folders, the agents
// that hold keys, and the whole network, which for another machine has neighbours that nobody thought of.
func grantOf(g *script.Grant, m *manifest.Manifest) (Grant, error) {
	given := g.Given
	if g.Declared {
		given = given.Add(script.Declared(m).Without(g.Withheld...)...)
	}
	for _, w := range given {
		if w.Kind.Local() || w.Kind == want.Host && w.Name == want.Any {
			return Grant{}, &LocalError{w}
		}
	}
	given, _ = given.Split(func(w want.Want) bool { return w.Kind.Granted() })
	return Grant{given, g.Note, g.Confine}, nil
}

// Encode returns the JSON form. It returns the error of Check, or says that the order is too large.
func (o *Order) Encode() ([]byte, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return encode(o, MaxOrder, "order")
}

// encode returns the JSON form of something in one line, with the texts of JSON in it as they are.
func encode(v any, most int, what string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	out := bytes.TrimSuffix(b.Bytes(), []byte("\n"))
	if len(out) > most {
		return nil, fmt.Errorf("the %s has %d bytes, more than %d", what, len(out), most)
	}
	return out, nil
}

// Decode reads the JSON form of an order, which anybody may have written. An order with a member that this version does not know is
// refused: it may be there to forbid something.
func Decode(b []byte) (*Order, error) {
	if len(b) > MaxOrder {
		return nil, fmt.Errorf("an order of %d bytes, more than %d", len(b), MaxOrder)
	}
	var v struct {
		Version int `json:"v"`
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, fmt.Errorf("no order: %w", err)
	}
	if v.Version != Version {
		return nil, fmt.Errorf("an order of version %d: this program reads version %d; give all machines the same version", v.Version, Version)
	}
	o := &Order{}
	dec := json.NewDecoder(bytes.NewReader(b))
	dec.DisallowUnknownFields()
	if err := dec.Decode(o); err != nil {
		return nil, fmt.Errorf("no order: %w", err)
	}
	return o, o.Check()
}

// Check returns an error if the order is not complete, contradicts itself, or names what no order may.
func (o *Order) Check() error {
	scripted := o.Call == Run || o.Call == Help
	switch {
	case o.Version != Version:
		return fmt.Errorf("version %d of an order", o.Version)
	case o.Run == "" || len(o.Run) > maxName:
		return errors.New("an order names its run")
	case !slices.Contains([]Call{Run, Help, Hook, Tools, Tool}, o.Call):
		return fmt.Errorf("%q is no call", string(o.Call))
	case o.Skill.Name == "" || manifest.Canonical(o.Skill.Name) != o.Skill.Name || !isDigest(o.Skill.Digest):
		return fmt.Errorf("no content of a skill: %q with the digest %q", o.Skill.Name, o.Skill.Digest)
	case scripted != (o.Script != nil) || (o.Call == Hook) != (o.Hook != nil):
		return fmt.Errorf("the call %s has a script, or a hook: the one that it is about", o.Call)
	case o.Script != nil && (!fs.ValidPath(o.Script.File) || o.Script.File == "." || o.Script.Name == ""):
		return fmt.Errorf("no script of a skill: %q", o.Script.File)
	case !slices.Contains([]script.JSONMode{"", script.JSONAuto, script.JSONYes, script.JSONNo}, o.JSON):
		return fmt.Errorf("JSON is %q", string(o.JSON))
	case slices.ContainsFunc(o.Args, func(a string) bool { return !utf8.ValidString(a) }):
		return errors.New("an argument is not UTF-8, and an order is JSON")
	case o.Timeout < 0:
		return fmt.Errorf("a timeout of %s", o.Timeout)
	}
	if err := o.Tool.check(o.Call, o.Session); err != nil {
		return err
	}
	if err := o.Stdin.check(); err != nil {
		return err
	}
	if err := o.Grant.check(); err != nil {
		return err
	}
	return script.CheckArgs(o.Args)
}

const maxName = 256 // bytes

// isDigest reports whether a text is a digest of skill.Skill.Digest.
func isDigest(text string) bool {
	hex, ok := strings.CutPrefix(text, "sha256:")
	return ok && len(hex) == 64 && strings.Trim(hex, "0123456789abcdef") == ""
}

func (i *Input) check() error {
	switch {
	case i == nil:
	case len(i.Data) > MaxInline:
		return fmt.Errorf("standard input of %d bytes in an order, more than %d", len(i.Data), MaxInline)
	case i.Digest != "" && (len(i.Data) > 0 || !isDigest(i.Digest) || i.Size <= 0 || i.Size > runner.MaxStdin):
		return fmt.Errorf("standard input with the digest %q and %d bytes", i.Digest, i.Size)
	}
	return nil
}

func (g *Grant) check() error {
	if !slices.Contains([]runner.Confinement{"", runner.ConfineOff, runner.ConfineAuto, runner.ConfineRequired}, g.Confine) {
		return fmt.Errorf("%q confines nothing", string(g.Confine))
	}
	if err := g.Given.Check(); err != nil {
		return err
	}
	same, err := grantOf(&script.Grant{Given: g.Given}, nil)
	if err == nil && len(same.Given) != len(g.Given) {
		err = errors.New("the grant of an order has something that nobody can grant")
	}
	return err
}
