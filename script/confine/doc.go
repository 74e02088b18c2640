// Package confine runs commands in a sandbox. A Runner is a runner.Runner. On Linux it needs neither root nor another program nor
// a service: it starts the running program again as a stage, which sets the sandbox up, starts the command in it, and ends all
// its processes. A program that uses the package calls nothing for that: a process that is a stage does its work while packages
// are initialised, and ends before main.
//
// What holds depends on the machine, and each runner.Output says it. The tiers, from strong to weak:
//
//	A  Linux with namespaces, Landlock and seccomp: a command sees only the files that it may use, and a network of its own
//	B  Linux with namespaces, or with Landlock and seccomp: files and network are confined; without namespaces the names, sizes
//	   and modes of other files can be seen, modes can be changed, and what Command.Keep names is put back after the command
//	C  Linux with seccomp alone: no network; files are not confined
//	D  macOS with sandbox-exec: files and network are confined. It is not tested.
//	E  elsewhere: nothing is confined. On Windows a job object limits a command and ends its processes; it is not tested.
//
// On Linux no process of a command outlives the call, in any tier, and none outlives the engine if that is killed.
//
// Paths are the same inside as outside. A path that is granted must have no symbolic link in it; a script could have put one
// there. Of the folders that may be written, Command.Own has a limit for all its files together.
package confine
