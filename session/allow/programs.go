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
	names string // separated by spaces
	why   string
	plain string // subcommands with which it does what they say alone, one or two words each, separated by ", "
	files bool   // its first argument is the file that it runs

	// refused has options, separated by spaces, that a rule for a subcommand does not cover, because with them it does more than the rule
	// says: it takes its configuration, its folder or the program that it starts from elsewhere. A long option counts from its third
	// character on, "=" stands for any argument NAME=value, and what begins with "%" for any argument that has it. SUBCOMMAND:OPTION is
	// one of a subcommand alone.
	refused string
	wide    string // subcommands that run anything or pass their options on, in the form of plain; a rule for them covers all options
	groups  bool   // several options of one letter may stand in one word, as -kf
	dashes  bool   // an option may begin with any number of dashes
	ends    bool   // what follows "--" goes to what it starts
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
	files    = "runs any command that a file names"
)

// programs is the table of those programs.
var programs = [...]program{
	{names: "git", why: "runs programs that its options, its configuration and its aliases name",
		plain: "status, log, diff, show, add, branch, blame, shortlog, describe, rev-parse, rev-list, ls-files, ls-tree, cat-file, merge-base, commit, tag, stash",
		refused: "--output --ext-diff --textconv --exec --upload-pack --receive-pack --open-files-in-pager -O --exec-path --config-env " +
			"--show-signature %G %(signature --gpg-sign commit:-S tag:-s tag:-u tag:-v tag:--sign tag:--local-user tag:--verify " + // gpg.program
			"--trailer --remerge-diff --diff-merges cat-file:--filters"}, // other programs of a configuration
	{names: "gh", why: "runs git, its extensions and its aliases, and writes files",
		plain: "search, label, issue list, issue view, issue status, issue create, issue comment, issue edit, issue close, issue reopen, " +
			"pr list, pr view, pr diff, pr status, pr checks, pr comment, pr review, pr edit, pr ready, release list, release view, " +
			"run list, run view, run watch, workflow list, workflow view, repo list, repo view"},
	{names: "hg svn jj", why: "runs programs that its options and its configuration name"},
	{names: "ipython irb pry iex ghci erl matlab mongosh", why: asked},
	{names: "npx bunx uvx pipx pnpx corepack", why: "fetches and runs any package"},
	{names: "npm pnpm yarn", why: "runs the programs of packages and of package.json", plain: "ls, list, view, info, outdated, why",
		refused: "-C -F -g -w -ws --cache --cafile --call --config --cwd --dir --editor --filter --git --global --globalconfig --init-module --local-prefix --location " +
			"--modules-folder --node-gyp --node-options --onload-script --package --prefix --rc --registry --script-shell --shell --shell-emulator --use-yarnrc " +
			"--userconfig --viewer --workspace --workspaces",
		wide: "install, i, add, exec, x, dlx, create, init", dashes: true, ends: true},
	{names: "bun", why: asked, files: true, ends: true,
		refused: "-F -c -e -i -p -r --config --cwd --define --env-file --eval --filter --import --install --loader --preload --print --require --shell --tsconfig-override",
		wide:    "install, i, add, x, create"},
	{names: "pip pip3", why: "runs the build programs of packages", plain: "list, show, freeze, check", refused: "--python --log", wide: "install, download, wheel"},
	{names: "uv", why: builds, wide: "run, add, pip install, tool run, tool install, python install",
		refused: "-f -i -p --cache-dir --config-file --default-index --directory --env-file --extra-index-url --find-links --from --index --index-url --project --python --with --with-editable --with-requirements"},
	{names: "cargo", why: builds, refused: "-C -Z --artifact-dir --config --git --index --manifest-path --out-dir --path --registry --target-dir", wide: "install, add", ends: true},
	{names: "go", why: builds, wide: "run, get, install, tool",
		refused: "-C -asmflags -compiler -coverprofile -cpuprofile -exec -gccgoflags -gcflags -ldflags -memprofile -modfile -o -outputdir -overlay -pkgdir -toolexec -vettool -workfile " +
			"--C --asmflags --compiler --coverprofile --cpuprofile --exec --gccgoflags --gcflags --ldflags --memprofile --modfile --outputdir --overlay --pkgdir --toolexec --vettool --workfile"},
	{names: "mvn mvnw", why: builds, refused: "-f -gs -gt -s -t --file --global-settings --global-toolchains --settings --toolchains"},
	{names: "gradle gradlew", why: builds, refused: "-I -b -c -g -p --build-file --gradle-user-home --include-build --init-script --project-dir --settings-file"},
	{names: "poetry pdm hatch rye conda mamba micromamba gem bundle bundler composer rustc sbt lein dotnet swift zig " +
		"cabal stack mix rebar3 flutter gcc g++ cc c++ clang clang++ javac nim crystal", why: builds},
	{names: "make gmake", why: files, groups: true, refused: "-C -E -I -W -f -o = --assume-new --assume-old --directory --eval --file --include-dir --makefile --new-file --old-file --what-if"},
	{names: "rake", why: files, groups: true, refused: "-C -E -I -R -e -f -g -p -r = --directory --execute --execute-continue --execute-print --libdir --rakefile --rakelibdir --require --system"},
	{names: "just", why: files, groups: true, refused: "-c -d -e -f = --chooser --command --dotenv-filename --dotenv-path --edit --justfile --set --shell --shell-arg --working-directory"},
	{names: "task", why: files, groups: true, refused: "-d -g -t = --dir --global --taskfile"},
	{names: "ninja", why: files, groups: true, refused: "-C -f"},
	{names: "cmake meson ant bazel scons nox tox invoke", why: files},
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
		ends: true, refused: "--kubeconfig --kustomize -k --profile --cache-dir --as --token --server -s"},
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

// refuser returns the program whose refused options a pattern does not cover, although it ends in any further words: one of which it
// names a subcommand or a target. It returns the zero program if there is none.
func (w words) refuser() program {
	if len(w.list) < 2 || len(w.list[0]) > 1 {
		return program{}
	}
	p, ok := programNamed(path.Base(w.list[0][0]))
	if !ok || p.refused == "" || p.files && w.fixed(p) || w.among(p.wide) {
		return program{}
	}
	return p
}

// refusedOption returns an option of a command that does something else than the rule that covers it says.
func refusedOption(w words, command []string) string {
	p := w.refuser()
	if p.refused == "" {
		return ""
	}
	for _, arg := range command[min(len(w.list), len(command)):] {
		if arg == "--" && p.ends {
			return ""
		}
		refuses := func(refused string) bool {
			sub, option, some := strings.Cut(refused, ":")
			if !some {
				return p.reads(arg, refused)
			}
			return command[1] == sub && p.reads(arg, option)
		}
		if slices.ContainsFunc(strings.Fields(p.refused), refuses) {
			return arg
		}
	}
	return ""
}

// reads reports whether the program may read an argument as an option. Programs read abbreviated options, so a beginning counts, and
// text that is joined to an option of one letter.
func (p *program) reads(arg, refused string) bool {
	option, _, assigned := strings.Cut(arg, "=")
	switch {
	case refused == "=":
		return assigned && !strings.HasPrefix(arg, "-")
	case strings.HasPrefix(refused, "%"):
		return strings.Contains(arg, refused)
	case !strings.HasPrefix(arg, "-"):
		return false
	case p.dashes && len(option) > 2:
		option = "--" + strings.TrimLeft(option, "-")
	}
	switch {
	case strings.HasPrefix(refused, "--"):
		return len(option) > 2 && strings.HasPrefix(refused, option)
	case p.groups && !strings.HasPrefix(arg, "--"):
		return strings.Contains(arg, refused[1:])
	}
	return strings.HasPrefix(arg, refused)
}
