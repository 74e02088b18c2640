// Package allow reads the rules of allowed-tools and says which calls of tools they allow.
//
// A rule is the name of a tool, which allows it with any arguments, or a name with a pattern in parentheses. The names of
// other hosts mean the engine's tools: see [Canonical]. Patterns are
//
//	Bash(git status)          that command alone
//	Bash(git log:*)           that command with any further words; Bash(git log *) is the same
//	Bash(./scripts/*)         a star inside a word is any text of that word; alone it is one word or more
//	Bash(python*watch*)       the program, also with a version in its name: python *watch*, python3 *watch*
//	Bash(~/bin/x:*)           a file in the home folder; ~/.claude/skills/NAME/ is the folder of the skill NAME that has the rule
//	Read(references/**)       files by a glob, relative to the roots; also "//srv/data/**" and "~/notes/**"
//	WebFetch(domain:go.dev)   URLs of a host; "domain:*.go.dev" for the hosts below it
//	Skill(pdf), Task(review)  a skill, an agent
//	mcp__github__*            the tools of an MCP server; mcp__github, github:* and github/* are the same
//	pdf.Forms.fill            a tool of the toolset Forms of the skill pdf; pdf__fill and fill are the same
//	pdf.Forms.*, pdf__*       all tools of that toolset, or of all toolsets of the skill; toolset_pdf_* is the latter
//
// A name such as list or read, which the engine or another host has for a tool of its own, is that tool: a tool of a toolset
// with such a name is named with its skill.
//
// The rules of a text are split and cut by the package internal/toolrule. A rule that is not understood is dropped with a
// [Problem] and allows nothing.
//
// # Shell commands
//
// A command is read with the grammar of bash. It is allowed if it has nothing but simple commands of plain words, joined
// by && || ; | and line breaks, and a rule covers each of them. 2>&1 and redirections to and from /dev/null are left out of the
// comparison. A command with an expansion, another redirection, an assignment, a function or a control structure is refused: the
// shell could run something else than the text shows. Names of programs are compared byte by byte.
//
// A script of a skill counts as the commands that run it: Bash(python:*) covers a Python script that script_run starts, and
// Bash(./scripts/*) those of that folder, because the same call through a shell is covered, too.
//
// What the covered program does is not known here. [Rule.Reach] says which rules let any code run, as Bash(git:*) does.
// Only a sandbox limits a program.
package allow
