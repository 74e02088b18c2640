package language

import (
	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// The languages that the engine itself has to tell apart.
const (
	Python     ID = ".py"
	Shell      ID = ".sh"
	JavaScript ID = ".js"
	TypeScript ID = ".ts"
	Ruby       ID = ".rb"
	Perl       ID = ".pl"
	PowerShell ID = ".ps1"
	PHP        ID = ".php"
)

// table has a row for each language. A new language is a row here and one in the tests of package script, trials, which try its programs
// with their own options as the arguments of a script.
var table = []*Language{
	{
		ID: Python, Common: true, Name: "Python",
		Programs: []Program{{Names: []string{"python", "python3"}}, {Names: []string{"uv"}, Install: "get it with `pip install uv` or from https://docs.astral.sh/uv/"}},
		Tried:    []string{"python3"}, Install: "install Python 3",
		Commands: []string{"python3", "python", "uv run", "uv run --script", "uv run python"},
		Packages: "pip pip3",
		Syntax:   Syntax{Line: []string{"#"}, Quotes: `"'`, Triple: true},
		Missing:  lazyregexp.New(`(?m)^(?:ModuleNotFoundError|ImportError): No module named '?([A-Za-z0-9_.]{1,200})`),
		Obeys:    []string{"PYTHON*", "UV_*", "PIP_*"},
		Sets:     []string{"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1", "PYTHONUTF8=1"},
		Input:    lazyregexp.New(`\bsys\s*\.\s*stdin\b|\binput\s*\(|\bfileinput\b|/dev/stdin|\bopen\(\s*0\b`),
	},
	{
		ID: Shell, Common: true, Name: "shell", Also: []string{".bash"}, Shell: true,
		Programs: []Program{{Names: []string{"bash"}}, {Names: []string{"sh"}}, {Names: []string{"dash", "ksh", "zsh"}}},
		Tried:    []string{"bash", "sh"}, Install: "install bash",
		Obeys: []string{"BASH_ENV", "BASH_FUNC_*", "BASHOPTS", "SHELLOPTS", "ENV", "IFS", "PS4", "ZDOTDIR", "FPATH"},
		Input: lazyregexp.New(`/dev/stdin|\$\(\s*(?:cat|<&0)\s*(?:-\s*)?\)|\bcat\s+-(?:\s|$)|(?m:^)\s*read\s`),
	},
	{
		ID: JavaScript, Common: true, Name: "JavaScript", Also: []string{".mjs", ".cjs"}, Modules: []string{".jsx"},
		Programs: []Program{{Names: []string{"node", "nodejs"}, Last: "--", Takes: nodeTakes, Where: []string{"-p", "process.execPath"}}},
		Tried:    []string{"node", "bun", "deno"}, Install: "install Node.js: https://nodejs.org",
		Commands: []string{"node", "bun", "bun run", "deno run"},
		Packages: "npm npx pnpm yarn",
		Syntax:   scriptSyntax, Missing: nodeMissing,
		Obeys: []string{"NODE_OPTIONS", "NODE_PATH", "NODE_REPL_EXTERNAL_MODULE", "NODE_COMPILE_CACHE*", "NODE_V8_COVERAGE", "NPM_CONFIG_*", "YARN_*"},
		Input: scriptInput,
	},
	{
		ID: TypeScript, Common: true, Name: "TypeScript", Also: []string{".mts", ".tsx"}, Modules: []string{".cts"},
		Programs: []Program{
			{Names: []string{"bun"}, Args: []string{"run"}, Install: "install bun: https://bun.sh"},
			{Names: []string{"deno"}, Args: []string{"run", "--quiet", "--no-prompt", "--allow-all"}, Install: "install deno: https://deno.com", Alone: true},
			{Names: []string{"tsx", "ts-node"}, Last: "--", Takes: nodeTakes, Loads: true},
		},
		Tried: []string{"bun", "deno", "node"}, Install: "install Node.js 22 or newer (https://nodejs.org) or bun (https://bun.sh)",
		Commands: []string{"bun", "bun run", "npx tsx", "tsx", "npx ts-node", "ts-node", "deno run", "node"},
		Packages: "npm",
		Syntax:   scriptSyntax, Missing: nodeMissing,
		Obeys: []string{"BUN_OPTIONS", "BUN_CONFIG_*", "BUN_INSTALL*", "BUN_RUNTIME_*", "DENO_*", "TSX_TSCONFIG_PATH", "TS_NODE_*"},
		Input: scriptInput,
	},
	{
		ID: Ruby, Common: true, Name: "Ruby",
		Programs: []Program{{Names: []string{"ruby"}, Where: []string{"-e", "print RbConfig.ruby"}}}, Install: "install Ruby",
		Syntax:  Syntax{Line: []string{"#"}, Quotes: "\"'`", Here: true, Begin: map[string]string{"=begin": "=end", "__END__": "\x00"}},
		Helps:   [][]string{{"OptionParser", ".", "new"}},
		Missing: lazyregexp.New(`cannot load such file -- ([A-Za-z0-9_./-]{1,200}) \(LoadError\)`),
		Obeys:   []string{"RUBYOPT", "RUBYLIB", "RUBYPATH", "GEM_HOME", "GEM_PATH", "BOOTSNAP_*", "BUNDLE_*", "BUNDLER_*"},
		Input:   lazyregexp.New(`\$stdin\b|\bSTDIN\b|\bARGF\b|\bgets\b|/dev/stdin`),
	},
	{
		ID: Perl, Common: true, Name: "Perl",
		Programs: []Program{{Names: []string{"perl"}, Where: []string{"-e", "print $^X"}}}, Install: "install Perl",
		Syntax: Syntax{Line: []string{"#"}, Quotes: "\"'`", Here: true, Equal: "eq",
			Begin: map[string]string{"=": "=cut", "__END__": "\x00", "__DATA__": "\x00"}},
		Options: "GetOptions",
		Missing: lazyregexp.New(`Can't locate \S{1,200} in @INC \(you may need to install the ([A-Za-z0-9_:]{1,200}) module\)`),
		Obeys:   []string{"PERL5*", "PERLLIB", "PERL_USE_UNSAFE_INC"},
		Input:   lazyregexp.New(`\bSTDIN\b|<>|/dev/stdin`),
	},
	{
		ID: PowerShell, Name: "PowerShell", Shell: true,
		Programs: []Program{{Names: []string{"pwsh", "powershell"}, Args: []string{"-NoLogo", "-NoProfile", "-NonInteractive"},
			Bang: []string{"-NoLogo", "-NoProfile", "-NonInteractive"}, Last: "-File"}},
		Install:  "install PowerShell: https://learn.microsoft.com/powershell",
		Commands: []string{"pwsh", "pwsh -File"},
		Syntax:   Syntax{Line: []string{"#"}, Block: [2]string{"<#", "#>"}},
		Obeys:    []string{"PSMODULEPATH"},
	},
	{
		ID: PHP, Name: "PHP",
		Programs: []Program{{Names: []string{"php"}, Args: []string{"-d", "display_errors=stderr"}, Bang: []string{"-d", "display_errors=stderr"},
			OfFile: []string{"-f", "--file"}, Where: []string{"-r", "echo PHP_BINARY;"}}},
		Install: "install PHP: https://www.php.net",
		Syntax:  Syntax{Open: "<?php", Line: []string{"#", "//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'"},
		Options: "getopt",
		Missing: lazyregexp.New(`(?m)Uncaught Error: (?:Class|Interface|Trait) ["']([A-Za-z0-9_\\]{1,200})["'] not found`),
		Obeys:   []string{"PHPRC", "PHP_INI_SCAN_DIR", "COMPOSER*"},
		Input:   lazyregexp.New(`\bSTDIN\b|php://stdin|\breadline\s*\(|/dev/stdin`),
	},

	// Files of these are known by their #! line.
	{Name: "fish", Shell: true, Programs: []Program{{Names: []string{"fish"}, Loads: true}}},
	{Name: "PyPy", Programs: []Program{{Names: []string{"pypy", "pypy3"}, Loads: true}}},
	{Name: "Lua", Programs: []Program{{Names: []string{"lua", "luajit"}, Loads: true}}, Obeys: []string{"LUA_INIT*", "LUA_PATH*", "LUA_CPATH*"}},
	{Name: "Tcl", Programs: []Program{{Names: []string{"tclsh"}, Loads: true}, {Names: []string{"expect"}, Last: "--", OfFile: []string{"-f"}, Loads: true}}, Obeys: []string{"TCLLIBPATH"}},
	{Name: "Scheme", Programs: []Program{{Names: []string{"guile"}, Loads: true}}, Obeys: []string{"GUILE_*"}},
	{Name: "R", Programs: []Program{
		{Names: []string{"Rscript", "rscript"}, Bang: []string{"--no-init-file", "--no-environ"}}, // .Rprofile is code
		{Names: []string{"R", "r"}, Takes: []string{"*"}, Loads: true},                            // its first argument may be a command of it
	}, Obeys: []string{"R_PROFILE*", "R_ENVIRON*", "R_LIBS*"}},
	{Name: "awk", Programs: []Program{{Names: []string{"awk", "gawk", "mawk"}, Last: "--", OfFile: []string{"-f", "--file"}, Whole: []string{"-E", "--exec"}}}},
	{Name: "sed", Programs: []Program{{Names: []string{"sed"}, Last: "--", OfFile: []string{"-f", "--file"}}}},
	{Name: "jq", Programs: []Program{{Names: []string{"jq"}, Filter: true, Last: "--", OfFile: []string{"-f", "--from-file"}}}},
	{Name: "make", Programs: []Program{{Names: []string{"make", "gmake"}, Takes: []string{anyOption, "*=*"}, Loads: true}}}, // a variable such as SHELL is a program

	// Nothing is known about the options of these.
	{Name: "other shells", Shell: true, Programs: []Program{{Names: []string{"ash", "csh", "tcsh", "nu", "cmd"}, Takes: []string{anyOption}, Loads: true}}},
	{Name: "other languages", Programs: []Program{{Names: []string{"julia", "java", "jshell", "groovy", "osascript", "elixir", "octave", "clojure", "bb", "scala", "kotlin",
		"dart", "swipl", "racket", "sbcl"}, Takes: []string{anyOption}, Loads: true}},
		Obeys: []string{"JULIA_*", "PLT*", "SBCL_HOME", "OCTAVE_*", "BABASHKA_*", "CLASSPATH", "JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "DOTNET_STARTUP_HOOKS", "CORECLR_*",
			"COR_PROFILER*", "COR_ENABLE_PROFILING", "ERL_*FLAGS", "ERL_LIBS"},
	}, // Java
}

// What JavaScript and TypeScript share.
var (
	// nodeTakes are the options that node reads behind "--" too.
	nodeTakes    = []string{"--experimental-config-file*", "--experimental-default-config-file*"}
	scriptSyntax = Syntax{Line: []string{"//"}, Block: [2]string{"/*", "*/"}, Quotes: "\"'`", Regexp: true}
	scriptInput  = lazyregexp.New(`\bprocess\s*\.\s*stdin\b|\breadFileSync\(\s*0\b|\b(?:Deno|Bun)\.stdin\b|/dev/stdin`)
	nodeMissing  = lazyregexp.New(`(?m)^(?:.{0,80}: )?Cannot find (?:package|module) ['"]([^'"\n]{1,214})['"]`)
)
