// Command agent answers with Agent Skills, and finds, checks, discloses and runs them. All it does is in cmd/agent/internal/cli.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"runtime/debug"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/cli"
	_ "github.com/agent-base/agent-base/cmd/agent/internal/protect" // hides the keys before anything else is done
)

func main() {
	log.SetOutput(io.Discard) // what libraries say by themselves is not for the user's terminal
	if len(os.Args) > 1 && !strings.HasPrefix(os.Args[1], "-") {
		collectLess()
	}
	os.Exit(int(cli.Main(context.Background(), cli.Host())))
}

// collectLess makes the heap grow more between two collections of garbage, unless the environment says how much. With the
// usual setting a command that lists 10,000 skills collects six times, which is a tenth of its work, and saves two megabytes.
// A conversation is different: it lasts, and its memory counts.
func collectLess() {
	const percent = 300 // of the memory in use after the last collection
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
