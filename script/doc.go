// Package script runs the scripts of skills: it chooses their interpreters, prepares their dependencies, and runs them
// within limits.
//
//   - [List] and [Find] read a skill's scripts folder and run nothing. Package survey decides which files are scripts.
//   - [Host] runs a script (Run), asks it for its help or describes it (Help), prepares its dependencies ahead
//     (Prepare), copies a skill to where it runs (Seal), and removes files that are no longer needed (Sweep).
//   - Package runner starts the processes: Options.Runner is one, such as a sandbox.
//
// It refuses: a shell, symbolic links as scripts, arguments and outputs over their limits, metadata that configures uv or
// names a package by its address, and an interpreter that it does not know. It does not ask about permission or trust: the
// caller does, before a call or in [Admit].
//
// With runner.Exec, which is the default, a script reads, writes and reaches what its user does. Package confine has the sandbox:
// set Options.Runner to a confine.Runner, and Options.Confine to runner.ConfineRequired to refuse scripts where a machine has no
// sandbox. Each Result says what held.
//
// # Where a script runs
//
// A script runs from the real folder of its skill. The scripts of a skill that lies only in memory, such as one of skill.FS
// without a cache, can be listed but not run (skill.ErrNoFolder). To run exactly the content that was approved, return a
// sealed copy from [Admit]. A script that imports npm packages runs from a copy below the folder with the packages, because
// interpreters look for them in the folders above a script.
//
// It starts in the directory that Options.Cwd names, normally the user's (Options.UserDir): relative file names in its
// arguments are the user's files, and what it writes there stays. A manifest may choose another place with
// metadata.agent-base.cwd, unless Options.FixedCwd is set. Where that is the user's folder or the workspace, a script whose
// interpreter may load files of it starts in the skill's folder. The skill's own files are in AGENT_SKILL_DIR.
//
// The working directory does not become code. It is not on Python's sys.path, and bun and deno read neither its .env nor
// its configuration, but that of the skill. A Python script that imports modules of its own package, relative to it or by
// the package's name, runs as a module of that package, as with python -m. A script that itself opens or sources a file by
// a relative name gets the user's.
//
// # JSON and help
//
// --json is added for a script that declares such a flag (survey.KnowsJSON), and the result is JSON if the output is one
// object or array; [JSONMode] changes that. A script is run with --help only if its text shows that it knows it
// (survey.KnowsHelp). For another one the help is its description, and nothing runs.
//
// # What a script sees of the environment
//
// A script sees these variables and no others: PATH, which is Options.Path and the folders of the commands that the manifest
// requires; LANG=C.UTF-8, TERM=dumb, NO_COLOR=1, PYTHONDONTWRITEBYTECODE=1, PYTHONNOUSERSITE=1 and PYTHONUTF8=1; without a
// network npm_config_fetch_retries=0 and PIP_RETRIES=0; TMPDIR and
// AGENT_SKILL_WORK_DIR, empty folders that are removed after the run; HOME and AGENT_SKILL_CACHE_DIR, folders that the
// skill keeps; AGENT_SKILL_DIR, AGENT_SKILL_NAME and AGENT_WORKSPACE.
//
// HOME is a private folder in Options.Homes, one for each root and name of a skill. It stays when the content changes, and
// Sweep does not touch it: see [Host.Homes] and [Host.ClearHome]. With [Grant].Home it is the operator's own.
//
// These variables of Options.Env pass: TZ, SSL_CERT_FILE, SSL_CERT_DIR, NODE_EXTRA_CA_CERTS, REQUESTS_CA_BUNDLE,
// CURL_CA_BUNDLE, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY (the last four in lower case too), on Windows those that its programs need, those that the manifest's permissions.env names, and those
// that the user granted: Options.Granted returns the [Grant]. A name in permissions.env may be a prefix with wildcards: three
// letters or more and "_", as in KALSHI_*. A grant has exact names. [Declared] and [Forwarded] say what passes because a
// manifest asks for it.
//
// Variables that make programs load or run something else (LD_*, PYTHON*, NODE_OPTIONS, GIT_*, SSH_*, UV_*, PIP_* and the
// like) and the engine's own never pass: see [CheckGrant]. The variables of model providers pass only if the user granted
// them by name, whatever a manifest asks for. RunOptions.Env sets variables for one run under the same rules. When a script
// fails, the error names the variables that it reads and did not get.
//
// Programs of the operator that prepare dependencies or are asked for their version see no variable that a skill names. uv
// gets proxies and certificates, UV_DEFAULT_INDEX, UV_INDEX, UV_INDEX_*, UV_FIND_LINKS and UV_OFFLINE; an interpreter that
// is asked gets PATH, HOME and the variables that version managers use, such as PYENV_*.
//
// # What a script writes in its skill's folder
//
// It goes to a private layer (runner.Layer) of a runner that has them, or else to a copy of the folder if a text of the skill shows that it
// writes there: the folder itself does not change. The files are kept in Options.Homes, by the digest of the skill, and
// Result.Warning says where. A later run finds the data among them that takes the place of nothing, and no file that an
// interpreter runs. [Host.ClearHome] removes them.
//
// # Concurrency
//
// A Host is safe for concurrent use: each run has its own work directory, and two that need the same dependencies wait for
// one preparation.
package script
