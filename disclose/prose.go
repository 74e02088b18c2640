package disclose

// shortSteps and longSteps follow a wink list.
const (
	shortSteps = `When a task fits one of these skills:
1. Read its SKILL.md in full.
2. Follow it step by step.
3. Use its scripts and references where it says so.`

	longSteps = `Each skill above is a folder with instructions for one kind of task. When a task fits one of them, activate it before you begin:
1. Read the file SKILL.md in the skill's location, all of it: the list above only says what the skill is for.
2. Follow those instructions step by step, in place of your usual way.
3. Use the scripts and references in the skill's folder when the instructions name them, and nothing of it before.`
)

// The description of the tool "skill": toolHead and toolTail surround its list.
const (
	toolHead = toolOpening + "a skill in the list below" + toolCalls + "\n\n## Available Skills\n"
	toolTail = "\n\n" + toolRules + "<available_skills>" + toolEnd
)

// Unlisted is the description of the tool "skill" if the list of skills is in the system prompt, in the turns, or nowhere.
const Unlisted = toolOpening + "a skill that you know of" + toolCalls + "\n\n" + toolRules + "<available_skills>, your instructions or the user" + toolEnd

// SearchTool is how a model finds a skill that the list left out: with the tool "skill".
const SearchTool = `skill {"action": "search", "skill_name": "WORDS"}`

const (
	toolOpening = `Run a skill: tested instructions for one kind of task, with the files they need. As soon as a request fits `

	toolCalls = `, call this tool with that skill's name.

## How to call
- skill_name: "release-notes" runs a skill
- skill_name: "fix-issue", args: "1234 urgent" runs it with arguments`

	toolRules = `## Important Requirements
- When a skill fits the request, calling this tool is your FIRST action, at once.
- NEVER only say that you will use a skill: call the tool.
- Use only names from `

	toolEnd = `.
- Do not call a skill again while it is running.
- Do not use this tool for built-in CLI commands such as /help or /clear.

## What happens
1. You get the skill's instructions in full, and its base_path.
2. Follow the instructions exactly.
3. A skill may restrict the tools you can use (allowed-tools) while it runs.
4. Relative paths in the instructions begin at base_path.`
)
