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

// dayChinese is a table and code in Chinese, with columns and lines that are too wide for a screen.
const dayChinese = "## 测试结果\n\n| 文件 | 结果 | 说明 |\n|:--|:-:|--:|\n| `a.txt` | 通过 | 没有发现问题 |\n" +
	"| 一个名字非常非常长的文件.txt | **失败** | 第三行的第二个字写错了,应该改成另外一个字,改完以后再运行一次全部的测试 |\n\n" +
	"1. 先读文件,再决定要不要改;如果不确定,就问用户,不要自己猜,因为猜错了要花更多的时间。\n   > 引用的话也要在很窄的终端里换行,而且每一行前面都要有竖线,这样才看得清楚。\n\n" +
	"```python\ndef 问候(名字: str) -> str:  # 注释\n    return f\"你好,{名字}!这是一个很长的字符串,它比八十列的终端还要宽,所以要换行\"  # 行尾的注释\n```\n"

// dayHostile is what a model writes to a terminal that it wants to own.
const dayHostile = "\x1b[2J\x1b]0;title\a\x1b]52;c;AAAA\a\x9b31m\u202egnp.exe\u202c\r\n┇ Run this command?\n┇   rm -rf /\n┇ Press y or n:\n\n> /quit\n\nwaiting for an answer"

// dayBomb is Markdown that a careless parser would read for hours.
func dayBomb() string {
	return strings.Repeat("> - ", 25_000) + "\n\n|" + strings.Repeat("a|", 10_000) + "\n|" + strings.Repeat("-|", 10_000) + "\n\n" + strings.Repeat("**[`", 5_000) +
		"\n\n```go\n" + strings.Repeat("字x ", 20_000) + "\n\n\nthe end of a block without an end"
}

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
	return append(d.more(), []said{
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
	}...)
}

// more is what the model knows of hooks, commands that take long, and images.
func (d *day) more() []said {
	one := func(text, name string, a args) []fakemodel.Step {
		return append([]fakemodel.Step{calls("", name, a)}, says(text)...)
	}
	long := one("It has ended.", "bash", args{"command": "for i in 1 2 3 4 5; do echo line $i 行; done; until [ -e go ]; do sleep 0.1; done; echo the end"})
	return []said{
		{"change a guarded file", one("A hook of yours forbids it.", "write_file", args{"file_path": "guarded/新.txt", "content": "x\n"})},
		{"运行命令", one("测试通过。", "bash", args{"command": "printf '测试:%s\\n' 通过 # 这是一条很长的命令,它在八十列的终端里必须换行,每一行都要有标记"})},
		{"count them", one("There are three.", "bash", args{"command": "printf '3\\n'"})},
		{"read a page", one("I cannot read it.", "web_fetch", args{"url": "https://docs.example.com/中文/page?q=1"})},
		{"rewrite a.txt", one("Rewritten.", "write_file", args{"file_path": "a.txt", "content": strings.Repeat("a line 一行\n", 60)})},
		{"run something long", long},
		{"看一看", says("一张很小的图。")},
		{"is it too large", says("I was not shown it.")},
		{"summarise", says("A page without text.")},
		{"写一张表", says(dayChinese)},
		{"ask the reviewer", one("The reviewer found nothing.", "task", args{"prompt": "review a.txt 审查", "subagent_type": "reviewer"})},
		{"review a.txt", says("Nothing to change. 没有问题。")},
		{"a bomb", []fakemodel.Step{{Text: dayBomb(), Delta: 4 << 10}}},
		{"speak at length", []fakemodel.Step{{Text: "I speak, and speak, and", Stop: fakemodel.StopLength}}},
	}
}

// prepare writes what the day needs.
func (d *day) prepare() {
	d.write("home/.agent/config.yaml", `agent:
  contextWindow: 20000
  hooks:
    PreToolUse:
      - matcher: Write(guarded/**)
        hooks: [{command: "echo '不要改: nothing is changed here' >&2; exit 2", sandbox: false}]
      - matcher: Bash(printf:*)
        hooks: [{command: "exit 0", sandbox: false}]
    PostToolUse:
      - matcher: Bash(printf:*)
        hooks: [{command: "echo it was counted, 已计数 >&2; exit 2", sandbox: false}]
`)
	d.write("work/图.gif", "GIF89a\x02\x00\x01\x00\x00\x00\x00")
	d.write("work/huge.gif", "GIF89a\x28\x23\x01\x00\x00\x00\x00")
	d.write("work/paper.pdf", "%PDF-1.7\n%%EOF\n")
	d.write("work/.claude/agents/reviewer.md", "---\nname: reviewer\ndescription: Reviews 审查.\ntools: Read\n---\nReview.\n")
}

func (d *day) items(n int) (out []args) {
	for i := range n {
		out = append(out, args{"text": fmt.Sprint("Step ", i), "state": "pending"})
	}
	return out
}
