// Command agent finds, checks, discloses and runs Agent Skills. All it does is in internal/cli.
package main

import (
	"context"
	"os"

	"github.com/agent-base/agent-base/internal/cli"
)

func main() {
	os.Exit(int(cli.Main(context.Background(), cli.Host())))
}
