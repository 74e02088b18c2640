package config

import (
	"slices"
	"time"

	"github.com/agent-base/agent-base/skill"
)

// get returns the value of a key as a T, or the zero value if it is not set.
func get[T any](g given, key string) T {
	v, _ := g[key].value.(T)
	return v
}

// fill sets the fields from the resolved values.
func (c *Config) fill(g given) {
	text := func(key string) string { return get[string](g, key) }
	c.Profile = text("profile")
	c.Allow, c.Deny = get[[]string](g, "allow"), get[[]string](g, "deny")
	c.Duplicates, c.Symlinks = text("duplicates"), text("symlinks")
	c.Nested = get[bool](g, "nested")
	c.LinkRoots, c.Roots = get[[]string](g, "symlinkRoots"), get[[]Root](g, "roots")
	c.CoreDir, c.UserDir, c.PluginsDir = text("coreDir"), text("userDir"), text("pluginsDir")
	c.SignatureRoots = get[[]string](g, "signatureRoots")
	c.ForgeTokens = get[[]string](g, "forgeTokens")
	c.Plugins = get[[]Plugin](g, "plugins")
	precedence := get[preset](g, "precedence")
	c.Sources = get[[]string](g, "sources")
	c.Precedence, c.Omniforge = slices.Clone(precedence.order), precedence.name == "omniforge"

	c.Disclosure, c.XMLStyle, c.Location = text("disclosure"), text("xmlStyle"), text("location")
	c.ActivationText = text("activationText")
	c.MaxSkills, c.Budget = int(get[int64](g, "maxSkills")), int(get[int64](g, "budget"))

	c.ScriptRead = text("scriptRead")
	c.Enforce, c.StackPolicy, c.Lock = text("enforce"), text("stackPolicy"), text("lock")
	c.StrictStack, c.ErrorText = get[bool](g, "strictStack"), get[bool](g, "errorText")
	c.AgentType, c.Tenant, c.Environment = text("agentType"), text("tenant"), text("environment")
	c.Hooks = get[bool](g, "hooks")
	c.ToolsetTools, c.AutoPrefix, c.BrokenToolset = text("toolsetTools"), get[bool](g, "autoPrefix"), text("brokenToolset")

	c.Scripts = text("scripts")
	c.Cwd, c.ScriptJSON, c.ScriptHelp = text("cwd"), text("scriptJson"), text("scriptHelp")
	c.FixedCwd = len(g["cwd"].origins) > 0 && g["cwd"].origins[0].Rank > FromProfile
	c.Sandbox = text("sandbox")
	c.ScriptMemory, c.ScriptProcesses = get[int64](g, "scriptMemory"), get[int64](g, "scriptProcesses")
	c.ScriptDisk, c.ScriptFiles = get[int64](g, "scriptDisk"), get[int64](g, "scriptFiles")
	c.ScriptTimeout = get[time.Duration](g, "scriptTimeout")
	c.MaxScriptOutput = get[int64](g, "maxScriptOutput")
	c.Path, c.Python, c.UV = get[[]string](g, "path"), text("python"), text("uv")
	c.PrepareTimeout = get[time.Duration](g, "prepareTimeout")
	c.PackageHosts = get[[]string](g, "packageHosts")
	c.MaxEnvironment = get[int64](g, "maxEnvironment")
	c.PythonDownload = text("pythonDownload")

	c.Audit, c.Usage, c.Telemetry = text("audit"), text("usage"), text("telemetry")
	c.Fleet = text("state") == "fleet"

	c.Agent = Agent{Model: text("model"), MaxTurns: int(get[int64](g, "maxTurns")), MaxTokens: int(get[int64](g, "maxTokens")),
		MaxTime: get[time.Duration](g, "maxTime"), RetryTime: get[time.Duration](g, "retryTime"), Window: int(get[int64](g, "contextWindow")),
		Answer: int(get[int64](g, "answerTokens")), Effort: text("effort"), Reads: text("modelReads"), Context: get[bool](g, "contextFiles"), Notify: get[bool](g, "notify"), Plain: get[bool](g, "plain"), Blocks: get[[]string](g, "promptBlocks"), Mode: text("mode"),
		Keep:  time.Duration(get[int64](g, "keepConversations")) * 24 * time.Hour,
		Hooks: get[[]Hook](g, "agentHooks"), BashSandbox: text("bashSandbox"), BashNetwork: get[[]string](g, "bashNetwork"), BashRead: get[[]string](g, "bashRead"), BashWrite: get[[]string](g, "bashWrite"), BashSockets: get[[]string](g, "bashSockets"), BashVariables: get[[]string](g, "bashVariables"),
		BashMemory: get[int64](g, "bashMemory"), BashDisk: get[int64](g, "bashDisk"), BashFileSize: get[int64](g, "bashFileSize"),
		BashProcesses: get[int64](g, "bashProcesses"), BashFiles: get[int64](g, "bashFiles")}
	c.Serve = Serve{Key: text("serve.key"), Tokens: text("serve.tokens"), Issuer: text("serve.issuer"), Audience: text("serve.audience"), JWKS: text("serve.jwks"),
		Scopes: get[[]string](g, "serve.scopes"), Tenants: tenantsOf(get[[]string](g, "serve.tenants")), Secrets: text("serve.secrets"), Calls: int(get[int64](g, "serve.calls")), Queue: int(get[int64](g, "serve.queue")),
		LastingHomes: get[[]string](g, "serve.lastingHomes"),
		Name:         text("serve.name"), Listen: text("serve.listen"), Route: text("serve.route"), Nodes: get[[]string](g, "serve.nodes"),
		Cert: text("serve.cert"), CertKey: text("serve.certKey"), CA: text("serve.ca"),
		Server: text("serve.server"), Creds: text("serve.creds"), Copies: int(get[int64](g, "serve.copies")),
		PodImage: text("serve.podImage"), PodServer: text("serve.podServer"), PodNamespace: text("serve.podNamespace"),
		PodRuntime: text("serve.podRuntime"), PodCPU: text("serve.podCpu"), PodMemory: text("serve.podMemory"), PodDisk: text("serve.podDisk")}
	c.Permissions = Permissions{Allow: get[[]Rule](g, "permissions.allow"), Ask: get[[]Rule](g, "permissions.ask"), Deny: get[[]Rule](g, "permissions.deny")}

	if c.UserDir == "" {
		c.UserDir = c.Paths.Skills()
	}
	if c.PluginsDir == "" {
		c.PluginsDir = c.Paths.Plugins()
	}
	c.Want = selected(g)
	c.settings = settings(g, c)
}

// selected returns the selection of skills: AGENT_SKILLS if it is set, and otherwise what the activation says.
func selected(g given) skill.Selection {
	s := skill.Selection{Mode: skill.SelectAuto}
	enabled := get[[]string](g, "enabled")
	if e, ok := g["enabledSkills"]; ok {
		s = e.value.(skill.Selection)
	} else if get[string](g, "activation") == "explicit" {
		s = skill.Selection{Mode: skill.SelectNone}
		if len(enabled) > 0 {
			s = skill.Selection{Mode: skill.SelectNamed, Names: slices.Clone(enabled)}
		}
	}
	s.Disabled = slices.Concat(get[[]string](g, "disabled"), switchedOff(get[[]Plugin](g, "plugins")))
	s.Enabled = slices.DeleteFunc(slices.Clone(enabled), func(n string) bool { return slices.Contains(s.Disabled, n) })
	s.OnlyBundled, s.NotBundled = get[[]string](g, "enabledBundled"), get[[]string](g, "disabledBundled")
	return s
}

// settings lists all keys with their values as they are shown to users.
func settings(g given, c *Config) []Setting {
	out := make([]Setting, 0, len(keys))
	for _, k := range keys {
		e := g[k.name]
		s := Setting{Key: k.name, Value: e.value, Origins: e.origins}
		switch v := e.value.(type) {
		case time.Duration:
			s.Value = v.Milliseconds()
		case preset:
			s.Value = v.order
			if v.name != "" {
				s.Value = v.name
			}
		case skill.Selection:
			s.Value = selectionText(v)
		case []Rule:
			s.Value = ruleTexts(v)
		case []Hook:
			s.Value = hookTexts(v)
		case []Server:
			labels := []string{}
			for _, one := range v {
				labels = append(labels, one.Label)
			}
			s.Value = labels
		}
		switch {
		case len(s.Origins) > 0:
		case k.name == "userDir":
			s.Value, s.Origins = c.UserDir, []Origin{{}}
		case k.name == "pluginsDir":
			s.Value, s.Origins = c.PluginsDir, []Origin{{}}
		default:
			s.Origins = []Origin{{}}
		}
		out = append(out, s)
	}
	return out
}

func selectionText(s skill.Selection) any {
	switch s.Mode {
	case skill.SelectAll:
		return "all"
	case skill.SelectAllUntrusted:
		return "all-untrusted"
	case skill.SelectNamed:
		return s.Names
	}
	return "none"
}
