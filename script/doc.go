// Package script finds the scripts of a skill, chooses what runs them, prepares what they import and
// runs them within limits.
//
//   - [List] and [Find] read the skill's scripts folder and run nothing.
//   - [Host] runs a script (Run), asks it for its help (Help, which is a run too), or prepares its
//     dependencies ahead (Prepare).
//   - [Runner] executes one command. [Exec] is the plain one; a sandbox, a remote worker or an audit
//     is middleware: a func(Runner) Runner.
//
// It refuses: a shell, symbolic links as scripts, arguments and outputs over their limits, metadata
// that configures uv or names a package by its address, and an interpreter that it does not know. It
// never asks about permission or trust: whoever calls it has.
//
// Open until there is a sandbox: a script that leaves its process group (setsid) outlives the call, within
// its processor and file limits, and a test holds on to that; other systems than Linux have
// none of the limits but time and output; and a script may reach the network and whatever its user may read.
//
// # Where a script runs
//
// It runs from the real folder of the skill that is handed in: a skill that only lies in memory, such as one of
// skill.FS without a cache, can be listed and not run (skill.ErrNoFolder). Who has to be sure that what runs is what
// was approved hands in a sealed copy ([skill.Skill.Seal]).
//
// # What a script sees of the environment
//
// Nothing but this: PATH, which is /usr/local/bin:/usr/bin:/bin and the folders of the commands that the manifest
// requires; LANG=C.UTF-8, TERM=dumb, NO_COLOR=1, PYTHONDONTWRITEBYTECODE=1, PYTHONNOUSERSITE=1 and PYTHONUTF8=1; HOME,
// TMPDIR and AGENT_SKILL_WORK_DIR, empty folders of this run that are removed after it; AGENT_SKILL_CACHE_DIR, which
// the skill keeps; AGENT_SKILL_DIR, AGENT_SKILL_NAME and AGENT_WORKSPACE.
//
// Of Host.Env there pass TZ, SSL_CERT_FILE, SSL_CERT_DIR, HTTP_PROXY, HTTPS_PROXY, ALL_PROXY and NO_PROXY (the last four
// in lower case too), on Windows what its programs cannot do without, and what the manifest's permissions.env names:
// names, or prefixes such as KALSHI_*. Never, whatever is named, those that make programs load or run something else
// (LD_*, PYTHON*, NODE_OPTIONS, GIT_*, SSH_*, UV_*, PIP_* and their like) and the engine's own. RunOptions.Env sets
// variables for one run under the same rule.
//
// Programs of the operator's that prepare or are asked see no variable that a skill names. uv gets proxies and certificates,
// UV_DEFAULT_INDEX, UV_INDEX, UV_INDEX_*, UV_FIND_LINKS and UV_OFFLINE; an interpreter that is asked for its version or
// place gets PATH, HOME and what version managers choose by, such as PYENV_*.
//
// A Host is safe for concurrent use once it is filled in: each run has its own work directory, and two
// that need the same dependencies wait for one preparation.
package script
