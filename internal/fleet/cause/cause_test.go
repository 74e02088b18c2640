package cause

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/internal/envstore"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/nodeenv"
	"github.com/agent-base/agent-base/internal/program"
	"github.com/agent-base/agent-base/internal/pyenv"
	"github.com/agent-base/agent-base/mcphost"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/tool"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// samples has an error of each kind, with all of its fields, and its form. The forms are those that other versions write: change none.
func samples() map[string]struct {
	err  error
	form string
} {
	text := errors.New("why")
	const why = `"under":[{"text":"why"}]`
	return map[string]struct {
		err  error
		form string
	}{
		"fail.Error": {&script.Error{Code: script.ExecutionFailed, Reason: script.ReasonNetwork, Message: "Script failed", Stdout: []byte("{}"), Err: text,
			Wants: want.New(want.Want{Kind: want.Host, Name: "example.com", From: want.Refused}), Suggest: "b", Ended: true, Warning: "w",
			Sandbox: &runner.Sandbox{Tier: "A", Layers: []string{"network"}, Missing: []string{}}},
			`{"kind":"script","text":"Script failed","of":{"Code":"execution_failed","Reason":"network_not_permitted","Message":"Script failed","Stdout":"e30=","Err":null,` +
				`"Wants":["refused host:example.com"],"Suggest":"b","Ended":true,"Warning":"w","Sandbox":{"tier":"A","layers":["network"],"missing":[]}},` + why + `}`},
		"toolset.Error": {&toolset.Error{Skill: "s", Toolset: "t:T", Kind: toolset.KindPackage, Message: "m", Package: "p", Trace: "at", Err: text},
			`{"kind":"toolset","text":"Toolset t:T of skill 's': m\nat","of":{"Skill":"s","Toolset":"t:T","Kind":"package","Message":"m","Package":"p","Trace":"at","Err":null},` + why + `}`},
		"pyenv.Error": {&pyenv.Error{Reason: pyenv.ReasonPython, Message: "m", Err: text},
			`{"kind":"python","text":"m","of":{"Reason":"python_version","Message":"m","Err":null},` + why + `}`},
		"pyenv.SizeError": {&pyenv.SizeError{MaxBytes: 7}, `{"kind":"packages_size","text":"the packages unpack to more than 7 bytes","of":{"MaxBytes":7},` +
			`"under":[{"kind":"packages_large","text":"the packages unpack to too much"}]}`},
		"pyenv.NoWheelError": {&pyenv.NoWheelError{Package: "p"}, ""},
		"envstore.HostError": {&envstore.HostError{Hosts: []string{"a", "b"}}, ""},
		"nodeenv.Error": {&nodeenv.Error{Reason: nodeenv.ReasonMetadata, Message: "m", Err: text},
			`{"kind":"npm","text":"m","of":{"Reason":"metadata_invalid","Message":"m","Err":null},` + why + `}`},
		"nodeenv.MissingError": {&nodeenv.MissingError{Manager: "npm", Get: "get it"}, ""},
		"program.DroppedError": {&program.DroppedError{Path: "/p", Reason: "is in the project"}, ""},
		"runner.SandboxError": {&runner.SandboxError{Layer: "namespaces", Cure: "Do.", Err: text},
			`{"kind":"sandbox","text":"the sandbox has no namespaces: why. Do.","of":{"Layer":"namespaces","Cure":"Do.","Err":null},` + why + `}`},
		"runner.DeniedError": {&runner.DeniedError{Dir: "/d", What: "more"}, ""},
		"mcphost.WaitError":  {&mcphost.WaitError{Failures: 2, Wait: time.Second, Last: text}, ""},
		"mcphost.Error":      {&mcphost.Error{Code: -32602, Message: "no"}, ""},

		"pyenv.ErrNoUV":            {pyenv.ErrNoUV, ""},
		"pyenv.ErrTooLarge":        {pyenv.ErrTooLarge, ""},
		"pyenv.ErrLargeDownload":   {pyenv.ErrLargeDownload, ""},
		"pyenv.ErrTooSlow":         {pyenv.ErrTooSlow, ""},
		"nodeenv.ErrTooLarge":      {nodeenv.ErrTooLarge, ""},
		"nodeenv.ErrLargeDownload": {nodeenv.ErrLargeDownload, ""},
		"plan.ErrNeverPasses":      {script.ErrNeverPasses, ""},
		"places.ErrInUse":          {script.ErrInUse, ""},
		"runner.ErrNoLayer":        {runner.ErrNoLayer, ""},
		"skill.ErrClosed":          {skill.ErrClosed, ""},
		"skill.ErrNoFolder":        {skill.ErrNoFolder, ""},
		"skill.ErrChanged":         {skill.ErrChanged, `{"kind":"skill_changed","text":"files have changed since the digest was computed"}`},
		"mcphost.ErrClosed":        {mcphost.ErrClosed, ""},
		"lockfile.ErrLocked":       {lockfile.ErrLocked, ""},
		"context.Canceled":         {context.Canceled, `{"kind":"canceled","text":"context canceled"}`},
		"context.DeadlineExceeded": {context.DeadlineExceeded, ""},
		"fs.ErrNotExist":           {fs.ErrNotExist, ""},
		"fs.ErrPermission":         {fs.ErrPermission, ""},
	}
}

// asText lists errors whose text is enough, with the reasons.
var asText = map[string]string{
	"explain.refusedFile": "the failure has its wants", "explain.refusedHosts": "the failure has its wants", "explain.missingModule": "the failure has its wants",
	"explain.filesAbove": "the failure has its wants", "explain.otherTemp": "nothing gives it",
	"nodeenv.refused": "its reason is that of the nodeenv.Error", "nodeenv.largeError": "it becomes a nodeenv.ErrLargeDownload", "nodeenv.errCertificate": "nobody asks for it outside of nodeenv",
	"layer.errNotCopied": "nobody asks for it outside of layer", "lockfile.kindError": "the kinds are of files that no worker has", "lockfile.errHeld": "it never leaves lockfile",
	"lockfile.UnsafeError": "it is about files that no worker has", "toolset.wrongEntry": "it becomes a toolset.Error", "toolset.errNotReady": "it becomes a toolset.Error",
	"skill.NotFoundError": "skills are looked up where they are admitted", "skill.BrokenError": "likewise", "skill.NotAdmittedError": "likewise", "skill.ReplacedError": "likewise",
	"skill.ResourceError": "files of skills are read there, too", "skill.ErrLinked": "likewise", "skill.ErrTooBig": "it becomes a pyenv.Error", "skill.errIrregular": "likewise",
	"mcphost.ServerError": "servers of the user are no matter of a skill", "mcphost.errAlive": "it never leaves mcphost", "mcphost.errLogin": "of servers with a URL",
	"mcphost.errGone": "of servers with a URL", "mcphost.errNotReady": "of servers of the user", "mcphost.errTooLong": "likewise", "mcphost.errOver": "likewise",
}

// Every kind keeps its text, its type, and all of its fields, and its form is that of other versions.
func TestEveryKind(t *testing.T) {
	covered := map[string]bool{}
	for name, s := range samples() {
		for v, i := reflect.Indirect(reflect.ValueOf(s.err)), 0; strings.HasSuffix(name, "Error") && i < v.NumField(); i++ {
			if v.Field(i).IsZero() {
				t.Errorf("%s: the sample has no %s", name, v.Type().Field(i).Name)
			}
		}
		b, err := json.Marshal(Of(s.err))
		if err != nil {
			t.Fatal(err)
		}
		if s.form != "" && string(b) != s.form {
			t.Errorf("%s:\ngot  %s\nwant %s", name, b, s.form)
		}
		var f Form
		if err := json.Unmarshal(b, &f); err != nil || f.Kind == "" {
			t.Fatalf("%s has no kind in %s: %v", name, b, err)
		}
		covered[f.Kind] = true
		got := f.Err()
		if d := cmp.Diff(s.err, got, cmp.Exporter(func(reflect.Type) bool { return true }), cmp.Comparer(sameInner)); d != "" || got.Error() != s.err.Error() {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
		if outer := fmt.Errorf("outside: %w", s.err); !reflect.DeepEqual(tool.Lacked(outer), tool.Lacked(Of(outer).Err())) || Of(outer).Err().Error() != outer.Error() {
			t.Errorf("%s: wrapped, it lacks something else", name)
		}
	}
	for _, k := range kinds() {
		if !covered[k.name] {
			t.Errorf("no sample of the kind %s", k.name)
		}
	}
}

// sameInner compares errors that are only texts.
func sameInner(a, b error) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Error() == b.Error() && (reflect.TypeOf(a) == reflect.TypeOf(b) || fmt.Sprintf("%T", b) == "*cause.textError")
}

// Each type of error, and each fixed one, of the packages behind a call of a skill has a kind, or a reason why its text is enough.
func TestNoneIsForgotten(t *testing.T) {
	known := samples()
	dirs, err := filepath.Glob("../../../script/internal/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal(dirs, err)
	}
	dirs = append(dirs, "../../pyenv", "../../nodeenv", "../../envstore", "../../program", "../../lockfile", "../../../script", "../../../script/runner",
		"../../../skill", "../../../toolset", "../../../mcphost")
	found := errorsIn(t, dirs...)
	if len(found) < len(asText) {
		t.Errorf("only %d errors are found: %v", len(found), found)
	}
	for _, name := range found {
		if _, ok := known[name]; !ok && asText[name] == "" {
			t.Errorf("%s has neither a kind nor a reason why its text is enough", name)
		}
	}
	for name := range asText {
		if !slices.Contains(found, name) {
			t.Errorf("%s is not there any more", name)
		}
	}
}

// What is not of the list, or cannot be read, is its text, with what it wraps.
func TestUnknown(t *testing.T) {
	for _, f := range []string{
		`{"kind":"of_later","text":"new","of":{"A":1},"under":[{"kind":"not_exist","text":"file does not exist"}]}`,
		`{"kind":"script","text":"new","of":{"Wants":["of_later:x"]},"under":[{"kind":"not_exist","text":"file does not exist"}]}`,
		`{"kind":"sandbox","text":"new","of":[],"under":[{"text":"x","under":[{"kind":"not_exist","text":""}]}]}`,
	} {
		var form Form
		if err := json.Unmarshal([]byte(f), &form); err != nil {
			t.Fatal(err)
		}
		if err := form.Err(); err.Error() != "new" || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: got %v", f, err)
		}
	}
	_, err := os.Open(filepath.Join(t.TempDir(), "none"))
	if got := Of(fmt.Errorf("a: %w", err)).Err(); !errors.Is(got, fs.ErrNotExist) || got.Error() != "a: "+err.Error() {
		t.Errorf("an error of the system became %v", got)
	}
	if Of(nil) != nil || (*Form)(nil).Err() != nil {
		t.Error("nil is not nil")
	}
}

// A want that is none, which a script may have printed, does not take the rest of a failure with it.
func TestOddWant(t *testing.T) {
	err := &script.Error{Code: script.Timeout, Message: "m", Wants: want.Set{{Kind: want.Read, Name: "relative"}, want.HostOf("a.example")}}
	got, ok := errors.AsType[*script.Error](Of(err).Err())
	if !ok || got.Code != script.Timeout || got.Wants.String() != "host:a.example" || len(err.Wants) != 2 {
		t.Errorf("got %v, %+v", ok, got)
	}
}

// A form has bounds, however an error is made, and so has an error of a form.
func TestBounds(t *testing.T) {
	deep, wide := errors.New("deep"), []error{}
	for range 10_000 {
		deep = fmt.Errorf("%w", deep)
		wide = append(wide, deep)
	}
	count := func(err error) int {
		b, _ := json.Marshal(Of(err))
		return strings.Count(string(b), `"text"`)
	}
	if d, w := count(deep), count(errors.Join(wide...)); d != maxDepth+1 || w != maxForms {
		t.Errorf("%d and %d forms", d, w)
	}
	f := Form{Text: "x"}
	for range 10_000 {
		f = Form{Text: "x", Under: []Form{f, f}}
	}
	n := 0
	var walk func(error)
	walk = func(err error) {
		n++
		for _, one := range wrapped(err) {
			walk(one)
		}
	}
	if walk(f.Err()); n != maxForms {
		t.Errorf("%d errors", n)
	}
}
