package egress_test

import (
	"context"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agent-base/agent-base/script/runner"
)

// answers answers questions about hosts, and remembers them.
type answers struct {
	verdicts map[string]runner.Verdict
	waiting  chan string   // gets each host that is asked about; nil for none
	release  chan struct{} // a question waits until it is closed; nil: none does

	mu    sync.Mutex
	asked []string
}

func (a *answers) ask(ctx context.Context, host string) runner.Verdict {
	a.mu.Lock()
	a.asked = append(a.asked, host)
	a.mu.Unlock()
	if a.waiting != nil {
		a.waiting <- host
	}
	if a.release != nil {
		select {
		case <-a.release:
		case <-ctx.Done():
			return runner.Unanswered
		}
	}
	return a.verdicts[host]
}

// A host that no list has is asked about, once in a run; a denied one, one of this machine by its name and one that turns out to have a
// private address are refused whatever the answer is.
func TestAsk(t *testing.T) {
	w := newWorld(t)
	a := &answers{verdicts: map[string]runner.Verdict{"good.com": runner.Yes, "good.com:8188": runner.Yes, "inside.com": runner.Yes, "meta.com": runner.Yes,
		"denied.com": runner.Yes, "a.wide.org": runner.Yes, "localhost": runner.Yes, "169.254.169.254": runner.Yes, "other.com": runner.No}}
	w.names["denied.com"] = []string{"93.184.216.40"}
	n := &runner.Network{Denied: func(host string) bool { return strings.HasPrefix(host, "denied.com") || host == "a.wide.org" }, Hosts: []string{"a.wide.org"}, Ask: a.ask}
	p, address := start(t, n, w.options())
	c := client(t, address)
	for _, test := range []struct{ url, want string }{
		{"http://good.com/a", "200 good.com /a"},
		{"https://good.com/a", "200 good.com /a"},
		{"http://good.com:8188/a", "200 good.com:8188 /a"},
		{"http://other.com/", "403 other.com:80: the host is not allowed: the user said no"},
		{"http://other.com/", "403 other.com:80: the host is not allowed: the user said no"},
		{"https://new.com/", "Not allowed"},
		{"http://inside.com/", "403 inside.com:80: the host has only"},
		{"http://meta.com/", "403 meta.com:80: the host has only"},
		{"http://localhost/", "403 localhost:80: the host is not allowed"},
		{"http://169.254.169.254/", "403 169.254.169.254:80: the host is not allowed"},
		{"http://denied.com/", "403 denied.com:80: the host is not allowed"},
		{"http://denied.com:99/", "403 denied.com:99: the host is not allowed"},
		{"http://a.wide.org/", "403 a.wide.org:80: the host is not allowed"},
	} {
		if got := get(c, test.url); !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q in it", test.url, got, test.want)
		}
	}
	if want := []string{"good.com", "good.com:8188", "other.com", "new.com", "inside.com", "meta.com"}; !slices.Equal(a.asked, want) {
		t.Errorf("asked about %q, want %q", a.asked, want)
	}
	if !slices.Contains(p.Refused(), runner.Refusal{Host: "other.com:80", Said: true}) || !slices.Contains(p.Refused(), runner.Refusal{Host: "meta.com:80", Private: true}) ||
		len(p.Late()) > 0 {
		t.Errorf("refused %+v, late %q", p.Refused(), p.Late())
	}
}

// No name is resolved before a yes: who serves the names of a domain would see what a command asks for.
func TestAskResolvesNothing(t *testing.T) {
	w := newWorld(t)
	o, resolved := w.options(), []string(nil)
	resolve := o.Resolve
	o.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) {
		resolved = append(resolved, host)
		return resolve(ctx, host)
	}
	a := &answers{verdicts: map[string]runner.Verdict{"other.com": runner.No}}
	_, address := start(t, &runner.Network{Ask: a.ask}, o)
	get(client(t, address), "http://other.com/")
	if len(a.asked) != 1 || resolved != nil {
		t.Errorf("asked %q, resolved %q", a.asked, resolved)
	}
}

// A question belongs to the host and the run: several connections wait for one answer, one that leaves and comes back finds it, and one
// that leaves for good makes the yes a late one.
func TestAskOutlivesConnections(t *testing.T) {
	w := newWorld(t)
	a := &answers{verdicts: map[string]runner.Verdict{"good.com": runner.Yes, "other.com": runner.Yes}, waiting: make(chan string, 9), release: make(chan struct{})}
	p, address := start(t, &runner.Network{Ask: a.ask}, w.options())
	leave := func(url, host string) {
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan string)
		go func() { done <- getIn(ctx, client(t, address), url) }()
		if got := <-a.waiting; got != host {
			t.Errorf("asked about %q, want %q", got, host)
		}
		cancel()
		<-done
		for end := time.Now().Add(time.Minute); p.Waiting(host) > 0 && time.Now().Before(end); {
			runtime.Gosched() // until the proxy sees that it left
		}
	}
	leave("http://good.com/", "good.com")
	leave("http://other.com/", "other.com")
	again := make(chan string, 2)
	for range 2 {
		go func() { again <- get(client(t, address), "http://good.com/a") }()
	}
	if refused := p.Refused(); len(refused) != 2 {
		t.Errorf("before an answer refused %+v", refused)
	}
	close(a.release)
	for range 2 {
		if got := <-again; got != "200 good.com /a" {
			t.Errorf("after the answer: %q", got)
		}
	}
	p.Settle(t.Context())
	if late := p.Late(); !slices.Equal(late, []string{"other.com"}) || len(a.asked) != 2 || len(p.Refused()) > 0 {
		t.Errorf("late %q, asked %q, refused %+v", late, a.asked, p.Refused())
	}
}

// Close ends the questions of a run.
func TestAskEnds(t *testing.T) {
	w := newWorld(t)
	a := &answers{waiting: make(chan string, 1), release: make(chan struct{})}
	p, address := start(t, &runner.Network{Ask: a.ask}, w.options())
	done := make(chan string)
	go func() { done <- get(client(t, address), "http://good.com/") }()
	<-a.waiting
	p.Close()
	<-done
	p.Settle(t.Context())
	if refused := p.Refused(); !slices.Equal(refused, []runner.Refusal{{Host: "good.com:80"}}) {
		t.Errorf("refused %+v", refused)
	}
}
