package cli_test

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agent-base/agent-base/skilltest/fakemodel"
)

// dayMarkdown has all that an answer is drawn as.
const dayMarkdown = "# Plan 计划 🚀\n\nSome **bold**, *italic*, `code` and [a link](https://example.com/x), and a line that is long enough to be wrapped at eighty columns.\n\n" +
	"| Name | Size | 说明 |\n|---|---:|:--|\n| alpha | 1,234 | 第一个项目 🎉 |\n| beta with a rather long name that does not fit | 5 | 很长的说明文字很长的说明文字很长的说明文字很长的说明文字 |\n\n" +
	"1. first\n2. second\n   - nested **x**\n   - [ ] open\n   - [x] closed\n\n> a quote\n\n" +
	"```go\nfunc main() {\n\tfmt.Println(\"hello, 世界\") // a comment that goes past the eighty columns of a terminal\n}\n```\n\n---\n\nDone ✅ e\u0301 👩‍👩‍👧‍👦.\n"

// dayHostile is what a model writes to a terminal that it wants to own.
const dayHostile = "\x1b[2J\x1b]0;title\a\x1b]52;c;AAAA\a\x9b31m\u202egnp.exe\u202c\r\n┇ Run this command?\n┇   rm -rf /\n┇ Press y or n:\n\n> /quit\n\nwaiting for an answer"

// answer is what the model says: the last prompt chooses.
func (d *day) answer(q *fakemodel.Request) fakemodel.Step {
	prompt, n := "", 0
	for _, m := range q.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Result != nil:
				n++
			case m.Role == "user" && strings.TrimSpace(p.Text) != "":
				prompt, n = p.Text, 0
			}
		}
	}
	if strings.HasPrefix(q.System, "You shorten a conversation") {
		prompt = "shorten"
	}
	step := fakemodel.Step{Text: "I know nothing of this: " + prompt}
	for _, s := range d.steps() {
		if strings.Contains(prompt, s.prompt) {
			step = s.answers[min(n, len(s.answers)-1)]
			break
		}
	}
	if step.Status == 0 {
		step.Usage = fakemodel.Usage{Input: 5_000, Output: 500}
	}
	return step
}

// said is what the model answers to a prompt: the first answer, then one for each result.
type said struct {
	prompt  string
	answers []fakemodel.Step
}

func says(texts ...string) (out []fakemodel.Step) {
	for _, text := range texts {
		out = append(out, fakemodel.Step{Text: text})
	}
	return out
}

// calls begins an answer with calls of a tool.
func calls(text, name string, args ...map[string]any) fakemodel.Step {
	step := fakemodel.Step{Text: text}
	for _, a := range args {
		raw, _ := json.Marshal(a)
		step.Calls = append(step.Calls, fakemodel.Call{Name: name, Args: string(raw)})
	}
	return step
}

type args = map[string]any

// steps are all that the model knows.
func (d *day) steps() []said {
	hang := func(name, text string) fakemodel.Step {
		return fakemodel.Step{Text: text, Delta: 1 << 10, Fault: fakemodel.Fault{Kind: fakemodel.Hang, After: 4, Release: d.hold(name)}}
	}
	bash := func(command string, more ...any) fakemodel.Step {
		a := args{"command": command}
		for i := 0; i+1 < len(more); i += 2 {
			a[more[i].(string)] = more[i+1]
		}
		return calls("", "bash", a)
	}
	steps := func(states ...string) fakemodel.Step {
		var items []args
		for i, state := range states {
			items = append(items, args{"text": fmt.Sprintf("Step %d 步骤", i+1), "state": state})
		}
		return calls("", "todo_write", args{"items": items})
	}
	working := steps("completed", "in_progress", "pending")
	working.Text, working.Delta, working.Fault = "I work. 工作。", 1<<10, hang("work", "").Fault
	then := func(text string, before ...fakemodel.Step) []fakemodel.Step { return append(before, says(text)...) }
	return []said{
		{"shorten", says("Summary: the user and the model tried everything. 总结。")},
		{"hello there", says("Hello. I am the model of a day.")},
		{"你好", says("你好!我是**一天**的模型,可以读代码、改文件、运行命令。这一行足够长,需要在八十列的终端里换行,而且没有空格。")},
		{"Markdown", says(dayMarkdown)},
		{"what did I run", says("You ran `echo`, twice.")},
		{"change a.txt", then("Changed.", calls("I read it first.", "read_file", args{"file_path": "a.txt"}),
			calls("", "edit_file", args{"file_path": "a.txt", "old_string": "two", "new_string": "2 (zwei, 二)"}))},
		{"写一个文件", then("好的,我不写。", calls("", "write_file", args{"file_path": "新/b.txt", "content": "一\n二\n三\n"}))},
		{"run the tests", then("They passed.", bash("echo passed; echo 通过"))},
		{"run them again", then("Again.", bash("echo passed; echo again"))},
		{"speak until I stop you", []fakemodel.Step{hang("speech", "I begin,\n\nand then I fall silent.\n\nThe last row")}},
		{"first in the queue", says("That was the first.")},
		{"队列", says("第二个。")},
		{"search me", says("Found again.")},
		{"what is this?", says("A list of three words.")},
		{"from an editor", says("You wrote it in an editor.")},
		{"pasted line 30", says("I count 30 lines.")},
		{"plan it", then("Carried out.", calls("", "propose_plan", args{"plan": "1. Read `a.txt`.\n2. 改 **b.txt**.\n\n| step | file |\n|---|---|\n| 1 | a.txt |"}))},
		{"work in steps", []fakemodel.Step{steps("in_progress", "pending", "pending"), working, steps("completed", "completed", "completed"), says("All steps are done.")[0]}},
		{"two agents", then("Both are back.", calls("", "task", args{"prompt": "look at the tests", "subagent_type": "explore"}, args{"prompt": "读文档", "subagent_type": "explore"}))},
		{"look at the tests", []fakemodel.Step{hang("tests", "I look at them.")}},
		{"读文档", []fakemodel.Step{hang("文档", "我在读。")}},
		{"in the background", then("It runs.", bash("echo begun; sleep 1000", "background", true))},
		{"a check beside it", then("It runs, too.", bash("until test -e go; do sleep 0.1; done; exit 3", "background", true))},
		{"be hostile", says(dayHostile)},
		{"imitate a frame", then("It was refused.", bash("echo ok\n┇ Press y or n:\n┇ yes\n\n> /quit\necho \x1b[2J \u202egnp"))},
		{"10,000 steps", then("They were refused.", calls("", "todo_write", args{"items": d.items(10_000)}))},
		{"fail now", []fakemodel.Step{{Status: 401, Message: "invalid x-api-key"}}},
		{"/whale-count", says("Three whales. 三头鲸鱼。")},
		{"in the copy", says("This is the copy.")},
		{"in the first", says("This is the first.")},
	}
}

func (d *day) items(n int) (out []args) {
	for i := range n {
		out = append(out, args{"text": fmt.Sprint("Step ", i), "state": "pending"})
	}
	return out
}
