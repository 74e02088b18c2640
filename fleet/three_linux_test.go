package fleet

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/big"
	random "math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/test/probe"
	"github.com/agent-base/agent-base/internal/test/scratch"
)

var (
	count = flag.Int("runs", 100, "how many runs TestChaosOfThree has, at least")
	only  = flag.String("only", "", "a pattern of the kinds of faults that TestChaosOfThree has")
	clock = flag.Bool("clock", false, "let TestChaosOfThree set clocks: the program was built for it")
)

const (
	threeBeat = 200 * time.Millisecond
	again     = 15 * time.Second // after a fault has ended there is service again
)

// three is a fleet of three nodes, four workers and two replicas.
type three struct {
	crowd
	net     *network // nil without namespaces
	clocks  string   // folder
	inputs  map[string]io.Closer
	ledger  *ledger
	starts  int
	random  *random.Rand
	workers []string
}

// All runs over three nodes end as done or lost, none twice, none done without its effect, and no process stays, while nodes, workers and
// replicas are killed and stopped; with -namespaces also while disks are full and networks cut or slow, and with -clock while clocks jump.
// After each fault there is service again soon.
func TestChaosOfThree(t *testing.T) {
	if moves(t) {
		return
	}
	c := newThree(t)
	if *clock {
		c.checkClock()
	}
	c.service("start", time.Now())
	kinds := c.kinds()
	for round := 0; round == 0 || c.ledger.sent() < *count; round++ {
		names := slices.Sorted(maps.Keys(kinds))
		c.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			c.fault(name, kinds[name])
		}
		t.Logf("round %d: %v", round, c.ledger)
	}
	c.slowService()
	c.finish()
}

func newThree(t *testing.T) *three {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	c := &three{ledger: newLedger(), random: random.New(random.NewPCG(seed, 1)), inputs: map[string]io.Closer{}, clocks: filepath.Join(dir, "clocks"), workers: []string{"a", "b", "c", "d"}}
	c.crowd = newCrowd(t, part{Public: public, Seed: private.Seed(), Cache: scratch.Dir(t), Effects: scratch.Dir(t), Skill: t.TempDir(), Beat: threeBeat})
	probe.In(t, c.part.Skill, effect)
	addresses := map[string]string{}
	if *inNamespaces {
		c.net = newNetwork(t)
	}
	names := []string{"n0", "n1", "n2", "a", "b", "c", "d"}
	for i, name := range names {
		addresses[name] = "127.0.0.1"
		if c.net != nil {
			addresses[name] = fmt.Sprintf("10.77.0.%d", i+1)
			c.net.add(name, addresses[name])
		}
	}
	cert, key := certificate(t, dir, addresses)
	var listen, routes []string
	for i := range 3 {
		p := ports(t, 2)
		listen = append(listen, fmt.Sprintf("%s:%d", addresses[names[i]], p[0]))
		routes = append(routes, fmt.Sprintf("%s:%d", addresses[names[i]], p[1]))
	}
	var issuer *node.Issuer
	for i, name := range names[:3] {
		p := c.part
		p.Role, p.Name, p.Node = "node", name, filepath.Join(dir, name)
		p.Cluster = &node.Cluster{Name: name, Listen: listen[i], Route: routes[i], Peers: routes, Cert: cert, Key: key, CA: cert}
		c.disk(p.Node)
		if issuer == nil {
			if issuer, err = node.NewIssuer(t.Context(), p.Node); err != nil {
				t.Fatal(err)
			}
		} else if text, err := os.ReadFile(filepath.Join(dir, "n0", "issuer")); err != nil || os.WriteFile(filepath.Join(p.Node, "issuer"), text, 0o600) != nil {
			t.Fatal(err)
		}
		c.parts[name] = p
		c.start(name)
		if i < 2 {
			r := p
			r.Role, r.Name = "replica", "r"+name[1:]
			c.parts[r.Name] = r
		}
	}
	for _, name := range c.workers {
		p := c.part
		p.Role, p.Name, p.CA = "worker", name, cert
		p.Servers = "tls://" + strings.Join(listen, ",tls://")
		if p.Creds, err = issuer.Credential(name, time.Now().Add(10*24*time.Hour)); err != nil {
			t.Fatal(err)
		}
		c.parts[name] = p
		c.start(name)
	}
	c.start("r0")
	c.start("r1")
	return c
}

func (c *three) disk(dir string) {
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.MkdirAll(c.clocks, 0o700)); err != nil {
		c.t.Fatal(err)
	}
	if c.net != nil {
		small(c.t, dir)
	}
}

// certificate writes a certificate that signs itself, for all nodes.
func certificate(t *testing.T, dir string, addresses map[string]string) (cert, key string) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-240 * time.Hour), NotAfter: time.Now().Add(240 * time.Hour), IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}
	for _, a := range addresses {
		of.IPAddresses = append(of.IPAddresses, net.ParseIP(a))
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	text, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert"), filepath.Join(dir, "key")
	err = errors.Join(os.WriteFile(cert, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600),
		os.WriteFile(key, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: text}), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	return cert, key
}

// ports returns ports of this machine at which nobody listens.
func ports(t *testing.T, n int) (out []int) {
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		out = append(out, l.Addr().(*net.TCPAddr).Port)
	}
	return out
}

// start starts a process of the fleet.
func (c *three) start(name string) {
	c.t.Helper()
	p := c.parts[name]
	if p.Role == "replica" {
		c.starts++
		p.Name += fmt.Sprintf("x%d", c.starts)
	}
	cmd := c.command(p, c.net.in(name)...)
	cmd.Env = append(cmd.Env, clockVariable+"="+filepath.Join(c.clocks, name))
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	if c.inputs[name], err = cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	c.all[name] = cmd
	c.readers.Go(func() {
		for lines := bufio.NewScanner(out); lines.Scan(); {
			c.ledger.note(name, lines.Text())
		}
	})
}

// kill kills a process, and returns what starts it again. What runs in a worker ends with it.
func (c *three) kill(name string) func() {
	scripts := c.scripts(c.all[name].Process.Pid)
	c.signal(name, syscall.SIGKILL)
	_ = c.all[name].Wait()
	c.orphans += c.stay(scripts)
	return func() { c.start(name) }
}

func (c *three) pause(name string) func() {
	c.signal(name, syscall.SIGSTOP)
	return func() { c.signal(name, syscall.SIGCONT) }
}

// jump sets the clock of a process.
func (c *three) jump(name string) func() {
	set := func(seconds int) {
		if err := os.WriteFile(filepath.Join(c.clocks, name), fmt.Appendf(nil, "%d\n", seconds), 0o600); err != nil {
			c.t.Fatal(err)
		}
	}
	set([]int{-7200, -600, -30, 30, 600, 7200}[c.random.IntN(6)])
	return func() { set(0) }
}

// checkClock shows that a clock can be set.
func (c *three) checkClock() {
	if err := os.WriteFile(filepath.Join(c.clocks, "clock"), []byte("-3600\n"), 0o600); err != nil {
		c.t.Fatal(err)
	}
	cmd := c.command(part{Role: "clock"})
	cmd.Env = append(cmd.Env, clockVariable+"="+filepath.Join(c.clocks, "clock"))
	out, err := cmd.Output()
	got, _ := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64)
	if d := time.Now().Unix() - got; err != nil || d < 3590 || d > 3610 {
		c.t.Fatalf("a clock was set an hour back, and is %d s behind (%v): see step_chaos in scripts/test.sh", d, err)
	}
}

func one[T any](c *three, of ...T) T { return of[c.random.IntN(len(of))] }

// kinds returns the kinds of faults. Each begins a fault and returns what ends it.
func (c *three) kinds() map[string]func() func() {
	worker := func() string { return one(c, c.workers...) }
	node := func() string { return one(c, "n0", "n1", "n2") }
	replica := func() string { return one(c, "r0", "r1") }
	out := map[string]func() func(){
		"worker killed":  func() func() { return c.kill(worker()) },
		"worker stopped": func() func() { return c.pause(worker()) },
		"replica killed": func() func() { return c.kill(replica()) },
		"leader killed":  func() func() { return c.kill(c.leader()) },
		"leader stopped": func() func() { return c.pause(c.leader()) },
	}
	if c.net != nil {
		maps.Copy(out, map[string]func() func(){
			"disk full":     func() func() { return fill(c.t, c.parts[node()].Node) },
			"leader's disk": func() func() { return fill(c.t, c.parts[c.leader()].Node) },
			"worker cut":    func() func() { return c.net.cut(worker()) },
			"worker slow":   func() func() { return c.net.slow(worker()) },
			"node cut":      func() func() { return c.net.cut(node()) },
			"leader cut":    func() func() { return c.net.cut(c.leader()) },
			"node slow":     func() func() { return c.net.slow(node()) },
			"node dead":     func() func() { return c.dead(node()) },
		})
	}
	if *clock {
		out["clock of a node"] = func() func() { return c.jump(node()) }
		out["clock of a worker"] = func() func() { return c.jump(worker()) }
		out["clock of a replica"] = func() func() { return c.jump(replica()) }
	}
	pattern := regexp.MustCompile(*only)
	maps.DeleteFunc(out, func(name string, _ func() func()) bool { return !pattern.MatchString(name) })
	return out
}

// dead has the machine of a node gone: its connections do not end. Its workers go to other nodes soon.
func (c *three) dead(name string) func() {
	mend := c.net.cut(name)
	from := time.Now()
	start := c.kill(name)
	other := map[string]string{"n0": "n1", "n1": "n2", "n2": "n0"}[name]
	n, err := node.Join(c.parts[other].Node)
	if err != nil {
		c.t.Fatal(err)
	}
	defer n.Close()
	beats, err := n.Conn().SubscribeSync("from.*.beat")
	if err != nil {
		c.t.Fatal(err)
	}
	for heard := map[string]bool{}; len(heard) < len(c.workers); {
		m, err := beats.NextMsg(4 * again)
		if err != nil {
			c.t.Fatalf("only %v come to another node: %v", heard, err)
		}
		heard[m.Subject] = true
	}
	c.note("workers of a dead node", time.Since(from))
	return func() { mend(); start() }
}

// leader returns the node that leads the queue.
func (c *three) leader() string {
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(threeBeat) {
		for _, name := range []string{"n0", "n1", "n2"} {
			if at := c.led(name); at != "" {
				return at
			}
		}
	}
	c.t.Fatal("the queue has no leader")
	return ""
}

// led returns which node leads the queue, as a node says; "" if it does not.
func (c *three) led(by string) string {
	n, err := node.Join(c.parts[by].Node)
	if err != nil {
		return ""
	}
	defer n.Close()
	js, err := jetstream.New(n.Conn())
	if err != nil {
		return ""
	}
	s, err := js.Stream(c.t.Context(), "RUNS")
	if err != nil || s.CachedInfo().Cluster == nil {
		return ""
	}
	return s.CachedInfo().Cluster.Leader
}

// fault has one fault, for some time, and waits for service.
func (c *three) fault(name string, begin func() func()) {
	end := begin()
	hold := time.Duration(1+c.random.IntN(4)) * time.Second
	if strings.HasSuffix(name, "cut") && c.random.IntN(3) == 0 {
		hold = 20 * time.Second // what is sent again waits longer each time
	}
	time.Sleep(hold)
	if c.random.IntN(3) == 0 && !strings.HasPrefix(name, "worker") { // another one at the same time
		c.kill(one(c, c.workers...))()
	}
	end()
	c.service(name, time.Now())
}

// service waits until a run that was sent after a moment is done for each replica, and notes how long that took.
func (c *three) service(kind string, from time.Time) time.Duration {
	for _, replica := range []string{"r0", "r1"} {
		for !c.ledger.served(replica, from) {
			if time.Since(from) > 4*again {
				c.t.Errorf("%s: no service for %s (%v)", kind, replica, c.ledger)
				return c.note(kind, time.Since(from))
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return c.note(kind, time.Since(from))
}

// note notes for how long there was no service.
func (c *three) note(kind string, gap time.Duration) time.Duration {
	if c.gaps[kind] = append(c.gaps[kind], gap); gap > again && kind != "start" {
		c.t.Errorf("%s: service again after %v", kind, gap)
	}
	return gap
}

// slowService shows that a gap is found: two nodes of three are stopped.
func (c *three) slowService() {
	first, second := c.pause("n1"), c.pause("n2")
	const long = 3 * time.Second
	time.AfterFunc(long, func() { first(); second() })
	if gap := c.service("control: most nodes stopped", time.Now()); gap < long {
		c.t.Errorf("service after %v, while most nodes were stopped", gap)
	}
}
