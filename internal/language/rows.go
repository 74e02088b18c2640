package language

// nodeTakes are the options that node reads behind "--" too.
var nodeTakes = []string{"--experimental-config-file*", "--experimental-default-config-file*"}

// programs is the table of the programs that run files. Each was tried with its own options as arguments of a file.
var programs = [...]Program{
	{Names: []string{"bash"}}, {Names: []string{"sh"}}, {Names: []string{"dash", "ksh", "zsh", "fish"}},
	{Names: []string{"node", "nodejs"}, Last: "--", Takes: nodeTakes, Where: []string{"-p", "process.execPath"}},
	{Names: []string{"tsx", "ts-node"}, Last: "--", Takes: nodeTakes},
	{Names: []string{"bun"}, Args: []string{"run"}},
	{Names: []string{"deno"}, Args: []string{"run", "--quiet", "--no-prompt", "--allow-all"}},
	{Names: []string{"python", "python3", "pypy", "pypy3"}},
	{Names: []string{"ruby"}, Where: []string{"-e", "print RbConfig.ruby"}},
	{Names: []string{"perl"}, Where: []string{"-e", "print $^X"}},
	{Names: []string{"pwsh", "powershell"}, Args: []string{"-NoLogo", "-NoProfile", "-NonInteractive"}, Bang: []string{"-NoLogo", "-NoProfile", "-NonInteractive"}, Last: "-File"},
	{Names: []string{"php"}, OfFile: []string{"-f", "--file"}},
	{Names: []string{"lua", "luajit", "tclsh", "guile"}},
	{Names: []string{"Rscript"}, Bang: []string{"--no-init-file", "--no-environ"}}, // .Rprofile is code
	{Names: []string{"R"}, Takes: []string{"*"}},                                   // its first argument may be a command of it
	{Names: []string{"awk", "gawk", "mawk"}, Last: "--", OfFile: []string{"-f", "--file"}, Whole: []string{"-E", "--exec"}},
	{Names: []string{"expect"}, Last: "--", OfFile: []string{"-f"}},
	{Names: []string{"make", "gmake"}, Takes: []string{"-*", "*=*"}}, // a variable such as SHELL is a program
}
