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
// its processor and file limits, and a test holds on to that; limits are set just after a process has
// started; and a script may reach the network and whatever its user may read.
//
// A script runs from the folder of the skill that is handed in. Who has to be sure that what runs is what
// was approved hands in a sealed copy ([skill.Skill.Seal]).
//
// A Host is safe for concurrent use once it is filled in: each run has its own work directory, and two
// that need the same dependencies wait for one preparation.
package script
