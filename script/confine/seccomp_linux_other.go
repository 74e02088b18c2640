//go:build linux && !amd64

package confine

// What only this processor has, for the lists of the same names.
var (
	refusedHere = []uint32{}
	modesHere   = []callArg{}
	makersHere  = []callArg{}
)
