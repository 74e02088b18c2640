package config

import (
	"slices"
	"strings"

	"github.com/agent-base/agent-base/install/source"
)

// kind is the form of a value.
type kind uint8

const (
	choice    kind = iota // one of key.values
	number                // key.min to key.max
	boolean               // true, false, yes, no, on, off
	duration              // 30s or 2m, or a number: milliseconds in a file, otherwise seconds, which may have decimals
	names                 // a list of texts, or one text with commas
	globs                 // as names
	place                 // one path
	places                // a list of paths
	roots                 // a list of paths, or of maps with path and mount
	plugins               // a list of maps, see Plugin
	layers                // the name of a preset, or a list of layers
	selection             // as AGENT_SKILLS
	word                  // one text without spaces
	tenant                // as word, fit for the name of a folder; see tenantName
	words                 // a list of key.values; "none" is an empty list
	hosts                 // a list of hosts, as hostname.Parse reads them, or "all"
	variables             // a list of names of environment variables
	rules                 // a list of rules about tools, which all sources that may set it add to
	texts                 // as names, of texts without spaces
	table                 // a map of a text to the name of a tenant, see reader.table
	servers               // a map of servers, see Server
	hooks                 // a map of events, see Hook
)

// rule says what a project's file may do with a key.
type rule uint8

const (
	set     rule = iota // set it, as the user may
	tighten             // make it stricter; the values are ordered from loose to strict
	add                 // add to the list; the user's items stay
	ifUnset             // set it if the user, the environment and the flags do not
	propose             // name what holds once the user has approved it
	never
)

// The maps of a settings file.
const (
	skillsSection      = "skills"
	agentSection       = "agent"
	permissionsSection = "permissions"
	serveSection       = "serve"
	serversSection     = "mcpServers"
)

// sectionNames are the maps of a settings file in the order of the documentation.
var sectionNames = []string{skillsSection, agentSection, permissionsSection, serveSection, serversSection}

// key describes one setting.
type key struct {
	name     string
	local    string // how a file has it below its section; "" means name
	section  string // "" means skillsSection
	kind     kind
	project  rule
	guards   bool     // it keeps skills from being loaded: without its value only the bundled ones are
	values   []string // of a choice; with tighten from loose to strict
	means    []string // what each of values does, in Markdown
	alike    []string // those of values that are equally strict, and the strictest
	initial  string   // the default, as written; "" means none
	env      string   // its variable; "" means AGENT_ and the name in capitals, noVariable that there is none
	aliases  []string // spellings other than snake case
	min, max int64
	zero     bool   // 0 is also a value, and the loosest
	about    string // what it does, in Markdown
}

// keys lists all settings in the order of the documentation.
var keys = []*key{
	{name: "profile", kind: choice, values: nil, initial: "default", // the values are profileNames
		about: "The set of rules and defaults, see [profiles](#profiles). A profile that a project chooses sets only what the project may set itself."},
	{name: "enabledSkills", kind: selection, project: never, guards: true, env: "AGENT_SKILLS", aliases: []string{"AGENT_SKILLS", "agentSkills"},
		about: "Which skills are loaded: names, `all`, `all-untrusted` or `none`. If it is set, `activation`, `enabled` and `disabled` have no effect."},
	{name: "activation", kind: choice, project: tighten, values: []string{"auto", "explicit"}, initial: "auto",
		about: "Which skills are loaded.",
		means: []string{"every skill that is not disabled", "only the skills in `enabled`"}},
	{name: "enabled", kind: names, project: never,
		about: "Skills to load; `agent skill enable` adds to it."},
	{name: "disabled", kind: names, project: add, guards: true,
		about: "Skills not to load, even if they are in `enabled`; `agent skill disable` adds to it."},
	{name: "enabledBundled", kind: names, project: ifUnset,
		about: "The only bundled skills to load."},
	{name: "disabledBundled", kind: names, project: add,
		about: "Bundled skills not to load. A skill of the same name in another place is loaded."},
	{name: "allow", kind: globs, project: ifUnset, guards: true,
		about: "Globs of skill names; if it is set, no other skill is loaded. A glob has at most 256 bytes and 16 alternatives, and there are at most 64 globs. Plain names do not count."},
	{name: "deny", kind: globs, project: add, guards: true,
		about: "Globs of skill names that are never loaded, with the same bounds as `allow`. If a glob is unusable, no skill is loaded."},
	{name: "agentType", kind: word, project: never,
		about: "The kind of this agent, for the `scope.agents` of skills.\n\nIf this, `tenant` or `environment` is set, a skill with another scope does not exist for this agent: it is not listed or found, and does not hide a skill of its name."},
	{name: "tenant", kind: tenant, project: never,
		about: "The customer or organisation that this agent works for, for the `scope.tenants` of skills.\n\nEach tenant has approvals, grants, homes and caches of skills, an audit log, a history and an undo of its own, in `tenants/NAME` of `$AGENT_HOME`. Settings are shared, and skills too but for those in the tenant's own folder `tenants/NAME/skills`.\n\nA name has 1 to 64 lower-case letters, digits, `-`, `_` and `.`, and begins and ends with a letter or digit. With any other value every command only says that the value is wrong."},
	{name: "environment", kind: word, project: never,
		about: "Where this agent works, such as `production`, for the `scope.environments` of skills."},
	{name: "roots", kind: roots, project: add,
		about: "More folders of skills, each a path or `{path, mount}`; a model sees the folder under the path `mount`."},
	{name: "coreDir", kind: place, project: never, aliases: []string{"core_skills_dir", "coreSkillsDir"},
		about: "A folder that replaces the bundled skills and is trusted as they are."},
	{name: "userDir", kind: place, project: never, aliases: []string{"agent_skills_dir", "agentSkillsDir"},
		about: "The folder of your skills; by default `skills` in `$AGENT_HOME`."},
	{name: "pluginsDir", kind: place, project: never,
		about: "The folder of installed skills; by default `plugins` in `$AGENT_HOME`."},
	{name: "signatureRoots", kind: places, project: never,
		about: "PEM files with the certificates that you trust to sign skills, of authorities or of single signers. `agent skill add`, `update` and `verify` check the signature `skill.oms.sig` of a skill against them. Without one, no signature says who made a skill."},
	{name: "forgeTokens", kind: words, project: never, values: forgeNames(),
		about: "The forges that get the token in your environment when they refuse a repository without one. A token is sent by https to the named host alone, never after a redirect.", means: forgeMeans()},
	{name: "plugins", kind: plugins, project: never,
		about: "The skills that you want installed: a list of `{url, ref, name, enabled, installedAt}`. `agent skill add` and `remove` keep it; `agent doctor` says where it differs from what is installed. A skill with `enabled: false` is disabled."},
	{name: "sources", kind: words, project: never, values: []string{PluginDir, ProjectDir, Claude, UserDir, Bundled}, initial: strings.Join([]string{PluginDir, ProjectDir, Claude, UserDir, Bundled}, ","),
		about: "The [layers](#layers) that are read, besides `enterprise` and `extra`.",
		means: []string{"what `agent skill add` installed", "the project's own skills", "the folders of `.claude`, of the project and of yours", "your own skills", "those of the program"}},
	{name: "precedence", kind: layers, initial: "default",
		about: "Which layer wins if two have a skill of the same name: a named order, see [layers](#layers), or a list of layers, highest first. In the list of a project the layer `extra` stays above the others."},
	{name: "duplicates", kind: choice, values: []string{"override", "error"}, initial: "override",
		about: "What happens to two skills of the same name in one layer.",
		means: []string{"one is loaded: that in a folder of its name, not hidden, in a folder called `skills`, nearest to the root, first by path", "neither is loaded"}},
	{name: "nested", kind: boolean, initial: "true",
		about: "Whether to search folders below folders for skills, ten levels deep, and the hidden folders in which hosts keep them."},
	{name: "symlinks", kind: choice, project: tighten, values: []string{"allow-list", "contained", "deny"}, initial: "contained",
		about: "Which symbolic links to skills are followed.",
		means: []string{"as `contained`, and those that lead into `symlinkRoots`", "those that stay in their root and, in your own folders, those to what is yours below your home", "none"}},
	{name: "symlinkRoots", kind: places, project: never,
		about: "Folders that links may lead into, with `symlinks: allow-list`."},
	{name: "disclosure", kind: choice, values: []string{"system-xml", "tool-description", "triggers", "minimal"}, initial: "system-xml",
		about: "How a model learns about skills.",
		means: []string{"from a list in the system prompt", "from a list in the description of the tool `skill`", "when a message triggers them", "only when they are activated"}},
	{name: "xmlStyle", kind: choice, values: []string{"wink", "harness"}, initial: "harness",
		about: "The form of the list with `disclosure: system-xml`.",
		means: []string{"indented XML, with steps below it that say how to use a skill", "XML without indentation and steps"}},
	{name: "location", kind: choice, values: []string{"dir", "file", "uri"}, initial: "file",
		about: "How the list gives the place of a skill.",
		means: []string{"its folder", "its SKILL.md", "`skill://NAME/SKILL.md`"}},
	{name: "activationText", kind: choice, values: []string{"short", "long"}, initial: "short",
		about: "The length of the steps below a list with `xmlStyle: wink`.",
		means: []string{"in few words", "each step in whole sentences"}},
	{name: "maxSkills", kind: number, initial: "0", max: 100_000,
		about: "The most skills in a list; 0 means no limit, or 3 with `disclosure: triggers`."},
	{name: "budget", kind: number, initial: "0", max: 10_000_000,
		about: "The most tokens in a list; 0 means no limit, or for `agent` a twentieth of the context window and at most 9000. The list says what was cut."},
	{name: "strictStack", kind: boolean, initial: "false",
		about: "Whether activating an active skill is an error."},
	{name: "enforce", kind: choice, project: tighten, values: []string{"off", "warn", "enforce"}, initial: "enforce",
		about: "What happens to a call that an active skill does not allow with its `allowed-tools`: see [restrictions](restrictions.md).",
		means: []string{"nothing", "it is logged, and carried out", "it is refused"}},
	{name: "stackPolicy", kind: choice, project: tighten, values: []string{"top", "intersection"}, initial: "intersection",
		about: "Which skills restrict a call if several are active.",
		means: []string{"only the one that was activated last", "all of them: each must allow the call"}},
	{name: "lock", kind: choice, project: tighten, values: []string{"off", "user", "all"}, initial: "user",
		about: "Which skills still restrict calls after the model has left them, until the prompt is answered.",
		means: []string{"none", "those that you called for with `/NAME`, and the skill of a sub-agent", "every skill"}},
	{name: "hooks", kind: boolean, project: never, initial: "true",
		about: "Whether the hooks of active skills run, as their scripts do: see [hooks](hooks.md)."},
	{name: "toolsetTools", kind: choice, project: set, values: []string{"direct", "call"}, initial: "direct",
		about: "How a model calls the tools of toolsets.",
		means: []string{"the tools of an active skill are tools of the model, unless they are many", "all are called by `toolset_call`; the beginning of each request stays the same, so providers can cache it"}},
	{name: "autoPrefix", kind: boolean, project: set, initial: "false", env: "SKILL_AUTO_PREFIX",
		about: "Whether a tool of a toolset whose name is taken gets the name `SKILL__TOOL`. Without it the first tool of a name has the name, and the others are called by `toolset_call`."},
	{name: "brokenToolset", kind: choice, project: never, values: []string{"keep", "drop"}, initial: "keep",
		about: "What happens to a skill whose toolset cannot be loaded.",
		means: []string{"it is loaded without those tools", "it is not loaded; to find out, the toolsets of trusted skills are started when the agent starts, and in `agent --check`"}},
	{name: "errorText", kind: boolean, initial: "false",
		about: "Whether the key `error` of a tool's result has the text of a failure in place of its code."},
	{name: "scripts", kind: choice, project: tighten, values: []string{"any", "direct"}, initial: "any",
		about: "Which files of a skill are scripts.",
		means: []string{"every file that can be run; it is called by its name or its path", "a file directly in `scripts/` that ends in `.py .sh .js .ts .rb .pl`, begins with `#!`, or is a program; models see its absolute path"}},
	{name: "scriptRead", kind: choice, project: tighten, values: []string{"allow", "block"}, initial: "block",
		about: "Whether a model may read the source of scripts.",
		means: []string{"it may", "it may not, and is told how to run them"}},
	{name: "cwd", kind: choice, project: tighten, values: []string{"workspace", "user", "skill", "script"}, alike: []string{"skill", "script"}, initial: "user",
		about: "The folder where a script starts. A skill that needs another one says so with `metadata.agent-base.cwd`; this setting comes first.",
		means: []string{"the project's root", "where you are: relative paths in arguments are yours", "the folder of the skill", "the folder of the script"}},
	{name: "scriptJson", kind: choice, values: []string{"auto", "yes", "no"}, initial: "auto",
		about: "Whether a script is asked for JSON if the call does not say.",
		means: []string{"with `--json`, if the script declares such a flag", "always with `--json`; other output is a failure", "never: text is returned"}},
	{name: "scriptHelp", kind: choice, project: tighten, values: []string{"always", "auto"}, initial: "auto",
		about: "Which scripts are run with `--help` to get their help.",
		means: []string{"all", "those whose text shows that they know `--help`; the others are described without running them"}},
	{name: "sandbox", kind: choice, project: tighten, values: []string{"off", "auto", "required"}, initial: "auto",
		about: "What confines scripts and the programs that prepare their packages: see [security](security.md).",
		means: []string{"nothing", "the strongest sandbox that the machine has; with `AGENT_SKILLS=all-untrusted` the same as `required`", "as `auto`; where the machine cannot confine files and network, nothing runs"}},
	{name: "scriptMemory", kind: number, project: tighten, initial: "4294967296", min: 1 << 24, max: 1 << 44,
		about: "How many bytes of memory a script and its processes may use together, where the sandbox can limit it."},
	{name: "scriptProcesses", kind: number, project: tighten, initial: "1024", min: 1, max: 1 << 20,
		about: "How many processes and threads a script may have at the same time, where the sandbox can limit it."},
	{name: "scriptDisk", kind: number, project: tighten, initial: "8589934592", min: 1 << 20, max: 1 << 44,
		about: "How many bytes the folders of a skill may hold together: its home, its cache and its temporary files, and the work folder of one run. A script that passes it is ended."},
	{name: "scriptFiles", kind: number, project: tighten, initial: "200000", min: 100, max: 1 << 30,
		about: "How many files and folders there may be in them. A script that passes it is ended."},
	{name: "scriptTimeout", kind: duration, project: tighten, env: "SCRIPT_TIMEOUT", initial: "60s", min: 1, max: 86_400_000,
		about: "How long a script may run."},
	{name: "maxScriptOutput", kind: number, project: tighten, env: "MAX_SCRIPT_OUTPUT", initial: "1048576", min: 1, max: 1 << 30,
		about: "How many bytes of a script's output are kept."},
	{name: "path", kind: places, project: never,
		about: "The folders in which scripts and the programs that run them are found. By default those of `PATH`, without folders that are relative, missing, in a skill, in the project, or writable by others. `agent doctor` shows which were left out."},
	{name: "prepareTimeout", kind: duration, project: tighten, initial: "10m", min: 1, max: 86_400_000,
		about: "How long preparing the dependencies of a script may take. In a call of a script it also ends after the call's own timeout."},
	{name: "maxEnvironment", kind: number, project: tighten, initial: "1073741824", min: 1, max: 1 << 40,
		about: "How many bytes the dependencies of a script may add to the disk, in its environment and in uv's cache together. A download of more than 200 MB that a person allowed may add eight times its size."},
	{name: "pythonDownload", kind: choice, project: tighten, values: []string{"auto", "never"}, initial: "auto",
		about: "Whether uv downloads a Python that a script requires and that is not installed.",
		means: []string{"it does", "it does not, and the script fails"}},
	{name: "packageHosts", kind: hosts, project: never,
		about: "Further hosts from which packages of scripts are fetched, as `HOST`, `HOST:PORT` or `*.HOST`; `all` means every host. `uv` and `npm` always reach the indexes and registries of your own settings. Some indexes send to another host for their files: name it here."},
	{name: "python", kind: place, project: never,
		about: "The Python that runs scripts; by default it is searched for."},
	{name: "uv", kind: place, project: never,
		about: "The uv that prepares environments; by default it is searched for."},
	{name: "audit", kind: choice, project: tighten, values: []string{"off", "on", "required"}, initial: "on",
		about: "Whether a log is kept of what skills and models do and are refused, for `agent audit`. A record has names, decisions and counts, and no arguments or contents.",
		means: []string{"no log", "a log, as far as it can be written", "what cannot be written is not done"}},
	{name: "state", kind: choice, project: never, values: []string{"files", "fleet"}, initial: "files",
		about: "Where approvals, grants and the list of installed skills are kept, see [Fleet](fleet.md).",
		means: []string{"in files of `AGENT_HOME`", "in the node of `AGENT_HOME`, in the cluster, or in the server of `serve.server`: servers see each other's changes and tell their clients"}},
	{name: "usage", kind: choice, project: tighten, values: []string{"on", "off"}, initial: "on",
		about: "Whether `agent skill stats` counts how skills are used, from the audit log. The counts stay on this machine.",
		means: []string{"it counts", "it does not"}},
	{name: "telemetry", kind: choice, project: tighten, values: []string{"otlp", "off"}, initial: "off",
		about: "Whether spans and metrics are sent with OpenTelemetry.",
		means: []string{"as JSON to `OTEL_EXPORTER_OTLP_ENDPOINT`", "not at all"}},

	{name: "model", section: agentSection, kind: word, project: never,
		about: "The model that `agent` uses, as `provider/name`: `anthropic/…`, `openai/…`, `chat/…`, `gemini/…`, `ollama/…`, `replay/demo`. By default it is that of the provider whose key is in the environment, or else of a local server."},
	{name: "bashSandbox", section: agentSection, kind: choice, project: tighten, values: []string{"off", "auto", "required"}, initial: "auto",
		about: "What confines the commands of the tool `bash`, as `sandbox` does for scripts. In the sandbox a command writes in the workspace and in a home of its own, and reads neither your home nor your keys.",
		means: []string{"nothing", "the strongest sandbox that the machine has", "as `auto`; where the machine cannot confine files and network, no command runs"}},
	{name: "bashNetwork", section: agentSection, kind: hosts, project: never,
		about: "The hosts that a command of `bash` may reach in the sandbox without a question, as `HOST`, `HOST:PORT` or `*.HOST`, also on this machine or in its network; `all` means every host."},
	{name: "bashRead", section: agentSection, kind: places, project: never,
		about: "Files and folders that a command of `bash` may read in the sandbox, besides the workspace and the programs on `PATH`."},
	{name: "bashWrite", section: agentSection, kind: places, project: never,
		about: "Files and folders that a command of `bash` may write in the sandbox, besides the workspace."},
	{name: "bashVariables", section: agentSection, kind: variables, project: never,
		about: "Variables of your environment that commands of `bash` and your hooks get, such as `GOPRIVATE` or `JAVA_HOME`, besides those that every shell needs. The model reads what is printed of them."},
	{name: "bashSockets", section: agentSection, kind: words, project: never, values: []string{"ssh", "gpg", "none"},
		about: "The agents that hold your keys and that a command of `bash` may use in the sandbox if it changes files, so that git signs. Each such command is asked about, in every mode.",
		means: []string{"`ssh-agent`, or what `SSH_AUTH_SOCK` names", "`gpg-agent`", "neither"}},
	{name: "bashMemory", section: agentSection, kind: number, project: tighten, initial: "4294967296", min: 1 << 24, max: 1 << 44,
		about: "How many bytes of memory a command of `bash` and its processes may use together in the sandbox."},
	{name: "bashProcesses", section: agentSection, kind: number, project: tighten, initial: "1024", min: 1, max: 1 << 20,
		about: "How many processes and threads a command of `bash` may have at the same time in the sandbox, where it can limit them."},
	{name: "bashFileSize", section: agentSection, kind: number, project: tighten, initial: "536870912", min: 1 << 20, max: 1 << 44,
		about: "How many bytes a file may have that a command of `bash` writes in the sandbox."},
	{name: "bashDisk", section: agentSection, kind: number, project: tighten, initial: "8589934592", min: 1 << 20, max: 1 << 44,
		about: "How many bytes the home of the commands of `bash` may hold, with the folder for temporary files and the caches that are kept. A command that passes it is ended, and the home is emptied."},
	{name: "bashFiles", section: agentSection, kind: number, project: tighten, initial: "20000", min: 100, max: 1 << 30,
		about: "How many files and folders there may be in that home and in the folder for temporary files, without those caches. A command that passes it is ended, and the home is emptied."},
	{name: "agentHooks", local: "hooks", section: agentSection, kind: hooks, project: never, env: noVariable,
		about: "Commands of yours that run at events of a conversation, as the hooks of skills do: see [hooks](hooks.md#your-own-hooks)."},
	{name: "maxTurns", section: agentSection, kind: number, project: tighten, initial: "50", min: 1, max: 10_000,
		about: "The most requests to the model for one prompt."},
	{name: "maxTokens", section: agentSection, kind: number, project: tighten, initial: "2000000", min: 1, max: 1 << 40,
		about: "The most tokens for one prompt, in all requests and answers. Those that the provider reads from its cache count as a tenth, which is about what they cost."},
	{name: "maxTime", section: agentSection, kind: duration, project: tighten, initial: "30m", min: 1, max: 86_400_000,
		about: "How long one prompt may take."},
	{name: "retryTime", section: agentSection, kind: duration, project: tighten, initial: "1m", max: 86_400_000,
		about: "For how long a request to the model is repeated that fails for now: the provider cannot be reached, is busy, or an answer breaks off. `0` means not at all. Ctrl-C ends the wait."},
	{name: "keepConversations", section: agentSection, kind: number, project: never, initial: "30", min: 0, max: 3650,
		about: "How many days a conversation is kept after its last change, see [conversations](conversations.md). With `0` none is saved."},
	{name: "promptBlocks", section: agentSection, kind: words, values: []string{"navigation", "paths", "execution", "calls", "none"}, initial: "navigation,execution",
		about: "Paragraphs of the system prompt about working with skills, which some models need.",
		means: []string{"what an activation returns", "what paths mean", "that scripts are run and not read", "how to call each tool", "no paragraph"}},
	{name: "contextWindow", section: agentSection, kind: number, project: tighten, initial: "0", zero: true, min: 4000, max: 1 << 30,
		about: "How many tokens a conversation may have; it is shortened before it reaches this size. 0 means what the [model](models.md) can hold, or 180000 if that is not known."},
	{name: "contextFiles", section: agentSection, kind: boolean, project: never, initial: "true",
		about: "Whether the model gets the texts for agents, `AGENTS.md` and `CLAUDE.md`, and the date, the system and the status of git: see [context](context.md). `--no-context` is the same for one run."},
	{name: "notify", section: agentSection, kind: boolean, project: never, initial: "true",
		about: "Whether a conversation rings the terminal's bell, and asks the terminal to notify the desktop, when it waits for you and you pressed no key for 10 seconds."},
	{name: "plain", section: agentSection, kind: boolean, project: never, initial: "false",
		about: "Whether a terminal gets lines alone, as with `TERM=dumb`: no row is drawn again and nothing has a colour. It is for screen readers and slow lines, see [conversations](conversations.md#lines-alone). `--plain` is the same for one run."},
	{name: "answerTokens", section: agentSection, kind: number, project: tighten, initial: "0", zero: true, min: 256, max: 1 << 30,
		about: "How many tokens an answer of the model may have. 0 means as many as the [model](models.md) can give; of a model of Anthropic that is not known, 8192."},
	{name: "effort", section: agentSection, kind: word, project: never,
		about: "How much the model thinks before it answers, as `--effort`: `low`, `medium`, `high` or another that the [model](models.md) has. By default its provider chooses."},
	{name: "modelReads", section: agentSection, kind: choice, project: never, values: []string{"auto", "text", "images", "documents"}, initial: "auto",
		about: "What the model reads, besides text. Set it if `agent` does not know this of your model: see [images](conversations.md#images-and-pdf-documents).",
		means: []string{"what is known of the [model](models.md); of another, images and documents that you attach are tried, and those of tools are not shown", "texts alone", "images", "images and PDF documents"}},
	{name: "mode", section: agentSection, kind: choice, project: tighten, values: []string{"all", "accept-edits", "ask", "plan", "read-only"}, initial: "ask",
		about: "What the agent's own tools may do that no rule names: see [permissions](agent.md).",
		means: []string{"everything, without a question; only while commands run in a sandbox, or with `--without-sandbox`", "change files of the project without a question, and show each change; otherwise as `ask`", "ask before each change of a file and each command outside a sandbox", "read, and run commands that change no file, until you approve a plan", "read; they change and run nothing"}},

	{name: "permissions.allow", local: "allow", section: permissionsSection, kind: rules, project: never, env: "AGENT_PERMISSIONS_ALLOW",
		about: "Rules about calls that need no question, such as `Bash(go test:*)` or `Edit(docs/**)`; the answer \"always\" adds one, or keeps it for one project (`agent permissions`). All sources add to the list."},
	{name: "permissions.ask", local: "ask", section: permissionsSection, kind: rules, project: add, env: "AGENT_PERMISSIONS_ASK",
		about: "Rules about calls that are always asked about, also where the mode or a rule in `allow` would not."},
	{name: "permissions.deny", local: "deny", section: permissionsSection, kind: rules, project: add, env: "AGENT_PERMISSIONS_DENY",
		about: "Rules about calls that are refused, such as `Read(.env)` or `Bash(git push:*)`. They come before the other two lists.\n\nA rule of `deny` or `ask` that cannot be read counts for every call of its tool. If its tool is not clear either, every call is asked about."},

	{name: "serve.key", local: "key", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_KEY",
		about: "A file of at least 32 bytes that seals what `agent serve` gives to clients, see [MCP](mcp.md). Servers with the same key take each other's handles. Only you may read it. Without one each server makes a key of its own."},
	{name: "serve.tokens", local: "tokens", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_TOKENS",
		about: "A file of the clients that may use `agent serve --http`: on each line a name, a space and a token of at least 16 characters. Only you may read it. Without it, or `issuer`, a server listens on the loopback interface alone. A client that is here is called by this name."},
	{name: "serve.issuer", local: "issuer", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_ISSUER",
		about: "The authorization server whose access tokens clients may use, as it calls itself: `https://login.example.com`. A token must be a JWT that it signed for `audience`. A client is called `oauth:` and the `sub` of its token."},
	{name: "serve.audience", local: "audience", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_AUDIENCE",
		about: "The address of this server, as clients write it and as `aud` of their tokens: `https://skills.example.com`. It is needed with `issuer`."},
	{name: "serve.scopes", local: "scopes", section: serveSection, kind: texts, project: never, env: "AGENT_SERVE_SCOPES",
		about: "The scopes that a token of `issuer` must have, all of them."},
	{name: "serve.jwks", local: "jwks", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_JWKS",
		about: "Where the keys of `issuer` are, as an address of https; by default its metadata say it."},
	{name: "serve.tenants", local: "tenants", section: serveSection, kind: table, project: never, env: "AGENT_SERVE_TENANTS",
		about: "For which tenant `agent serve --http` answers a client: `NAME: TENANT` for a name of `tokens` or `oauth:SUB`, or `claim:KEY=VALUE: TENANT` for a claim of tokens of `issuer`. " +
			"A client that is not here, or by its claims would be of two tenants, is refused. Each tenant has its own approvals and files, as with `tenant`, and its own quota. In the environment: `NAME=TENANT,…`."},
	{name: "serve.secrets", local: "secrets", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_SECRETS",
		about: "With `tenants`: a folder with a folder for each tenant, which has a file for each variable that its skills may be granted, see [MCP](mcp.md#over-http). Without it they get none."},
	{name: "serve.calls", local: "calls", section: serveSection, kind: number, project: never, env: "AGENT_SERVE_CALLS", initial: "64", min: 1, max: 10_000,
		about: "How many calls run at the same time, for each tenant. Four times as many requests may be open, half of them of one client; others are told to come back."},
	{name: "serve.queue", local: "queue", section: serveSection, kind: number, project: never, env: "AGENT_SERVE_QUEUE", initial: "1000", min: 1, max: 100_000,
		about: "With `agent serve --workers`: how many calls of scripts may wait or run. One more is refused at once."},
	{name: "serve.lastingHomes", local: "lastingHomes", section: serveSection, kind: names, project: never, env: "AGENT_SERVE_LASTING_HOMES",
		about: "Skills whose scripts keep files in their home: all their calls go to one worker, and may go to another one when workers come or go. With `podImage` each run has a new home."},
	{name: "serve.name", local: "name", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_NAME",
		about: "The lasting name of this server in a [cluster](fleet.md#three-servers), from a-z, 0-9 and -."},
	{name: "serve.listen", local: "listen", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_LISTEN",
		about: "With `agent serve --http`: the HOST:PORT where workers on other machines come in, with what `agent worker credentials` makes."},
	{name: "serve.route", local: "route", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_ROUTE",
		about: "The HOST:PORT where other servers of the cluster reach this one."},
	{name: "serve.nodes", local: "nodes", section: serveSection, kind: texts, project: never, env: "AGENT_SERVE_NODES",
		about: "The `route` of every server of the cluster, at least three."},
	{name: "serve.cert", local: "cert", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_CERT",
		about: "A file in PEM with the certificate of this server. A new one is used from the next connection on."},
	{name: "serve.certKey", local: "certKey", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_CERT_KEY",
		about: "A file in PEM with the key of `cert`."},
	{name: "serve.ca", local: "ca", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_CA",
		about: "A file in PEM with the certificates of the authority that signs those of the cluster's servers, and no others; with `server`, of the authority that signs its certificate (default: those of the system)."},
	{name: "serve.server", local: "server", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_SERVER",
		about: "The address of a [NATS server](fleet.md#workers-on-other-machines) with JetStream, such as `tls://nats.example.com`. It has the queue of workers, and with `state: fleet` what servers share."},
	{name: "serve.creds", local: "creds", section: serveSection, kind: place, project: never, env: "AGENT_SERVE_CREDS",
		about: "A file of credentials for `server`, as NATS has it. Only you may read it."},
	{name: "serve.copies", local: "copies", section: serveSection, kind: number, project: never, env: "AGENT_SERVE_COPIES", initial: "1", min: 1, max: 5,
		about: "How many copies of what is stored `server` keeps, each on another server of its cluster: 3 bear the loss of one."},
	{name: "serve.podImage", local: "podImage", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_IMAGE",
		about: "In a pod of [Kubernetes](fleet.md#kubernetes): each script runs in a pod of its own, from this image, as NAME@sha256:DIGEST. The settings of these pods are variables of the image."},
	{name: "serve.podServer", local: "podServer", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_SERVER",
		about: "How these pods reach `listen`: `tls://HOST:PORT`, for several servers with commas."},
	{name: "serve.podNamespace", local: "podNamespace", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_NAMESPACE", initial: "agent-runs",
		about: "The namespace of these pods, and of nothing else."},
	{name: "serve.podRuntime", local: "podRuntime", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_RUNTIME",
		about: "The RuntimeClass of these pods, such as `gvisor`. By default it is that of the cluster."},
	{name: "serve.podCpu", local: "podCpu", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_CPU", initial: "1",
		about: "The processors of each of these pods, such as `500m`."},
	{name: "serve.podMemory", local: "podMemory", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_MEMORY", initial: "1Gi",
		about: "Their memory."},
	{name: "serve.podDisk", local: "podDisk", section: serveSection, kind: word, project: never, env: "AGENT_SERVE_POD_DISK", initial: "1Gi",
		about: "What they may write."},

	{name: "mcpServers", local: "LABEL", section: serversSection, kind: servers, project: propose, env: noVariable,
		about: "A server of tools for the agent, see [MCP](mcp.md#servers-in-the-agent); `agent mcp add` writes it. A program on this machine has `command`, `args`, `env` and `cwd`, a server on the network `url`, `headers` and `oauth`, as in the `.mcp.json` of other agents. " +
			"`${NAME}` and `${NAME:-default}` stand for variables in `args`, `env`, `url` and `headers`.\n\n" +
			"Ours are `tools` (the only ones that are used), `ask` (those that are always asked about, or `all`), `timeout` (of a call), `sandbox: off`, `skills: true` (its skills are used, too), and what its program gets in the sandbox: `network` (hosts), `read` and `write` (files and folders).\n\n" +
			"What a project names in its file or in `.mcp.json` is not started before `agent mcp trust LABEL`, and again not after it was changed."},
}

// noVariable says that no variable of the environment has a setting.
const noVariable = "-"

// trustWords are keys that a user may expect to grant trust. None does.
var trustWords = []string{"trust", "trusted", "trustedRoots", "trustedSkills"}

func lookupKey(name string) *key {
	for _, k := range keys {
		if k.name == name {
			return k
		}
	}
	return nil
}

// findKey returns the key of a spelling in a section: camel case, snake case or an alias. If the section has no such key,
// it returns that of another section, unless only permissionsSection has it.
func findKey(section, written string) *key {
	var elsewhere *key
	for _, k := range keys {
		if k.written() != camel(written) && !slices.Contains(k.aliases, written) {
			continue
		}
		if k.in() == section {
			return k
		}
		if elsewhere == nil && k.in() != permissionsSection {
			elsewhere = k
		}
	}
	return elsewhere
}

// IsVariable reports whether a setting is read from an environment variable.
func IsVariable(name string) bool {
	return slices.ContainsFunc(keys, func(k *key) bool { return k.variable() == name })
}

// variable returns the name of the key's environment variable.
func (k *key) variable() string {
	switch k.env {
	case noVariable:
		return ""
	case "":
	default:
		return k.env
	}
	var b strings.Builder
	b.WriteString("AGENT_")
	for _, r := range k.name {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('_')
		}
		b.WriteRune(r)
	}
	return strings.ToUpper(b.String())
}

// in returns the map of a settings file that has the key.
func (k *key) in() string {
	if k.section == "" {
		return skillsSection
	}
	return k.section
}

// written returns how a file has the key below its section.
func (k *key) written() string {
	if k.local != "" {
		return k.local
	}
	return k.name
}

func (k *key) choices() []string {
	if k.name == "profile" {
		return profileNames()
	}
	return k.values
}

func (k *key) isList() bool { return k.kind >= names && k.kind != place && k.kind != word }

// camel turns max_skills into maxSkills.
func camel(s string) string {
	words := strings.Split(s, "_")
	for i, w := range words[1:] {
		if w != "" {
			words[i+1] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}

// forgeNames returns the values of forgeTokens.
func forgeNames() (out []string) {
	for _, f := range source.Forges() {
		out = append(out, f.Name)
	}
	return out
}

// forgeMeans says what each value of forgeTokens does.
func forgeMeans() (out []string) {
	for _, f := range source.Forges() {
		out = append(out, "`"+strings.Join(f.Variables, "`, else `")+"` to `"+f.Hosts[0]+"`")
	}
	return out
}
