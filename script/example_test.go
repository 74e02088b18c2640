package script_test

import (
	"context"
	"fmt"
	"time"

	"github.com/agent-base/agent-base/script"
)

// A sandbox, an audit or a remote worker wraps the runner beneath it. This one says
// what every command was and how it ended.
func ExampleRunner_middleware() {
	timed := func(next script.Runner) script.Runner {
		return script.RunnerFunc(func(ctx context.Context, c *script.Command) (*script.Output, error) {
			out, err := next.Run(ctx, c)
			if err == nil {
				fmt.Printf("%s: %s, exit code %d\n", c.Phase, c.Args[0], out.ExitCode)
			}
			return out, err
		})
	}
	runner := timed(script.Exec{})
	out, err := runner.Run(context.Background(), &script.Command{
		Path: "/bin/echo", Args: []string{"echo", "hello"}, Dir: "/", Timeout: time.Minute, MaxStdout: script.DefaultOutput,
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
