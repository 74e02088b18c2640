package allow

import (
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/language"
)

// program is a program that does more than its name says: it runs code that its arguments or its configuration name, or writes
// where they say.
type program struct {
	names   string // separated by spaces
	why     string
	plain   string // subcommands with which it does what they say alone, one or two words each, separated by ", "
	refused string // options that make those do more, separated by spaces; a long one counts from its third character on
	files   bool   // its first argument is the file that it runs
}

// Reasons that many programs share.
const (
	wraps    = "runs the command that it is given"
	builds   = "builds and runs any program"
	within   = "runs commands from within"
	options  = "runs the programs that its options name"
	project  = "runs the code that a project's configuration names"
	installs = "installs any program, with the scripts of its package"
	asked    = "runs any program that it is given"
)

// programs is the table of those programs.
var programs = [...]program{
	{names: "git", why: "runs programs that its options, its configuration and its aliases name",
		plain:   "status, log, diff, show, add, branch, blame, shortlog, describe, rev-parse, rev-list, ls-files, ls-tree, cat-file, merge-base, commit, tag, stash",
		refused: "--output --ext-diff --textconv --exec --upload-pack --receive-pack --open-files-in-pager --exec-path --config-env"},
	{names: "gh", why: "runs git, its extensions and its aliases, and writes files",
		plain: "search, label, issue list, issue view, issue status, issue create, issue comment, issue edit, issue close, issue reopen, " +
			"pr list, pr view, pr diff, pr status, pr checks, pr comment, pr review, pr edit, pr ready, release list, release view, " +
			"run list, run view, run watch, workflow list, workflow view, repo list, repo view"},
	{names: "hg svn jj", why: "runs programs that its options and its configuration name"},
	{names: "ipython irb pry iex ghci erl matlab mongosh", why: asked},
	{names: "npx bunx uvx pipx pnpx corepack", why: "fetches and runs any package"},
	{names: "npm pnpm yarn", why: "runs the programs of packages and of package.json", plain: "ls, list, view, info, outdated, why",
		refused: "--git --node-options --script-shell --userconfig --globalconfig --prefix"},
	{names: "pip pip3", why: "runs the build programs of packages", plain: "list, show, freeze, check", refused: "--python --log"},
	{names: "uv poetry pdm hatch rye conda mamba micromamba gem bundle bundler composer cargo rustc go mvn mvnw gradle gradlew sbt lein dotnet swift zig " +
		"cabal stack mix rebar3 flutter gcc g++ cc c++ clang clang++ javac nim crystal", why: builds},
	{names: "make gmake cmake ninja meson just rake task ant bazel scons nox tox invoke", why: "runs any command that a file names"},
	{names: "pytest jest vitest mocha playwright cypress eslint prettier webpack vite rollup next nuxt ng nx turbo lerna gulp grunt pre-commit husky " +
		"rails rspec phpunit mypy pylint sphinx-build mkdocs jupyter papermill quarto vercel netlify wrangler firebase serverless sam cdk pulumi", why: project},
	{names: "apt apt-get dpkg dnf yum rpm apk pacman zypper snap flatpak brew port nix nix-shell asdf mise choco winget scoop", why: installs},
	{names: "command", why: wraps, plain: "-v, -V"}, // which say what it would run
	{names: "env xargs nohup nice ionice chrt taskset timeout time builtin exec eval source . sudo doas su runuser setsid setpriv stdbuf unbuffer " +
		"parallel watch entr flock script strace ltrace gdb lldb valgrind perf hyperfine busybox toybox chroot unshare nsenter bwrap firejail " +
		"xvfb-run dbus-run-session direnv dotenv mitmproxy concurrently nodemon", why: wraps},
	{names: "claude codex gemini opencode aider goose cursor-agent copilot agent", why: "runs an agent that has tools of its own"},
	{names: "trap alias hash enable", why: "changes what other commands run"},
	{names: "find fd fdfind", why: "runs the command after -exec, and deletes and writes files"},
	{names: "rg", why: "runs the command after --pre"},
	{names: "sort", why: "runs the program after --compress-program, and writes files with -o"},
	{names: "split", why: "runs the command after --filter"},
	{names: "awk gawk mawk nawk", why: "runs commands from its program text"},
	{names: "sed gsed", why: "runs commands with e, and writes files with w"},
	{names: "tar bsdtar gtar zip cpio rsync rclone", why: options},
	{names: "pandoc convert magick mogrify latexmk pdflatex xelatex lualatex latex tex gs", why: options + ", and writes files"},
	{names: "soffice libreoffice", why: "runs the macros of documents"},
	{names: "sqlite3 psql mysql mariadb duckdb", why: within},
	{names: "curl wget aria2c http https xh", why: "sends any file that can be read, and writes any file, such as one that runs later"},
	{names: "ssh scp sftp mosh", why: "runs commands here and on other machines"},
	{names: "nc ncat netcat socat", why: "connects to any machine, and " + wraps},
	{names: "docker podman nerdctl", why: "runs any program, with any folder of this machine", plain: "ps, images, logs, inspect, version, info"},
	{names: "docker-compose vagrant multipass lxc", why: "runs any program, with any folder of this machine"},
	{names: "kubectl oc", why: "runs programs on other machines, and those that a configuration names", plain: "get, describe, logs, version",
		refused: "--kubeconfig --kustomize -k --profile --cache-dir --as --token --server -s"},
	{names: "helm terraform tofu ansible ansible-playbook salt", why: "runs programs on other machines, and those that a configuration names"},
	{names: "aws gcloud az", why: "acts with all rights of the account, and runs programs that its configuration names"},
	{names: "vi vim nvim view ed ex emacs nano less more man", why: within},
	{names: "open xdg-open start", why: "opens any file with the program that is set for it"},
	{names: "crontab at batch systemctl systemd-run launchctl service screen tmux", why: "runs commands later"},
}

// programNamed returns the row of a program. The version in its name, as in python3.11, does not count.
func programNamed(name string) (program, bool) {
	name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.")} {
		for _, p := range programs {
			if n != "" && slices.Contains(strings.Fields(p.names), n) {
				return p, true
			}
		}
	}
	if why := language.RunsCode(name); why != "" {
		return program{names: name, why: why, files: true}, true
	}
	return program{}, false
}

// refusals returns the options that a pattern does not cover, although it ends in any further words: those that make the
// subcommand that it names do more than that says.
func (w words) refusals() []string {
	if len(w.list[0]) > 1 {
		return nil
	}
	p, ok := programNamed(path.Base(w.list[0][0]))
	if !ok || p.refused == "" || !w.fixed(p) {
		return nil
	}
	return strings.Fields(p.refused)
}

// refusedOption returns an option of a command that does something else than the rule that covers it says. Programs read
// abbreviated options, so a beginning counts, and text that is joined to an option of one letter.
func refusedOption(w words, command []string) string {
	if len(w.refused) == 0 {
		return ""
	}
	for _, arg := range command[min(len(w.list), len(command)):] {
		option, _, _ := strings.Cut(arg, "=")
		for _, refused := range w.refused {
			long := strings.HasPrefix(refused, "--")
			if long && len(option) > 2 && strings.HasPrefix(refused, option) || !long && strings.HasPrefix(arg, refused) {
				return arg
			}
		}
	}
	return ""
}
