// Command systems checks the types of the module's code as other systems compile it: systems OS/ARCH...
//
// Compiling takes minutes for each system, because the standard library and all dependencies are compiled too. This reads their
// sources without the bodies of functions, which takes seconds. It does not generate code, link or run anything.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

func main() {
	failed := false
	for _, system := range os.Args[1:] {
		goos, arch, ok := strings.Cut(system, "/")
		if !ok {
			fmt.Fprintf(os.Stderr, "systems: %q is not of the form OS/ARCH, such as windows/amd64\n", system)
			os.Exit(2)
		}
		n, err := check(goos, arch)
		if err != nil {
			failed = true
			fmt.Fprintf(os.Stderr, "%s:\n%v\n", system, err)
			continue
		}
		fmt.Printf("%s: %d packages\n", system, n)
	}
	if failed {
		os.Exit(1)
	}
}

// check checks every package of the module in the working directory, with its tests, and returns how many those are.
func check(goos, arch string) (int, error) {
	list, err := packages(goos, arch)
	if err != nil {
		return 0, err
	}
	c := newChecker(arch)
	own := 0
	var errs []error
	for i := range list {
		p := &list[i]
		err := c.check(p)
		if !p.own() {
			continue // an error in a dependency shows where our code needs it
		}
		own++
		errs = append(errs, err)
	}
	if own == 0 {
		return 0, errors.New("there are no packages")
	}
	return own, errors.Join(errs...)
}
