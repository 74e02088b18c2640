//go:build unix

package parity

import (
	"context"
	"flag"
	"iter"
	"os"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/anthropic"
	"github.com/agent-base/agent-base/llm/gemini"
	"github.com/agent-base/agent-base/llm/openai"
	"github.com/agent-base/agent-base/skilltest/fakemodel"
	"github.com/agent-base/agent-base/skilltool"
)

// go test ./internal/test/parity -run Live -live anthropic/NAME,openai/NAME,gemini/NAME
//
// The keys are read from ANTHROPIC_API_KEY, OPENAI_API_KEY and GEMINI_API_KEY. Without the flag the tests
// send nothing to other machines.
var live = flag.String("live", "", "real models to ask, as provider/name, with commas between")

// R97: a real model chooses the skill, runs its script without reading it, and puts the result into its answer.
func TestLive(t *testing.T) {
	for name := range strings.SplitSeq(*live, ",") {
		if name == "" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			checkLive(t, p, realModel(t, name))
		})
	}
}

// The check passes for a model that behaves correctly.
func TestLiveCheck(t *testing.T) {
	p := newPlace(t)
	for _, w := range wires() {
		checkLive(t, p, w.model(t, fakemodel.New(t, extractText(p)...)))
	}
}

func checkLive(t *testing.T, p *place, model llm.Model) {
	t.Helper()
	m := &recorder{model: model}
	tk := p.converse(t, llm.Retry(m, nil), false, "Use the pdf-processing skill to extract text from "+p.work+"/sample.pdf")
	for _, text := range m.seen {
		if strings.Contains(text, secret) {
			t.Errorf("the source of a script was sent: %s", text)
		}
	}
	reads, failed, activated, ran := 0, 0, false, false
	for _, r := range tk.results {
		t.Logf("%s %s: %s", r.Call.Name, r.Call.Args, r.Result.Message)
		switch v := r.Result.Result.(type) {
		case skilltool.Activation:
			activated = activated || v.SkillName == "pdf-processing"
		default:
			ran = ran || r.Call.Name == "script_run" && r.Result.Success && strings.Contains(r.Text, "Grand total")
		}
		if r.Call.Name == "skill_read" {
			if reads++; !r.Result.Success {
				failed++
			}
		}
	}
	answer := tk.answers[len(tk.answers)-1]
	if !activated || !ran || !strings.Contains(answer.Text, "Grand total: 42 francs") {
		t.Errorf("activated: %t, ran: %t, answer (%s): %s", activated, ran, answer.Stop, answer.Text)
	}
	if failed*100 > reads*5 {
		t.Errorf("%d of %d paths do not resolve", failed, reads)
	}
	t.Logf("%d requests, usage %+v", answer.Turns, answer.Usage)
}

// recorder keeps the results that are sent to a model.
type recorder struct {
	model llm.Model
	seen  []string
}

func (r *recorder) Stream(ctx context.Context, q *llm.Request) iter.Seq2[llm.Event, error] {
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			r.seen = append(r.seen, p.Text)
			if p.Result != nil {
				r.seen = append(r.seen, p.Result.Text)
			}
		}
	}
	return r.model.Stream(ctx, q)
}

func realModel(t *testing.T, name string) llm.Model {
	t.Helper()
	provider, model, _ := strings.Cut(name, "/")
	switch provider {
	case "anthropic":
		return made(t)(anthropic.New(&anthropic.Options{Key: os.Getenv("ANTHROPIC_API_KEY"), Model: model}))
	case "openai":
		return openai.New(&openai.Options{Key: os.Getenv("OPENAI_API_KEY"), Model: model})
	case "gemini":
		return made(t)(gemini.New(&gemini.Options{Key: os.Getenv("GEMINI_API_KEY"), Model: model}))
	}
	t.Fatalf("unknown provider %q", provider)
	return nil
}
