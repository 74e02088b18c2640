// Package runner starts one process: what it is ([Command]), what it may use and reach, and what it did ([Output]).
//
//   - [Runner] executes a command. [Exec] is the plain one; package confine has the sandbox. An audit or a remote worker is
//     middleware: a func(Runner) Runner.
//   - [Guard] and [Denied] say what a command never sees or changes in the folders that it was given: files that other programs
//     run or obey, private files, and what the user's rules deny. [Command.Access] says what is left for one path.
//
// It knows nothing of skills. With Exec a process reads, writes and reaches what its user does, and one that leaves its process
// group (setsid) outlives the call, within its processor and file limits. Systems other than Linux limit only time and output.
package runner
