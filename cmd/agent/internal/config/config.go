// Package config resolves every setting of the command and records where its value came from: a flag, the environment, the
// project's file, the user's file, the profile or the default, in this order. It holds the table of settings, the options
// of the profiles, the places of files (Paths), the layers of skills (Layers), the meaning of AGENT_SKILLS, and the edits
// that enabling and disabling a skill make to the user's file.
//
// A damaged file or an invalid value never stops the program. It is a Problem with its place and its cure, and everything
// else still holds. A setting that protects the user then gets its strictest value. While the user's file, or what it says
// about which skills to load, cannot be read, only the bundled skills are loaded (Config.BundledOnly). A settings file that
// another user could have changed counts as unreadable.
//
// A project's file comes with a clone. It can narrow but never widen: it cannot grant trust, enable its own skills, lower
// a protection, name programs or name folders outside the project. It is opened beneath the project.
//
// The package does not read the environment; everything comes in as Options. A Config does not change after Load has
// returned it. All functions are safe for concurrent use.
package config

import (
	"fmt"
	"time"

	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// Config has the resolved value of every setting. The comments name the keys below `skills:` in a file, where durations
// are milliseconds.
type Config struct {
	Paths   Paths
	Profile string // profile

	// OwnProfile is the profile without what the project chose: what is not the project's is read by its rules.
	OwnProfile string

	// Want combines enabledSkills (AGENT_SKILLS), activation, enabled, disabled, disabledBundled and enabledBundled. Its
	// Enabled and Disabled are the stored choices, whatever its mode is. A skill that is in both is disabled.
	Want skill.Selection

	// BundledOnly means that the user's file, or a part of it that says which skills to load, cannot be read. Layers then
	// returns the bundled skills only.
	BundledOnly bool
	// Nobody says why the setting tenant cannot be read. Nothing may then be done: it is not known for whom.
	Nobody error

	Allow          []string // allow: globs of skill names
	Deny           []string // deny
	Duplicates     string   // duplicates: override, error
	Nested         bool     // nested
	Symlinks       string   // symlinks: allow-list, contained, deny
	LinkRoots      []string // symlinkRoots: absolute folders that links may lead into, with allow-list
	Roots          []Root   // roots: more folders of skills
	CoreDir        string   // coreDir: replaces the bundled skills; "" means the embedded ones
	UserDir        string   // userDir
	PluginsDir     string   // pluginsDir
	SignatureRoots []string // signatureRoots: absolute PEM files
	ForgeTokens    []string // forgeTokens: names of forges that get the token in the environment
	Plugins        []Plugin // plugins: skills that the user wants installed
	Sources        []string // sources: names of layers that are read, besides Enterprise and Extra
	Precedence     []string // precedence: names of layers, highest first
	Omniforge      bool     // precedence: omniforge, which reads further folders

	Disclosure     string // disclosure: system-xml, tool-description, triggers, minimal
	XMLStyle       string // xmlStyle: wink, harness
	Location       string // location: dir, file, uri
	ActivationText string // activationText: short, long
	MaxSkills      int    // maxSkills; 0 means no limit, or 3 with triggers
	Budget         int    // budget: tokens for the list of skills; 0 means no limit

	Enforce     string // enforce: off, warn, enforce
	StackPolicy string // stackPolicy: top, intersection
	Lock        string // lock: off, user, all
	Hooks       bool   // hooks

	ToolsetTools  string // toolsetTools
	AutoPrefix    bool   // autoPrefix
	BrokenToolset string // brokenToolset

	AgentType, Tenant, Environment string // agentType, tenant, environment
	StrictStack                    bool   // strictStack: activating an active skill is an error
	ErrorText                      bool   // errorText: "error" has the text of a failure instead of its code
	Scripts                        string // scripts: any, direct
	ScriptRead                     string // scriptRead: allow, block

	Cwd             string        // cwd: user, workspace, skill, script
	FixedCwd        bool          // cwd was set by a file, the environment or a flag: no skill chooses another
	ScriptJSON      string        // scriptJson: auto, yes, no
	ScriptHelp      string        // scriptHelp: auto, always
	Sandbox         string        // sandbox: off, auto, required
	ScriptMemory    int64         // scriptMemory: bytes
	ScriptProcesses int64         // scriptProcesses
	ScriptDisk      int64         // scriptDisk: bytes
	ScriptFiles     int64         // scriptFiles
	ScriptTimeout   time.Duration // scriptTimeout
	MaxScriptOutput int64         // maxScriptOutput: bytes
	Path            []string      // path: absolute folders; empty means those of PATH that are fit
	PrepareTimeout  time.Duration // prepareTimeout
	PackageHosts    []string      // packageHosts: hosts
	MaxEnvironment  int64         // maxEnvironment: bytes
	PythonDownload  string        // pythonDownload: auto, never
	Python, UV      string        // python, uv: absolute paths; "" means to search for them

	Audit     string // audit: off, on, required
	Fleet     bool   // state: fleet
	Usage     string // usage: on, off
	Telemetry string // telemetry: otlp, off

	Agent       Agent
	Permissions Permissions
	Serve       Serve

	// Servers are those of mcpServers, each label once: those of the user, which may be started, and then what the project proposes.
	Servers        []Server
	ServerProblems []manifest.Problem // of what the project proposes, and of labels that two servers have

	settings []Setting
}

// Agent has the settings of the agent itself. Their keys are below `agent:`.
type Agent struct {
	Model     string        // model: provider/name; "" means to search for one
	MaxTurns  int           // maxTurns: requests for one prompt
	MaxTokens int           // maxTokens: in all requests and answers for one prompt, those from a provider's cache as a tenth
	MaxTime   time.Duration // maxTime: for one prompt
	RetryTime time.Duration // retryTime: for one request that fails for now; 0 means no retry
	Keep      time.Duration // keepConversations, in whole days
	Window    int           // contextWindow: tokens of a conversation; 0 means what the model can hold
	Answer    int           // answerTokens; 0 means what the model can give
	Context   bool          // contextFiles
	Notify    bool          // notify
	Plain     bool          // plain
	Effort    string        // effort: one of the model's; "" means that its provider chooses
	Reads     string        // modelReads: auto, text, images, documents
	Blocks    []string      // promptBlocks: never nil
	Mode      string        // mode: all, accept-edits, ask, plan, read-only

	Hooks []Hook // hooks: the user's own

	BashSandbox         string   // bashSandbox: off, auto, required
	BashNetwork         []string // bashNetwork: hosts, or "all"
	BashRead, BashWrite []string // bashRead, bashWrite: absolute
	BashSockets         []string // bashSockets: ssh, gpg
	BashVariables       []string // bashVariables: names

	BashMemory, BashDisk, BashFileSize int64 // bashMemory, bashDisk, bashFileSize: bytes
	BashProcesses, BashFiles           int64 // bashProcesses, bashFiles
}

// Serve has the settings of agent serve. Their keys are below `serve:`.
type Serve struct {
	Key    string // serve.key: absolute; "" means none
	Tokens string // serve.tokens: absolute; "" means none

	Issuer, Audience, JWKS string            // issuer, audience, jwks
	Scopes                 []string          // scopes
	Tenants                map[string]string // tenants, by who calls; nil means that there is no table
	Secrets                string            // secrets: absolute; "" means none
	Wrong                  error             // what of these settings cannot be read; then no client may be served over HTTP
	Calls, Queue           int               // calls, queue
	LastingHomes           []string          // lastingHomes, as skill.Entry.Canonical

	Name, Listen, Route string   // name, listen, route
	Nodes               []string // nodes
	Cert, CertKey, CA   string   // cert, certKey, ca: absolute; "" means none

	Server, Creds string // server; creds: absolute; "" means none
	Copies        int    // copies

	PodImage, PodServer, PodNamespace      string // podImage, podServer, podNamespace
	PodRuntime, PodCPU, PodMemory, PodDisk string // podRuntime, podCpu, podMemory, podDisk
}

// Root is a further folder of skills and the path under which a model sees them.
type Root struct {
	Dir     string `json:"dir"`             // absolute
	Mount   string `json:"mount,omitempty"` // "" means the default
	Project bool   `json:"project"`         // named by the project's file
}

// String returns the folder and its mount, such as "/srv/skills" or "/srv/skills as MOUNT".
func (r Root) String() string {
	if r.Mount == "" {
		return r.Dir
	}
	return r.Dir + " as " + r.Mount
}

// Setting is the value of one key with its origins, as `agent doctor` shows it.
type Setting struct {
	Key     string
	Value   any      // a text, a number, a truth value, a list, or nil if it is not set
	Origins []Origin // highest first; several if lists were joined; never empty
}

// Settings returns all settings in the order of the documentation.
func (c *Config) Settings() []Setting { return c.settings }

// Unknown returns a problem for each name in AGENT_SKILLS or enabledSkills that no skill has. It calls has with canonical
// names.
func (c *Config) Unknown(has func(name string) bool) []manifest.Problem {
	var out []manifest.Problem
	for _, name := range c.Want.Names {
		if has(name) {
			continue
		}
		p := c.wanted().problem("config-unknown-skill", fmt.Sprintf("unknown skill %q", name),
			"\"agent skill list --all\" lists all skills")
		p.Severity = manifest.SeverityError
		out = append(out, p)
	}
	return out
}

// wanted returns where the names of the skills to load are written.
func (c *Config) wanted() Origin {
	var out Origin
	for _, s := range c.settings {
		if s.Key == "enabledSkills" && s.Value != nil {
			return s.Origins[0]
		}
		if s.Key == "enabled" {
			out = s.Origins[0]
		}
	}
	return out
}

// serve chooses the places of what is kept for the tenant. Where it is not known whose they are, there are none.
func (c *Config) serve(nobody error) {
	if c.Nobody = nobody; nobody != nil {
		c.Tenant = ""
	}
	c.Paths.Tenant, c.Paths.nobody = c.Tenant, nobody != nil
	if c.Tenant != "" || nobody != nil {
		c.Paths.Cache = under(c.Paths.State(), "cache")
	}
}

// Scoped reports whether the settings say who asks for skills; then the scope of a skill counts.
func (c *Config) Scoped() bool { return c.AgentType+c.Tenant+c.Environment != "" || c.Nobody != nil }
