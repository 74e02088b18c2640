package obeyed

// row is one kind of thing that other programs obey.
type row struct {
	By    string // who obeys it: "direnv"; "editors" for several
	Does  string // what they do with it: "runs"; "run" for several
	Own   bool   // it is a matter of the user alone, see Found
	Names string // separated by spaces
}

// several is who obeys what many agents follow.
const several = "agents"

// table has what is obeyed, but for what belongs to one agent: see agents.go. A name counts at any depth. "a/b" is b in a folder a, and
// "~/a" is a in the home of a user alone. In a name that begins with a dot a star stands for any text.
var table = [...]row{
	{several, "follow", false, "AGENTS.md AGENTS.override.md AGENT.md .rules .ai .mcp .mcp.json"},

	{"editors", "obey", false, ".vscode .idea .zed .fleet .run .nova .theia .settings .vs .bsp .sublime-project .devcontainer .devcontainer.json"},
	{"vim and Emacs", "run", false, ".vimrc .exrc .gvimrc .nvimrc .nvim.lua .lvimrc .dir-locals.el .dir-locals-2.el .emacs .emacs.d"},

	{"shells", "run", true, ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile .zlogin .zlogout .kshrc .cshrc .tcshrc .login " +
		".inputrc .localrc .autoenv .autoenv.zsh .in .out"},
	{"programs", "obey", true, "~/.config ~/.ssh"},
	{"direnv and its kind", "run", false, ".envrc .tool-versions .mise.toml .mise.*.toml .mise mise.toml mise.local.toml .config/mise .config/mise.toml .rtx.toml .sdkmanrc .flox"},

	{"git", "runs", true, ".git/hooks .git/config .git/commondir .git/config.worktree .git/objects/info/alternates .gitmodules .gitconfig .githooks"},
	{"version control", "obeys", true, ".hg/hgrc .hgsub .hgrc .jj/repo/config.toml .jj/workspace-config.toml .sl/config .svn/hooks .arcconfig .arclint"},
	{"tools for hooks of git", "run", false, ".husky lefthook.yml lefthook.yaml lefthook-local.yml .lefthook.yml .lefthook.yaml .lefthook-local.yml .lefthook .overcommit.yml " +
		".pre-commit-config.yaml .pre-commit-hooks.yaml .lintstagedrc* .commitlintrc* .huskyrc*"},

	{"package managers", "obey", false, ".npmrc .yarnrc .yarnrc.yml .yarn/releases .yarn/plugins .pnpmfile.cjs .pnpmfile.mjs .pnp.cjs .pnp.loader.mjs bunfig.toml .bunfig.toml " +
		".cargo/config .cargo/config.toml .pypirc .condarc .gemrc .bundle .mvn .sbtopts .jvmopts .bazelrc .buckconfig .config/dotnet-tools.json"},
	{"tools for code", "run", false, ".eslintrc* .prettierrc* .babelrc* .stylelintrc* .mocharc* .nycrc* .swcrc .postcssrc* .rubocop.yml .pylintrc .flake8 .rspec .irbrc .pryrc .pdbrc " +
		".Rprofile .Renviron .R .php.ini .user.ini"},
	{"debuggers and terminals", "run", false, ".gdbinit .lldbinit .tmux.conf .screenrc .ackrc .ripgreprc .curlrc .wgetrc .netrc .docker .terraformrc .ansible.cfg"},
}

// harmless are the dot names that no program runs and no model follows, in lower case. Things in such folders that are obeyed all the
// same have their own rows.
const harmless = ".github .yarn .gitignore .gitattributes .gitkeep .keep .mailmap .editorconfig .nojekyll .git-blame-ignore-revs .ignore .rgignore " +
	".dockerignore .npmignore .eslintignore .prettierignore .stylelintignore .helmignore .gcloudignore .vscodeignore " +
	".python-version .node-version .nvmrc .ruby-version .browserslistrc .clang-format .rustfmt.toml .env.example .env.sample .env.template"

// made are the dot names of what programs make while they build, test and edit, in lower case: caches, packages, locks. Commands make
// them, and nobody writes them by hand. Package content has those that belong to no skill.
const made = ".ccache .coverage.* .eggs .pyre .next .nuxt .output .svelte-kit .astro .vite .angular .nx .docusaurus .expo .stylelintcache " +
	".rollup.cache .jekyll-cache .jekyll-metadata .pnpm-store .tsbuildinfo .*.tsbuildinfo .wrangler .serverless .aws-sam .terraform " +
	".terraform.lock.hcl .gradle .kotlin .cxx .externalnativebuild .dart_tool .flutter-plugins .flutter-plugins-dependencies " +
	".stack-work .build .zig-cache .elixir_ls .bloop .metals .rustc_info.json .fingerprint .cargo-lock .phpunit.cache " +
	".phpunit.result.cache .php-cs-fixer.cache .rspec_status .deps .libs .cmake .ninja_deps .ninja_log .localized .~lock.* .nfs* " +
	".fuse_hidden* .agent-*.tmp .lock"
