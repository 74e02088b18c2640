// Package house tests the rules of the whole module: which package may import which, what only the command may do, sizes,
// comments, a quick start. CONTRIBUTING.md explains them. The package has no code of its own.
package house
