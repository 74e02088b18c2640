//go:build unix

package parity

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/agent"
	"github.com/agent-base/agent-base/disclose"
	"github.com/agent-base/agent-base/internal/hosttool"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
	"github.com/agent-base/agent-base/llm/gemini"
	"github.com/agent-base/agent-base/llm/openai"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/session"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltest"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
	"github.com/agent-base/agent-base/skilltool"
	"github.com/agent-base/agent-base/tool"
)

// secret is in the source of every script and in no output of a script.
const secret = "SOURCE-LINE-7f3a"

// shelf has a skill that reads PDF files, one that lists stations, and a file to read.
const shelf = `
-- skills/pdf-processing/SKILL.md --
---
name: pdf-processing
description: Takes the text and the tables out of PDF files. Use when a PDF is named.
---
# PDF files

Run the script ` + "`extract_text`" + ` with the path of a file.

Before the first file read ` + "`references/formats.md`" + ` and [the limits](references/deep/limits.md).
Answer in the form of ` + "`assets/answer.txt`" + `.
-- skills/pdf-processing/references/formats.md --
# Formats

Text lies between parentheses, ahead of the operator Tj.
-- skills/pdf-processing/references/deep/limits.md --
At most 200 pages.
-- skills/pdf-processing/assets/answer.txt --
FILE: TEXT
-- skills/pdf-processing/scripts/extract_text.sh --
#!/bin/sh
# SOURCE-LINE-7f3a
if [ "$1" = --help ]; then
  echo 'Usage: extract_text FILE [--json]'
  echo
  echo 'Prints the text of a PDF file.'
  exit 0
fi
printf '{"text":"%s"}\n' "$(sed -n 's/^(\(.*\)) Tj$/\1/p' "$1")"
-- skills/stations/SKILL.md --
---
name: stations
description: Lists weather stations – temperatures in °C. Use for "how warm is it".
---
Look at the help of a script before you run it.
-- skills/stations/scripts/now.sh --
#!/bin/sh
# SOURCE-LINE-7f3a
case "$1" in
--help) echo 'Usage: now CITY [--json]'; echo; echo 'Tells the temperature in °C, "now".';;
Bern) echo '{"city":"Bern","celsius":21}';;
*) echo '{"error":"no station there"}'; exit 1;;
esac
-- skills/stations/scripts/all.sh --
#!/bin/sh
# SOURCE-LINE-7f3a
echo '["Bern"]'
-- work/sample.pdf --
%PDF-1.1
BT
(Grand total: 42 francs) Tj
ET
`

// wire is one protocol and a model that uses it.
type wire struct {
	name  fakemodel.Wire
	model func(t *testing.T, s *fakemodel.Server) llm.Model
}

func wires() []wire {
	return []wire{
		{fakemodel.Anthropic, func(t *testing.T, s *fakemodel.Server) llm.Model {
			return made(t)(anthropic.New(&anthropic.Options{Key: "k", BaseURL: s.URL, Model: "fake-model"}))
		}},
		{fakemodel.Responses, func(_ *testing.T, s *fakemodel.Server) llm.Model {
			return openai.New(&openai.Options{Key: "k", BaseURL: s.URL + "/v1", Model: "fake-model"})
		}},
		{fakemodel.Chat, func(_ *testing.T, s *fakemodel.Server) llm.Model {
			return openai.NewChat(&openai.Options{Key: "k", BaseURL: s.URL + "/v1", Model: "fake-model"})
		}},
		{fakemodel.Gemini, func(t *testing.T, s *fakemodel.Server) llm.Model {
			return made(t)(gemini.New(&gemini.Options{Key: "k", BaseURL: s.URL, Model: "fake-model"}))
		}},
	}
}

func made(t *testing.T) func(llm.Model, error) llm.Model {
	return func(m llm.Model, err error) llm.Model {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
}

// place has the folders of the conversations. They are the same for all, so paths are equal.
type place struct {
	catalog *skill.Catalog
	work    string // the workspace
	pdf     string // the folder of the skill pdf-processing
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root := skilltest.FromTxtar(t, shelf)
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{
		{Name: "test", Source: skill.Dir(filepath.Join(root, "skills"), nil), Trust: skill.TrustRoot}}})
	if err != nil {
		t.Fatal(err)
	}
	return &place{catalog: c, work: filepath.Join(root, "work"), pdf: filepath.Join(root, "skills", "pdf-processing")}
}

// talk is a finished conversation.
type talk struct {
	answers []*agent.Answer
	results []*agent.Result
}

// tools returns the seven tools of the agent and the five of the engine.
func (p *place) tools(t *testing.T, readScripts bool) *tool.Set {
	t.Helper()
	own, err := hosttool.Tools(&hosttool.Options{
		Workspace: p.work,
		Mounts:    func(context.Context) []hosttool.Mount { return []hosttool.Mount{{Name: "pdf-processing", Dir: p.pdf}} },
		Scripts: func(_ context.Context, _ *hosttool.Mount, files fs.FS) (out []hosttool.Script) {
			for _, sc := range survey.Of(files, &manifest.Manifest{}, nil).Kept() {
				out = append(out, hosttool.Script{File: sc.File, Name: sc.Name})
			}
			return out
		},
		ReadScripts: readScripts,
		Approve: func(context.Context, *hosttool.Request) (hosttool.Answer, error) {
			return hosttool.Answer{Allowed: true}, nil
		},
		Env: []string{"PATH=" + os.Getenv("PATH")},
	})
	if err != nil {
		t.Fatal(err)
	}
	host, err := script.New(&script.Options{LookPath: exec.LookPath, Cache: t.TempDir(), Workspace: p.work})
	if err != nil {
		t.Fatal(err)
	}
	kit := skilltool.New(&skilltool.Options{
		Catalog: func() *skill.Catalog { return p.catalog },
		Session: session.New(nil),
		Scripts: host,
		Show:    skilltool.Show{Unlisted: true, ReadScripts: readScripts},
	})
	set := &tool.Set{}
	for _, tl := range append(own, kit.Tools()...) {
		if err := set.Add(tl); err != nil {
			t.Fatal(err)
		}
	}
	return set
}

// converse sends m one prompt after the other, as the agent does, with the skills in the system text.
func (p *place) converse(t *testing.T, m llm.Model, readScripts bool, prompts ...string) *talk {
	t.Helper()
	set := p.tools(t, readScripts)
	blocks := &disclose.BlockOptions{Blocks: disclose.Blocks()}
	for tl := range set.All() {
		blocks.Tools = append(blocks.Tools, tl.Name)
	}
	plan, err := disclose.NewPlan(t.Context(), p.catalog, &disclose.PlanOptions{Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	c := agent.New(&agent.Options{Model: m, Tools: &tool.Executor{Tools: set}, System: plan.Prefix().Body, MaxTurns: 20, CacheKey: "parity"})
	out := &talk{}
	for _, prompt := range prompts {
		for s, err := range c.Ask(t.Context(), prompt) {
			if err != nil {
				t.Fatal(err)
			}
			if s.Result != nil {
				out.results = append(out.results, s.Result)
			}
			if s.Done != nil {
				out.answers = append(out.answers, s.Done)
			}
		}
	}
	return out
}

// call returns a step that calls one tool.
func call(name string, args map[string]any) fakemodel.Step {
	return fakemodel.Step{Calls: []fakemodel.Call{calling(name, args)}}
}

func calling(name string, args map[string]any) fakemodel.Call {
	b, err := json.Marshal(args)
	if err != nil {
		panic(err) // cannot happen: the arguments are JSON values
	}
	return fakemodel.Call{Name: name, Args: string(b)}
}

// field returns one field of the last result by a path such as "result.content", or "".
func field(q *fakemodel.Request, path string) string {
	var v any
	if json.Unmarshal([]byte(q.LastResult()), &v) != nil {
		return ""
	}
	for _, name := range strings.Split(path, ".") {
		m, _ := v.(map[string]any)
		v = m[name]
	}
	if s, ok := v.(string); ok {
		return s
	}
	b, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(b)
}

// shown returns all that a model was shown with one request, in the same form for all wires. Calls are numbered, because
// each wire has its own IDs.
func shown(t *testing.T, q *fakemodel.Request) string {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "SYSTEM %s\n", q.System)
	for _, tl := range q.Tools {
		fmt.Fprintf(&b, "TOOL %s: %s %s\n", tl.Name, tl.Description, canonical(t, tl.Input))
	}
	ids := map[string]int{}
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Call != nil:
				ids[p.Call.ID] = len(ids)
				fmt.Fprintf(&b, "CALL %d %s %s\n", ids[p.Call.ID], p.Call.Name, canonical(t, []byte(p.Call.Args)))
			case p.Result != nil:
				fmt.Fprintf(&b, "RESULT %d %s %s\n", ids[p.Result.ID], p.Result.Name, p.Result.Text)
			default:
				fmt.Fprintf(&b, "%s %s\n", strings.ToUpper(m.Role), p.Text)
			}
		}
	}
	return b.String()
}

// canonical returns JSON with sorted keys.
func canonical(t *testing.T, raw []byte) string {
	t.Helper()
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%v in %s", err, raw)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(b.String())
}
