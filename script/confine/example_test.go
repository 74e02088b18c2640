package confine_test

import (
	"context"
	"fmt"
	"log"
	"os/exec"

	"github.com/agent-base/agent-base/internal/egress"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
)

// A host whose scripts run in the sandbox, or not at all. A script reaches the hosts that its skill declares, because Granted
// says so, through the proxy of package egress. It writes in its own folders only: nothing else was granted.
func Example() {
	sandbox, err := confine.New(&confine.Options{Proxy: func(n *runner.Network, token string) (confine.ProxyRun, error) {
		return egress.Open(n, token, nil)
	}})
	if err != nil {
		log.Fatal(err)
	}
	host, err := script.New(&script.Options{
		Runner: sandbox, Confine: runner.ConfineRequired,
		LookPath: exec.LookPath, Cache: "/var/cache/myagent",
		Granted: func(context.Context, *skill.Skill) (script.Grant, error) {
			return script.Grant{Declared: true}, nil
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(sandbox.Report(context.Background()).Tier) // what this machine has
	_ = host                                               // skilltool.Options.Scripts
}
