package replay

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/llm"
)

// spot is the position in a conversation: the last prompt and the messages after it.
type spot struct {
	prompt string
	after  []llm.Message
}

// place finds the last prompt: the last text of the last message of the user without results. Texts before it in the
// message are not the user's own words.
func place(msgs []llm.Message) spot {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].Role != llm.User {
			continue
		}
		var t spot
		answers := false
		for _, p := range msgs[i].Parts {
			answers = answers || p.Result != nil
			if p.Text != "" {
				t.prompt = p.Text
			}
		}
		if !answers && t.prompt != "" {
			t.after = msgs[i+1:]
			return t
		}
	}
	return spot{}
}

// find returns the scene for a prompt, and the groups that its expression matched.
func (p *player) find(prompt string) (*scene, []string) {
	asked := fold(prompt)
	for _, s := range p.scenes {
		if s.plain == asked {
			_, match := s.fits(prompt, asked)
			return s, match
		}
	}
	for _, s := range p.scenes {
		if ok, match := s.fits(prompt, asked); ok {
			return s, match
		}
	}
	return nil, nil
}

func (s *scene) fits(prompt, asked string) (bool, []string) {
	for _, e := range s.exprs {
		if match := e.FindStringSubmatch(prompt); match != nil {
			return true, match
		}
	}
	for _, words := range s.words {
		all := true
		for _, w := range words {
			all = all && strings.Contains(asked, w)
		}
		if all {
			return true, nil
		}
	}
	return false, nil
}

var errElsewhere = errors.New("the conversation is not where the file expects it")

// play returns the next answer of the scene, or an error that says why it cannot continue.
func (s *scene) play(r *llm.Request, t spot, match []string) (answer, error) {
	v := &values{prompt: t.prompt, match: match}
	n := 0 // answers given
	for _, m := range t.after {
		var err error
		if m.Role == llm.Assistant {
			err = s.given(n, m)
			n++
		} else if n == 0 {
			err = errElsewhere
		} else {
			err = v.take(s.turns[n-1].calls, m)
		}
		if err != nil {
			return answer{}, err
		}
	}
	if n >= len(s.turns) {
		return answer{}, errElsewhere
	}
	wanted := 0
	for _, done := range s.turns[:n] {
		wanted += len(done.calls)
	}
	if len(v.results) != wanted {
		return answer{}, errElsewhere
	}
	return s.turns[n].fill(r, v)
}

// given checks that the n-th answer of the conversation is that of the scene.
func (s *scene) given(n int, m llm.Message) error {
	if n >= len(s.turns) {
		return errElsewhere
	}
	want := s.turns[n].calls
	for _, p := range m.Parts {
		if p.Call == nil {
			continue
		}
		if len(want) == 0 || p.Call.Name != want[0].tool {
			return errElsewhere
		}
		want = want[1:]
	}
	if len(want) > 0 {
		return errElsewhere
	}
	return nil
}

// take reads the results of calls. A failed call ends the replay.
func (v *values) take(calls []toolCall, m llm.Message) error {
	for _, p := range m.Parts {
		switch {
		case p.Result == nil:
			continue
		case len(calls) == 0 || p.Result.Name != calls[0].tool:
			return errElsewhere
		}
		calls = calls[1:]
		value, failure := open(p.Result)
		if failure != "" {
			return fmt.Errorf("%s failed: %s", p.Result.Name, failure)
		}
		v.results = append(v.results, outcome{p.Result.Name, value})
	}
	return nil
}

// open returns the value of a result, or the message of its failure.
func open(r *llm.Result) (value any, failure string) {
	d := json.NewDecoder(bytes.NewReader([]byte(r.Text)))
	d.UseNumber()
	if d.Decode(&value) != nil || d.More() {
		value = r.Text
	}
	message := r.Text
	if envelope, ok := value.(map[string]any); ok {
		if text, ok := envelope["message"].(string); ok && text != "" {
			message = text
		}
		if success, ok := envelope["success"].(bool); ok {
			value = envelope["result"]
			r = &llm.Result{Failed: r.Failed || !success}
		}
	}
	if !r.Failed {
		return value, ""
	}
	if message == "" {
		message = "it does not say why"
	}
	return nil, strings.TrimRight(clip(message), ".")
}

// fill returns an answer with its quotations filled in.
func (t *turn) fill(r *llm.Request, v *values) (answer, error) {
	var a answer
	for i, s := range t.says {
		text, err := s.fill(v)
		if err != nil {
			return answer{}, err
		}
		if i > 0 {
			a.text += "\n"
		}
		a.text += text
	}
	for _, c := range t.calls {
		if !offered(r, c.tool) {
			return answer{}, fmt.Errorf("it calls the tool %q, which is not available", c.tool)
		}
		args, err := c.args.fill(v)
		if err != nil {
			return answer{}, err
		}
		a.calls = append(a.calls, &llm.Call{Name: c.tool, Args: json.RawMessage(args)})
	}
	return a, nil
}

func offered(r *llm.Request, tool string) bool {
	for _, t := range r.Tools {
		if t.Name == tool {
			return true
		}
	}
	return false
}
