package main

// example is a line of front matter that has a problem, and the same one without. A test parses both.
type example struct {
	code         string
	profile      string // where the default one does not mind
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
	{"name-invalid", "", "name: csv report", "name: csv-report"},
	{"name-letter", "omniforge", "name: 2csv", "name: csv2"},
	{"name-underscore", "", "name: csv_report", "name: csv-report"},
	{"permissions-env", "", `permissions: {env: ["*"]}`, "permissions: {env: [CSV_*]}"},
	{"permissions-unknown", "", "permissions: {network: true}", "permissions: {env: [CSV_TOKEN]}"},
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

// findExample returns the example of a problem; its code is "" when there is none.
func findExample(code string) example {
	for _, ex := range examples {
		if ex.code == code {
			return ex
		}
	}
	return example{}
}

// group is a table of problems that are not of one manifest, and so have no rule. A test holds it against the source.
type group struct {
	title, intro string
	codes        []otherCode
}

type otherCode struct{ code, severity, about, cure string }

var groups = [...]group{
	{"Problems of several skills", "They are found when skills are put together, whatever the profile.", []otherCode{
		{"discovery-bound", "warning", "folders lie deeper than 6 levels, or are more than 20,000 below the first, or there are more than 1,000 links: the rest is not searched", "move the skills up, replace links by folders, or mount the folder that holds the skills"},
		{"folder-unreadable", "warning", "a folder below a folder of skills cannot be listed", "make it readable"},
		{"glob-invalid", "error", "a glob of `allow` or `deny` is not one, has over 256 bytes or 16 alternatives, or is one of over 64", "write it like `pdf-*`; until then it allows nothing, or denies everything"},
		{"link-skipped", "warning", "a symbolic link leads out of the folder of skills, nowhere, or back: it is not followed (C38)", "replace it by the folder, or mount what it leads to"},
		{"name-duplicate", "warning", "two skills of one folder have the same name", "rename one of them"},
		{"path-taken", "warning", "of several sources merged into one, an earlier one has a skill at the same path", "rename one of the two folders"},
		{"skill-unknown", "warning", "`AGENT_SKILLS` names a skill that is not there", "`agent skill list --all` shows the names"},
		{"skill-untrusted", "warning", "`AGENT_SKILLS` names a skill that nobody trusts: it is not loaded", "`agent skill trust NAME`"},
		{"skills-none-trusted", "warning", "`AGENT_SKILLS=all`, and no skill is trusted", "trust one, or use `all-untrusted`"},
		{"skills-untrusted-loaded", "warning", "`AGENT_SKILLS=all-untrusted`: skills that nobody trusts are loaded and may run", "name the skills that you want"},
		{"source-unreadable", "error", "a folder of skills cannot be listed", "check its type and permissions"},
		{"trust-unreadable", "error", "the record of what is trusted cannot be read: nothing but the bundled skills is", "mend or remove the file"},
	}},
	{"Problems of settings", "`agent doctor` shows them; no command stops for them, but for one that has to write to a home that is closed. See [config.md](config.md).", []otherCode{
		{"config-duplicate-key", "error", "a key is there twice", "keep one of them"},
		{"config-form", "error", "`skills` is no map of settings", "write the settings below it, indented"},
		{"config-more", "warning", "there are more problems than are shown", "mend these first"},
		{"config-owner", "warning", "a folder above has a `.git`, but it or its folder belongs to another user: the working directory is the project", "`--project DIR`, if you trust who owns it"},
		{"config-project", "warning", "a project's file wants what only you can decide: it is ignored", "set it in your own file, in the environment or by a flag"},
		{"config-syntax", "error", "a settings file is not YAML: nothing in it holds", "mend the line"},
		{"config-trust", "warning", "a settings file wants to give trust: none can", "`agent skill trust NAME`"},
		{"config-unknown-key", "warning", "no setting has this name", "write the one that is meant"},
		{"config-unknown-skill", "error", "`AGENT_SKILLS` or `enabledSkills` names a skill that is not there", "`agent skill list --all` shows the names"},
		{"config-unreadable", "error", "a settings file cannot be read", "check its type, size and permissions"},
		{"config-value", "error", "a value makes no sense: it is ignored, or the strictest one holds", "write what the message names"},
		{"home-unwritable", "error", "nothing can be written to `$AGENT_HOME`: no script runs, and no setting or approval is kept", "set `AGENT_HOME` to a folder that can be written"},
	}},
}
