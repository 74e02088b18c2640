// Command inproc measures one part of the engine in process: inproc WHAT TREE ROUNDS.
//
// TREE is a folder that gentree wrote, a file of labelled requests for hits, or a writable folder for scripts. Each figure is one line of name, counts and
// times, in the format of bench/limit.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
)

func main() {
	if len(os.Args) != 4 {
		usage()
	}
	rounds, err := strconv.Atoi(os.Args[3])
	work := subject(os.Args[1])
	if err != nil || rounds < 1 || work == nil {
		usage()
	}
	if err := work(context.Background(), os.Args[2], rounds); err != nil {
		fmt.Fprintln(os.Stderr, "inproc:", err)
		os.Exit(1)
	}
}

func usage() {
	fmt.Fprintln(os.Stderr, "usage: inproc open|refresh|load|render|match|search|hits|scripts|verify TREE ROUNDS")
	os.Exit(2)
}

// subject returns the function that measures what, or nil.
func subject(name string) func(ctx context.Context, tree string, rounds int) error {
	switch name {
	case "open":
		return measureOpen
	case "refresh":
		return measureRefresh
	case "load":
		return measureLoad
	case "render":
		return measureRender
	case "match":
		return measureMatch
	case "search":
		return measureSearch
	case "hits":
		return measureHits
	case "scripts":
		return measureScripts
	case "verify":
		return measureVerify
	}
	return nil
}
