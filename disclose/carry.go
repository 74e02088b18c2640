package disclose

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agent-base/agent-base/skill"
)

// Active is one active skill of a conversation that is shortened.
type Active struct {
	Name    string       // used if Skill is nil
	Skill   *skill.Skill // the present content; nil if it can no longer be read
	Args    string       // arguments of the call
	Scripts []string     // see InstructionOptions
	Changed bool         // the content differs from what the model was given
}

// CarryOptions limits what is carried over. The zero value is useful.
type CarryOptions struct {
	Each         int                // limit on the tokens of one skill with its frame; 0 means 5,000
	All          int                // limit on the tokens of the whole text; 0 means 25,000
	Instructions InstructionOptions // how to render each; Carry sets Args, Scripts and Wrap
}

const (
	carriedEach = 5_000
	carriedAll  = 25_000
	leastUseful = 100 // tokens of instructions that justify a frame
)

// Carry renders the instructions of the active skills for a conversation that is shortened, as an activation with the
// same arguments does; those that had arguments are said to be of an earlier call. The skills keep the order of active, the last used first. If a skill is too long, its beginning is
// kept, and the text says how to read the rest; if there is no room, only its name is. Text.Cut reports both. Without
// active skills the text is empty.
//
// A skill that cannot be rendered is named as such; the others are rendered.
func Carry(ctx context.Context, active []Active, o *CarryOptions) Text {
	c := carrier{}
	if o != nil {
		c.o = *o
	}
	if c.o.Each <= 0 {
		c.o.Each = carriedEach
	}
	if c.o.All <= 0 {
		c.o.All = carriedAll
	}
	if len(active) == 0 {
		return Text{}
	}
	room := c.o.All - Tokens(carryHead) - Tokens(leftOutLine(names(active))) - Tokens(goneLine(names(active)))
	for _, a := range active {
		room -= c.add(ctx, a, room)
	}
	parts := append([]string{carryHead}, c.bodies...)
	body := Join(append(parts, leftOutLine(c.leftOut), goneLine(c.gone))...)
	c.t.Body, c.t.Tokens = body, Tokens(body)
	return c.t
}

const carryHead = "This conversation was shortened. These skills are active in it. Their instructions still hold, the last used first:"

// carrier is one Carry under way.
type carrier struct {
	o             CarryOptions
	t             Text
	bodies        []string
	leftOut, gone []string // names
}

// add renders one skill in at most room tokens and returns what it used.
func (c *carrier) add(ctx context.Context, a Active, room int) int {
	if a.Skill == nil {
		c.gone = append(c.gone, a.Name)
		return 0
	}
	name := a.Skill.Name()
	note := earlier(name, a.Args)
	body, cut, err := c.render(ctx, a, min(room, c.o.Each)-Tokens(note))
	switch {
	case err != nil:
		c.t.Warnings = append(c.t.Warnings, fmt.Sprintf("skill %q is left out: %v", name, err))
		c.gone = append(c.gone, name)
		return 0
	case body == "":
		c.leftOut = append(c.leftOut, name)
		c.t.Cut = append(c.t.Cut, Cut{name, LeftOut})
		return 0
	case cut:
		c.t.Cut = append(c.t.Cut, Cut{name, Truncated})
	}
	body = note + body
	c.bodies = append(c.bodies, body)
	used := Tokens(body) + 2 // and the empty line after it
	c.t.Skills = append(c.t.Skills, Cost{name, used})
	return used
}

// earlier says that the arguments in a skill's instructions are those of an earlier call: else a model takes them for a new request. The
// work that they ask for may be under way.
func earlier(name, args string) string {
	if args == "" {
		return ""
	}
	return fmt.Sprintf("[The skill %s was called before, with the arguments that stand in its instructions. That is no new request: the user's last words say what is to be done.]\n", listed([]string{name}))
}

// render returns the framed instructions of a skill in at most limit tokens, or "" if too little would remain.
func (c *carrier) render(ctx context.Context, a Active, limit int) (text string, cut bool, err error) {
	o := c.o.Instructions
	o.Args, o.Scripts, o.Wrap = a.Args, a.Scripts, true
	dir, _ := a.Skill.Dir(ctx)
	t := filled(ctx, a.Skill, dir, &o)
	f, err := t.around(ctx, a.Skill, dir, &o)
	if err != nil {
		return "", false, err
	}
	if Tokens(f.files) > limit/4 {
		f.files = "\nIts files are not listed here: skill_read lists them."
	}
	if a.Changed {
		f.head += "[This skill has changed since you were given it. These are its present instructions.]\n"
	}
	whole := strings.TrimRight(t.Body, "\n")
	if text = f.head + shield(whole) + f.where + f.files + frameEnd; Tokens(text) <= limit-2 {
		return text, false, nil
	}
	for room := limit - Tokens(f.head+f.where+f.files+frameEnd) - 60; room >= leastUseful; {
		shown := beginning(whole, room)
		text = f.head + shield(shown) + "\n\n" + readOn(a.Skill, shown, whole) + f.where + f.files + frameEnd
		over := Tokens(text) - (limit - 2)
		if over <= 0 {
			return text, true, nil
		}
		room -= over + 1
	}
	return "", true, nil
}

// readOn says how much of the instructions is shown and where the rest is. If nothing was filled in, it names the byte of
// the file.
func readOn(s *skill.Skill, shown, whole string) string {
	from := ""
	if at := bytes.Index(s.Text(), []byte(whole)); at >= 0 {
		from = fmt.Sprintf(", offset %d", at+len(shown))
	}
	return fmt.Sprintf("[Cut here: these are about %d of %d tokens. Read on with skill_read: skill_name %q, path %q%s.]",
		Tokens(shown), Tokens(whole), s.Canonical(), s.Entry().File(), from)
}

// beginning returns the longest beginning of s in whole lines that costs at most room tokens, or as much as fits of
// the first line.
func beginning(s string, room int) string {
	end, sum := 0, 0
	for end < len(s) {
		n := end + lineEnd(s[end:])
		if sum += cost(shield(s[end:n])); sum > room*1000 {
			break
		}
		end = n
	}
	if end == 0 {
		low, high := 0, lineEnd(s) // low fits, high does not
		for high-low > 1 {
			if mid := (low + high) / 2; Tokens(shield(s[:mid])) <= room {
				low = mid
			} else {
				high = mid
			}
		}
		for low > 0 && !utf8.RuneStart(s[low]) {
			low--
		}
		return s[:low]
	}
	return strings.TrimRight(s[:end], "\n")
}

// lineEnd returns the end of the first line of s, including the line breaks after it.
func lineEnd(s string) int {
	n := strings.IndexByte(s, '\n')
	if n < 0 {
		return len(s)
	}
	for n < len(s) && s[n] == '\n' {
		n++
	}
	return n
}

func names(active []Active) []string {
	out := make([]string, len(active))
	for i, a := range active {
		if out[i] = a.Name; a.Skill != nil {
			out[i] = a.Skill.Name()
		}
	}
	return out
}

func leftOutLine(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "Active too, but there was no room for their instructions: " + listed(names) + `. Read them with skill_read, path "SKILL.md".`
}

func goneLine(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "Active too, but they cannot be read any more: " + listed(names) + "."
}

func listed(names []string) string {
	return string(appendLine(nil, strings.Join(names, ", "), escapeTags))
}
