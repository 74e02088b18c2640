// Package house holds the tests of the rules that the whole module keeps: which package may import which, what only the
// command may do, sizes, comments, a quick start. CONTRIBUTING.md tells them in words. It has no code of its own.
package house
