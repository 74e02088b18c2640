package confine

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// The layers of a sandbox, as Options.Without, runner.Sandbox and runner.SandboxError name them.
const (
	Namespaces = "namespaces" // a private view of files, processes and network
	Landlock   = "landlock"   // the kernel refuses access to files that are not granted
	seccomp    = "seccomp"    // the kernel refuses system calls: network, tracing, mounting, new namespaces
	limits     = "limits"     // resource limits of each process
	memory     = "memory"     // a limit for all processes together
	processes  = "processes"  // how many there may be
	keep       = "keep"       // folders and files below a writable folder that stay as they are
	hosts      = "hosts"      // network to named hosts alone
	wholeTree  = "tree"       // no process outlives the call
)

// Options configures a Runner. The zero value is useful.
type Options struct {
	Proxy   Proxy    // carries connections to named hosts; nil means that commands reach none
	Without []string // layers to leave off, of Namespaces, Landlock and "seccomp": for tests, and where one does harm
	temp    int64    // bytes of the /tmp of a command without Command.Temp; but for tests, 256 MiB
}

// Proxy opens what lets one command reach the hosts of n and no others. If token is not "", a request must have it as the
// password of its Proxy-Authorization (Basic, any user name). Package egress has one.
type Proxy func(n *runner.Network, token string) (ProxyRun, error)

// ProxyRun is the proxy of one command.
type ProxyRun interface {
	// Serve answers HTTP proxy requests on l until Close, and closes l.
	Serve(l net.Listener) error

	// Close ends Serve and every connection.
	Close() error

	// Settle waits until no question is open, or ctx is done.
	Settle(ctx context.Context)

	// Reached, Failed, Refused and Late return what became of the requests, for runner.Output.
	Reached() []string
	Failed() []string
	Refused() []runner.Refusal
	Late() []string
}

const defaultTemp = 256 << 20

// reportTimeout is the most that Report takes.
const reportTimeout = 10 * time.Second

// Runner runs commands in a sandbox. It is safe for concurrent use.
type Runner struct {
	o  Options
	mu sync.Mutex
	machine
}

// New returns a Runner. It copies o, which may be nil. It returns an error for an unknown layer. What the machine can do is found out when it is needed.
func New(o *Options) (*Runner, error) {
	if o == nil {
		o = &Options{}
	}
	layers := []string{Namespaces, Landlock, seccomp}
	for _, layer := range o.Without {
		if !slices.Contains(layers, layer) {
			return nil, fmt.Errorf("confine.Options: Without has %q: it can have %s", layer, strings.Join(layers, ", "))
		}
	}
	r := &Runner{o: *o}
	r.o.Without = slices.Clone(o.Without)
	if r.o.temp == 0 {
		r.o.temp = defaultTemp
	}
	return r, nil
}

var _ runner.Runner = (*Runner)(nil)
