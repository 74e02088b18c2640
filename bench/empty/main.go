// Command empty prints one line. It measures the minimum cost of a Go program, to compare with the start of agent.
package main

import "os"

func main() {
	os.Stdout.WriteString("empty\n")
}
