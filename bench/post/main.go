// Command post sends a file to an address and prints the answer: post URL FILE. It measures the minimum cost of a Go
// program with net/http until a server has its request, to compare with agent -p.
package main

import (
	"bytes"
	"io"
	"net/http"
	"os"
)

func main() {
	if err := post(os.Args[1], os.Args[2]); err != nil {
		os.Stderr.WriteString("post: " + err.Error() + "\n")
		os.Exit(1)
	}
}

func post(url, file string) error {
	body, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	resp, err := http.Post(url, "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(os.Stdout, resp.Body)
	return err
}
