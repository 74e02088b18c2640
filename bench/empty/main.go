// Command empty prints one line. It is the least that a Go program costs, to compare the start of agent with.
package main

import "os"

func main() {
	os.Stdout.WriteString("empty\n")
}
