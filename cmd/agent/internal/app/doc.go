// Package app puts together what the commands of `agent` share: New makes the services of a run, each of a package of its own, which knows
// nothing of this one.
package app
