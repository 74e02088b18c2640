package app

import (
	"runtime"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/script/confine"
	"github.com/agent-base/agent-base/script/runner"
)

// newConfiner returns the sandbox of this machine. Its commands reach hosts through proxy.
func newConfiner(proxy confine.Proxy) (confiner, error) {
	return confine.New(&confine.Options{Proxy: proxy})
}

// sandboxCure says what would provide the layers that a sandbox lacks, "" if nothing is known.
func sandboxCure(have *runner.Sandbox) string {
	lacks := func(layer string) bool {
		return slices.ContainsFunc(have.Missing, func(text string) bool { return strings.HasPrefix(text, layer) })
	}
	switch {
	case runtime.GOOS != "linux":
		return ""
	case lacks(confine.Namespaces):
		return "allow user namespaces: on Ubuntu sysctl kernel.apparmor_restrict_unprivileged_userns=0, elsewhere sysctl user.max_user_namespaces=15000; " +
			"in a container run it with a seccomp profile that allows unshare and mount"
	case lacks(confine.Landlock):
		return "use Linux 5.13 or newer, with landlock in the kernel's list of security modules (lsm=)"
	}
	return ""
}
