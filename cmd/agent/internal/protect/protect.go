// Package protect keeps what the process holds, such as the keys in its environment, from the scripts and commands that
// it starts, and from other processes of the same user: neither /proc nor ptrace opens it to them, and there is no core
// dump. Root, and a user who may trace everything, still can. On other systems than Linux it does nothing.
//
// Importing the package is enough, and must be: it works while packages are initialised, because a process is open to
// its user until then. It imports syscall alone, so nearly everything else is initialised after it.
package protect
