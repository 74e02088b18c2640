package saved

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/agent-base/agent-base/llm"
)

// kind is what a line says.
type kind string

const (
	kindHead     kind = "head"     // the first line
	kindPrefix   kind = "prefix"   // what every request begins with from now on
	kindTools    kind = "tools"    // tools that follow the others
	kindMessage  kind = "message"  // parts at the end
	kindMedia    kind = "media"    // an image or a document that messages below name
	kindTaken    kind = "taken"    // the last part is taken back
	kindCut      kind = "cut"      // the messages are others
	kindBegin    kind = "begin"    // a turn
	kindEnd      kind = "end"      // of the turn
	kindState    kind = "state"    // of the caller, within a turn
	kindTodo     kind = "todo"     // the list of steps, whole
	kindBack     kind = "back"     // the turns after this one are left
	kindApproval kind = "approval" // for this conversation
)

// line is a line of a file. What lists show stands first.
type line struct {
	Kind  kind   `json:"kind"`
	Title text   `json:"title,omitempty"` // of begin, end and back
	Count int    `json:"count,omitempty"` // of the turns, of these
	Turn  int    `json:"turn,omitempty"`
	ID    string `json:"id,omitempty"`

	Format  int        `json:"format,omitempty"`
	Project text       `json:"project,omitempty"`
	From    string     `json:"from,omitempty"`
	Key     string     `json:"key,omitempty"`
	Model   string     `json:"model,omitempty"`
	Time    *time.Time `json:"time,omitempty"`

	Prompt   text              `json:"prompt,omitempty"`
	End      *End              `json:"end,omitempty"`
	State    json.RawMessage   `json:"state,omitempty"`
	Todo     json.RawMessage   `json:"todo,omitempty"`
	System   *text             `json:"system,omitempty"`
	Sources  map[string]string `json:"sources,omitempty"`
	Tools    []toolLine        `json:"tools,omitempty"`
	Role     llm.Role          `json:"role,omitempty"`
	Parts    []part            `json:"parts,omitempty"`
	Messages []message         `json:"messages,omitempty"`
	Approval *Approval         `json:"approval,omitempty"`
	Media    *mediaLine        `json:"media,omitempty"`
}

type toolLine struct {
	Name        string `json:"name"`
	Description text   `json:"description"`
	Input       text   `json:"input"`
}

type message struct {
	Role  llm.Role `json:"role"`
	Parts []part   `json:"parts"`
}

// part is an llm.Part. JSON of others stands in it as a text: as JSON it would change.
type part struct {
	Text   text       `json:"text,omitempty"`
	Media  *mediaName `json:"media,omitempty"`
	Call   *call      `json:"call,omitempty"`
	Result *result    `json:"result,omitempty"`
	State  *state     `json:"state,omitempty"`
}

type call struct {
	ID   text `json:"id"`
	Name text `json:"name"`
	Args text `json:"args"`
	Raw  text `json:"raw,omitempty"`
}

type result struct {
	ID     text        `json:"id"`
	Name   text        `json:"name"`
	Text   text        `json:"text"`
	Media  []mediaName `json:"media,omitempty"`
	Failed bool        `json:"failed,omitempty"`
}

type state struct {
	Owner string `json:"owner"`
	Data  text   `json:"data"`
}

// text is a text of which every byte is kept, also what is not UTF-8.
type text string

// MarshalJSON writes a string, or the base64 of what no string can hold.
func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString([]byte(t))})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(string(t))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *text) UnmarshalJSON(src []byte) error {
	var whole string
	if err := json.Unmarshal(src, &whole); err == nil {
		*t = text(whole)
		return nil
	}
	var other struct {
		Base64 *[]byte `json:"base64"`
	}
	if err := json.Unmarshal(src, &other); err != nil || other.Base64 == nil {
		return errors.New("neither a text nor base64")
	}
	*t = text(*other.Base64)
	return nil
}

// encode returns a line with its end.
func (l *line) encode() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(l)
	return b.Bytes(), err
}

// cleaner takes secrets out of what is written.
type cleaner func(string) string

func (c cleaner) text(s string) text {
	if c == nil || s == "" {
		return text(s)
	}
	return text(c(s))
}

// json takes secrets out of a JSON text, which stays one.
func (c cleaner) json(s string) text {
	clean := c.text(s)
	if string(clean) != s && json.Valid([]byte(s)) && !json.Valid([]byte(clean)) {
		return `{"redacted":true}`
	}
	return clean
}

// parts returns parts as they are written. A state with a secret is left out: a provider refuses one that was changed.
func (c cleaner) parts(in []llm.Part) []part {
	out := make([]part, 0, len(in))
	for _, p := range in {
		switch {
		case p.Call != nil:
			out = append(out, part{Call: &call{text(p.Call.ID), text(p.Call.Name), c.json(string(p.Call.Args)), c.text(p.Call.Raw)}})
		case p.Result != nil:
			r := &result{ID: text(p.Result.ID), Name: text(p.Result.Name), Text: c.text(p.Result.Text), Failed: p.Result.Failed}
			for i := range p.Result.Media {
				r.Media = append(r.Media, c.media(&p.Result.Media[i]))
			}
			out = append(out, part{Result: r})
		case p.Media != nil:
			named := c.media(p.Media)
			out = append(out, part{Media: &named})
		case p.State != nil:
			if !c.finds(p.State.Data) {
				out = append(out, part{State: &state{p.State.Owner, text(p.State.Data)}})
			}
		default:
			out = append(out, part{Text: c.text(p.Text)})
		}
	}
	return out
}

// longestWord is how many bytes a secret that is one word has at most.
const longestWord = 200

// finds reports whether a state has a secret. It passes over long words: a signature is one, and looks like a key by chance.
func (c cleaner) finds(data json.RawMessage) bool {
	if c == nil {
		return false
	}
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		token, err := d.Token()
		if err != nil {
			return false
		}
		if s, ok := token.(string); ok && (len(s) <= longestWord || strings.ContainsAny(s, " \n\t")) && c(s) != s {
			return true
		}
	}
}

func (c cleaner) messages(in []llm.Message) []message {
	out := make([]message, 0, len(in))
	for _, m := range in {
		out = append(out, message{m.Role, c.parts(m.Parts)})
	}
	return out
}

func (c cleaner) tools(in []llm.Tool) []toolLine {
	var out []toolLine
	for _, t := range in {
		out = append(out, toolLine{t.Name, c.text(t.Description), text(t.Input)})
	}
	return out
}

var errLine = errors.New("a line that no conversation has")

// message returns parts as the model is sent them. It refuses what the side that speaks does not say.
func (r *reader) message(role llm.Role, in []part) (llm.Message, error) {
	m := llm.Message{Role: role}
	for _, p := range in {
		switch {
		case p.Call != nil && role == llm.Assistant && json.Valid([]byte(p.Call.Args)):
			m.Parts = append(m.Parts, llm.Part{Call: &llm.Call{ID: string(p.Call.ID), Name: string(p.Call.Name), Args: json.RawMessage(p.Call.Args), Raw: string(p.Call.Raw)}})
		case p.Result != nil && role == llm.User:
			m.Parts = append(m.Parts, llm.Part{Result: r.result(p.Result)})
		case p.Media != nil && role == llm.User:
			m.Parts = append(m.Parts, r.shown(*p.Media))
		case p.State != nil && role == llm.Assistant && json.Valid([]byte(p.State.Data)):
			m.Parts = append(m.Parts, llm.Part{State: &llm.State{Owner: p.State.Owner, Data: json.RawMessage(p.State.Data)}})
		case p.Text != "" && (role == llm.User || role == llm.Assistant):
			m.Parts = append(m.Parts, llm.Part{Text: string(p.Text)})
		default:
			return m, errLine
		}
	}
	return m, nil
}

func (r *reader) messages(in []message) ([]llm.Message, error) {
	var out []llm.Message
	for _, m := range in {
		read, err := r.message(m.Role, m.Parts)
		if err != nil || len(read.Parts) == 0 {
			return nil, errLine
		}
		out = append(out, read)
	}
	return out, nil
}

func readTools(in []toolLine) ([]llm.Tool, error) {
	var out []llm.Tool
	for _, t := range in {
		var object map[string]json.RawMessage
		if json.Unmarshal([]byte(t.Input), &object) != nil || object == nil || t.Name == "" {
			return nil, errLine
		}
		out = append(out, llm.Tool{Name: t.Name, Description: string(t.Description), Input: json.RawMessage(t.Input)})
	}
	return out, nil
}
