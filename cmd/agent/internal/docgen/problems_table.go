package main

// example is a line of front matter with a problem, and a better line. A test parses both.
type example struct {
	code         string
	profile      string // a profile that reports it; "" means the default
	wrong, right string
}

var examples = [...]example{
	{"agent-context", "", "agent: reviewer", "metadata: {agent: reviewer}"},
	{"compatibility-empty", "", `compatibility: ""`, "compatibility: needs git"},
	{"field-spelling", "", "Description: Makes reports.", "description: Makes reports."},
	{"field-type", "", "description: [Makes, reports]", "description: Makes reports."},
	{"field-unknown", "", "categories: reports", "metadata: {categories: reports}"},
	{"field-value", "", "context: branch", "context: fork"},
	{"fields-missing", "", `description: ""`, "description: Makes reports."},
	{"fields-unexpected", "spec", "triggers: {keywords: [csv]}", "metadata: {keywords: csv}"},
	{"metadata-nested", "", "metadata: {author: {name: Ada}}", "metadata: {author: Ada}"},
	{"name-case", "", "name: CSV-Report", "name: csv-report"},
	{"name-double", "", "name: csv--report", "name: csv-report"},
	{"name-edge", "", "name: csv-report-", "name: csv-report"},
	{"name-hidden", "", `name: "csv\u200b"`, "name: csv"},
	{"name-invalid", "", "name: csv report", "name: csv-report"},
	{"name-letter", "omniforge", "name: 2csv", "name: csv2"},
	{"name-underscore", "", "name: csv_report", "name: csv-report"},
	{"permissions-env", "", `permissions: {env: ["*"]}`, "permissions: {env: [CSV_*]}"},
	{"permissions-command", "", `permissions: {commands: ["git log"]}`, "permissions: {commands: [git]}"},
	{"permissions-folder", "", "permissions: {read: [~]}", "permissions: {read: [~/notes]}"},
	{"permissions-limit", "", "permissions: {limits: {timeout: 1h}}", "permissions: {limits: {timeout: 5m}}"},
	{"permissions-network", "", `permissions: {network: ["*"]}`, "permissions: {network: [api.example.com]}"},
	{"permissions-unknown", "", "permissions: {sockets: true}", "permissions: {network: [api.example.com]}"},
	{"scripts-value", "", "scripts: [../report.py]", "scripts: [report.py]"},
	{"tools-empty", "", "allowed-tools:", "allowed-tools: []"},
	{"tools-list", "spec", "allowed-tools: [Read, Grep]", "allowed-tools: Read Grep"},
	{"tools-syntax", "", "allowed-tools: Read (git:*)", "allowed-tools: Read Bash(git:*)"},
	{"toolsets-value", "", "toolsets: [hello.py]", "toolsets: [toolsets.hello:Hello]"},
	{"triggers-pattern-off", "", "triggers: {patterns: ['csv(']}", "triggers: {patterns: ['csv|tsv']}"},
	{"triggers-shape", "", "triggers: [csv]", "triggers: {keywords: [csv]}"},
	{"version-bounds", "", "min_agent_base_version: new", "min_agent_base_version: 1.2.0"},
	{"version-semver", "agent-base", "version: one", "version: 1.0.0"},
	{"yaml-anchor", "", "license: &l MIT", "license: MIT"},
	{"yaml-colon", "", "description: Usage: see below", `description: "Usage: see below"`},
	{"yaml-start", "", "description: @report makes reports", `description: "@report makes reports"`},
	{"yaml-tag", "", "license: !!str MIT", "license: MIT"},
}

// findExample returns the example for a problem. Its code is "" if there is none.
func findExample(code string) example {
	for _, ex := range examples {
		if ex.code == code {
			return ex
		}
	}
	return example{}
}

// group is a table of problems that no rule of a manifest describes. A test compares it with the source.
type group struct {
	title, intro string
	codes        []otherCode
}

type otherCode struct{ code, severity, about, cure string }

var groups = [...]group{
	{"Problems of several skills", "They are found when skills are collected, in every profile.", []otherCode{
		{"discovery-bound", "warning", "folders are more than 10 levels deep, or there are more than 100,000 of them below the first level, or more than 1,000 links: the rest is counted and not searched", "move the skills up, replace links by folders, or add the folder of the skills as a root"},
		{"folder-empty", "warning", "a folder among the skills is empty, as that of a submodule that was not fetched; `list --all` and `why` mention it", "`git submodule update --init` gets a submodule; else remove the folder"},
		{"folder-unreadable", "warning", "a folder below a folder of skills cannot be listed", "make it readable"},
		{"glob-invalid", "error", "a glob in `allow` or `deny` is invalid, has more than 256 bytes or 16 alternatives, or there are more than 64", "write a glob such as `pdf-*`; until then it allows nothing, or denies everything"},
		{"installed-missing", "error", "the folder of an installed skill is gone", "`agent skill repair NAME` gets it again, `agent skill remove NAME` forgets it"},
		{"link-skipped", "warning", "a symbolic link leads out of the folder of skills, nowhere, or back to a folder that contains it: it is not followed", "replace it by the folder, or add its target as a root"},
		{"linked-missing", "error", "the folder that an installed skill is a link to is gone", "put it back, or `agent skill remove NAME`"},
		{"manifest-case", "warning", "a manifest is called `Skill.md` or the like: it is not read", "rename it to `SKILL.md`"},
		{"manifest-inside", "warning", "a `SKILL.md` lies below a skill: it is a file of that skill; `list --all` and `why` mention it", "to make it a skill, move its folder out of the skill"},
		{"manifest-hidden", "warning", "a `SKILL.md` lies in a hidden folder in which no host keeps skills, such as `.claude-plugin`; `list --all` and `why` mention it", "to make it a skill, move its folder out of the hidden one, or add that as a root of its own"},
		{"name-alike", "warning", "the name of a skill looks like that of another one, by a letter of another alphabet", "rename one of the two; if you did not expect this skill, find out where it is from"},
		{"name-duplicate", "warning", "two skills of one folder have the same name", "rename one of them"},
		{"path-taken", "warning", "two merged sources have a skill at the same path: the first one is used", "rename one of the two folders"},
		{"plugin-missing", "warning", "`skills.plugins` of the settings names a skill that is not installed; `agent doctor` says so", "the command that the message names installs it"},
		{"plugin-unlisted", "warning", "a skill is installed that `skills.plugins` of the settings does not name; `agent doctor` says so", "the command that the message names adds it to the settings"},
		{"registry-damaged", "error", "the list of installed skills is damaged: none of them is loaded", "`agent skill repair` makes a new list from the skills on the disk"},
		{"registry-unreadable", "error", "the list of installed skills cannot be read, another user could have changed it, or a newer version wrote it: none of them is loaded", "do what the message says"},
		{"server-skill-differs", "error", "a file of a skill of an MCP server is not what the server's list says: nothing of it is used", "tell who runs the server"},
		{"server-skill-invalid", "warning", "an MCP server lists a skill that the extension for skills does not allow: it is left out", "tell who runs the server"},
		{"server-skill-unreadable", "error", "an MCP server does not give a file of its skill", "see that the server runs, and try again"},
		{"server-skills", "error", "the skills of an MCP server cannot be listed: it is silent, or has none; what it listed before is used", "see that the server runs, or switch its skills off"},
		{"skill-unknown", "warning", "`AGENT_SKILLS` names an unknown skill", "`agent skill list --all` lists all skills"},
		{"skill-untrusted", "warning", "`AGENT_SKILLS` names a skill that is not trusted: it is not loaded", "`agent skill trust NAME`"},
		{"skills-none-trusted", "warning", "`AGENT_SKILLS=all`, and no skill is trusted", "trust one, or use `all-untrusted`"},
		{"skills-untrusted-loaded", "warning", "`AGENT_SKILLS=all-untrusted`: skills that are not trusted are loaded and may run", "name the skills that you want"},
		{"source-unreadable", "error", "a folder of skills cannot be listed", "check its type and permissions"},
		{"trust-unreadable", "error", "the file of approvals cannot be read, or another user could have changed it: only bundled skills are trusted", "repair or remove the file, or run the `chmod` in the cure"},
	}},
	{"Problems of scripts", "`agent skill validate`, `info` and `why` show them.", []otherCode{
		{"metadata-cwd", "warning", "`metadata.agent-base.cwd` is not a place where scripts can start: it is ignored", "write `user`, `workspace`, `skill` or `script`"},
		{"toolset-entry", "warning", "an entry of `toolsets` or a server of `mcp.json` cannot be followed: it is left out", "do what the message says; see [toolsets](toolsets.md)"},
	}},
	{"Problems of settings", "`agent doctor` shows them. They stop no command, except one that has to write to a home that is not writable. See [config.md](config.md).", []otherCode{
		{"config-bundled-only", "error", "your settings file, or what it says about which skills to load, cannot be read: only the bundled skills are loaded", "fix the file"},
		{"config-claude", "error", "a settings file of Claude Code has rules that cannot be read: every call of a tool is asked about", "fix the file; see [context.md](context.md)"},
		{"config-duplicate-key", "error", "a key is there twice: the last one counts, or the strictest value", "keep one of them"},
		{"config-form", "error", "`skills` or `agent` is not a map of settings", "write the settings below it, indented"},
		{"config-misnamed", "warning", "a file with your `config.yaml` has a similar name, or one that other programs use for settings: nothing reads it", "move what it sets to `config.yaml`"},
		{"config-more", "warning", "more problems are not shown", "fix the others first"},
		{"config-owner", "warning", "a repository above the working directory belongs to another user: the working directory is the project", "`--project DIR`, if you trust its owner"},
		{"config-policy", "warning", "a setting is stricter than you set it, because of the policy of your organisation", "the message names the line and whom to ask; see [policy](policy.md)"},
		{"config-policy-closed", "error", "the policy of your organisation cannot be used: nothing is allowed", "`agent policy check` says what is wrong"},
		{"config-project", "warning", "a project's file sets something that only you can set: it is ignored", "set it in your own file, in the environment or with a flag"},
		{"config-rule", "error", "a rule in `allow`, `ask` or `deny` of the settings cannot be followed", "do what the message says; see [permissions.md](permissions.md)"},
		{"config-same-label", "warning", "a project names a server with the label of another one: yours is used, or else that of its settings file", "rename one of them"},
		{"config-syntax", "error", "a settings file is not valid YAML: the whole file is ignored", "fix the line"},
		{"config-trust", "warning", "a settings file tries to grant trust, which none can", "`agent skill trust NAME`"},
		{"config-unknown-key", "warning", "unknown key", "write the name of a setting"},
		{"config-unknown-skill", "error", "`AGENT_SKILLS` or `enabledSkills` names an unknown skill", "`agent skill list --all` lists all skills"},
		{"config-unreadable", "error", "a settings file cannot be read, or another user could have changed yours: it is ignored", "check its type, size, owner and mode"},
		{"config-value", "error", "invalid value: it is ignored, or the strictest value is used", "write a value that the message names"},
		{"home-unwritable", "error", "`$AGENT_HOME` is not writable: no script runs, and no setting or approval is stored", "set `AGENT_HOME` to a folder that can be written"},
		{"mcp-approvals", "error", "what you approved of servers of a project cannot be read: none that the project proposes is started", "do what the message says"},
		{"mcp-changed", "warning", "a server that the project proposes has changed since you approved it: it is not started", "look at it, and run `agent mcp trust LABEL`"},
		{"mcp-proposed", "warning", "the project proposes a server: it is not started before you approve it", "`agent mcp trust LABEL`, or leave it; see [MCP](mcp.md#servers-in-the-agent)"},
		{"mcp-server", "error", "a server cannot be started as its entry is, or an entry of a project cannot be read", "do what the message says"},
	}},
}
