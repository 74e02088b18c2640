// Command agent answers with Agent Skills, and finds, checks, discloses and runs them. All it does is in cmd/agent/internal/cli.
package main

import (
	"context"
	"io"
	"log"
	"os"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	_ "github.com/agent-base/agent-base/cmd/agent/internal/protect" // hides the keys before anything else is done
)

func main() {
	log.SetOutput(io.Discard) // what libraries say by themselves is not for the user's terminal
	os.Exit(int(cli.Main(context.Background(), cli.Host())))
}
