package allow

import (
	"strings"

	"github.com/agent-base/agent-base/internal/near"
)

// The tools whose arguments are read.
const (
	toolBash       = "bash"
	toolRead       = "read_file"
	toolWrite      = "write_file"
	toolEdit       = "edit_file"
	toolGlob       = "glob"
	toolGrep       = "grep"
	toolFetch      = "web_fetch"
	toolSkill      = "skill"
	toolTask       = "task"
	toolSkillRead  = "skill_read"
	toolScriptList = "script_list"
	toolScriptHelp = "script_help"
	toolScriptRun  = "script_run"

	toolToolsetList = "toolset_list"
	toolToolsetCall = "toolset_call"
)

// Canonical returns the engine's name of a tool that several hosts have under different names: "read_file" for Read, view
// and read_file. It returns another name in lower case, and a name with characters beyond ASCII unchanged: letters that
// look alike are not alike.
func Canonical(name string) string {
	for i := range len(name) {
		if name[i] >= 0x80 {
			return name
		}
	}
	name = strings.ToLower(name)
	switch name {
	case "shell", "local_shell", "container.exec", "exec_command", "shell_command", "run_shell_command", "run_command", "run_terminal_cmd",
		"run_in_terminal", "execute_command", "terminal", "exec":
		return toolBash
	case "read", "view", "readfile", "open_file", "view_file", "notebookread":
		return toolRead
	case "write", "create_file", "write_to_file", "writefile":
		return toolWrite
	case "edit", "multiedit", "notebookedit", "replace", "str_replace", "str_replace_editor", "str_replace_based_edit_tool", "apply_patch",
		"patch", "search_replace", "replace_in_file":
		return toolEdit
	case "ls", "list", "list_dir", "list_directory", "list_files", "find_files", "file_search", "glob_file_search":
		return toolGlob
	case "grep_search", "search_file_content", "search_files", "ripgrep", "rg":
		return toolGrep
	case "webfetch", "fetch", "fetch_url", "fetch_webpage", "web_extract":
		return toolFetch
	case "websearch", "google_web_search", "search_web":
		return "web_search"
	case "agent", "spawn_agent", "subagent":
		return toolTask
	case "todowrite", "write_todos", "update_plan":
		return "todo_write"
	case "activate_skill", "load_skill", "use_skill":
		return toolSkill
	}
	return name
}

// Spellings returns the names that Claude Code has for what a tool of the engine does, the first of which is the usual one,
// or nil. A script of a skill is run by its Bash.
func Spellings(canonical string) []string {
	switch canonical {
	case toolBash, toolScriptRun, toolScriptHelp:
		return []string{"Bash"}
	case toolRead, toolSkillRead:
		return []string{"Read"}
	case toolWrite:
		return []string{"Write"}
	case toolEdit:
		return []string{"Edit", "MultiEdit"}
	case toolGlob:
		return []string{"Glob", "LS"}
	case toolGrep:
		return []string{"Grep"}
	case toolFetch:
		return []string{"WebFetch"}
	case "web_search":
		return []string{"WebSearch"}
	case toolSkill:
		return []string{"Skill"}
	case toolTask:
		return []string{"Task", "Agent"}
	}
	return nil
}

// known reports whether a canonical name is one of the engine's tools or of those that other hosts have.
func known(name string) bool {
	switch name {
	case toolBash, toolRead, toolWrite, toolEdit, toolGlob, toolGrep, toolFetch, toolSkill, toolTask, toolSkillRead, toolScriptList,
		toolScriptHelp, toolScriptRun, "hello", "web_search", "todo_write", "todoread", "taskcreate", "taskupdate", "tasklist", "taskget",
		"askuserquestion", "sendmessage", "lsp", "workflow", "bashoutput", "killshell", "killbash", "slashcommand",
		"enterplanmode", "exitplanmode", "enterworktree", "exitworktree", "taskoutput", "taskstop", "listmcpresourcestool", "readmcpresourcetool", "ask_user",
		"toolsearch", "save_memory", "view_image", "artifact":
		return true
	}
	return strings.HasPrefix(name, "mcp__") || strings.HasPrefix(name, "toolset_") || strings.Contains(name, ".")
}

// Meant returns the rule that a rule may mean, in the spelling of Claude Code, if the tool that it names is not known: a tool with a
// similar name, or a program: Bash(curl:*) for curl. Otherwise it returns "".
func (r Rule) Meant() string {
	if _, ok := programNamed(r.Tool); ok && !r.Known() {
		return "Bash(" + r.Tool + ":*)"
	}
	return r.slip()
}

// slip returns the name of a tool for which that of the rule may be a slip, or "".
func (r Rule) slip() string {
	if r.Known() || r.Tool == "" {
		return ""
	}
	return near.Name(r.Tool, []string{"Bash", "Read", "Write", "Edit", "MultiEdit", "Glob", "Grep", "WebFetch", "WebSearch", "Skill", "Task"})
}
