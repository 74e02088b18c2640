package runner_test

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// A sandbox, an audit or a remote worker wraps the runner beneath it. This one says
// what every command was and how it ended.
func ExampleRunner_middleware() {
	timed := func(next runner.Runner) runner.Runner {
		return runner.RunnerFunc(func(ctx context.Context, c *runner.Command) (*runner.Output, error) {
			out, err := next.Run(ctx, c)
			if err == nil {
				fmt.Printf("%s: %s, exit code %d\n", c.Phase, c.Args[0], out.ExitCode)
			}
			return out, err
		})
	}
	timing := timed(runner.Exec{})
	out, err := timing.Run(context.Background(), &runner.Command{
		Path: "/bin/echo", Args: []string{"echo", "hello"}, Dir: "/", Timeout: time.Minute, MaxStdout: 1 << 20,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s", out.Stdout)
	// Output:
	// execute: echo, exit code 0
	// hello
}
