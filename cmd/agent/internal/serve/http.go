package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/internal/fleet/kube"
	"github.com/agent-base/agent-base/mcpserve"
	"github.com/agent-base/agent-base/skill"
)

// HTTPOptions says where a server listens.
type HTTPOptions struct {
	Addr    string   // host and port
	Health  string   // host and port of /healthz, /readyz and /metrics; "" means none
	Hosts   []string // names by which clients address it
	Origins []string // web pages that may call

	Workers int              // processes that run scripts; 0: the server itself does, unless the settings name a cluster or a NATS server
	Command func() *exec.Cmd // of a worker, see fleet.Options
}

// Limits of a connection.
const (
	headerTime = 5 * time.Second
	headerSize = 16 << 10
	idleTime   = 2 * time.Minute
	drainTime  = 10 * time.Second // for calls that are under way when the server ends
)

// ErrOpen says that a server would listen where others reach it without a token.
var ErrOpen = errors.New("an address that others reach needs tokens")

// workers starts the processes that run scripts.
func (s *Server) workers(ctx context.Context, o *HTTPOptions) (err error) {
	cfg := s.s.Settings.Config()
	at, err := s.s.Settings.Node(ctx)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrQueue, err)
	}
	at.Log = s.s.Out.Warn
	pods, err := s.pods(ctx)
	if err != nil {
		return err
	}
	s.fleet, err = fleet.Open(ctx, &fleet.Options{
		Node: at, Workers: o.Workers, Pods: pods, Meter: newRuns(&s.calls.meters), Quota: cfg.Serve.Queue, Command: o.Command, Warn: s.s.Out.Warn, Temp: s.s.Sys.Temp, Lasting: cfg.Serve.LastingHomes,
		Longest: func(k *skill.Skill) time.Duration {
			return cfg.PrepareTimeout + cmp.Or(k.Manifest().Permissions.Limits.Timeout, cfg.ScriptTimeout)
		},
	})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrQueue, err)
	}
	return nil
}

// ErrPods says that no script can run in a pod of its own.
var ErrPods = errors.New("no script can run in a pod of its own")

// pods returns what gives each run a pod, nil if the settings have none.
func (s *Server) pods(ctx context.Context) (*kube.Cluster, error) {
	c := s.s.Settings.Config().Serve
	if c.PodImage == "" {
		return nil, nil
	}
	var at *kube.Options
	var err error
	if c.Listen == "" || c.PodServer == "" {
		err = errors.New("pods come in by TLS: set serve.listen with its certificate, and serve.podServer, how they reach it")
	} else {
		at, err = kube.InCluster(s.s.Sys.Getenv, cmp.Or(s.s.Sys.PodAccount, kube.Account))
	}
	var pods *kube.Cluster
	if err == nil {
		at.Namespace = c.PodNamespace
		pods, err = kube.New(at, &kube.Spec{Image: c.PodImage, Args: fleet.PodArgs(c.PodServer), RuntimeClass: c.PodRuntime, CPU: c.PodCPU, Memory: c.PodMemory, Disk: c.PodDisk})
	}
	if err == nil {
		err = pods.Check(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPods, err)
	}
	return pods, nil
}

// ErrQueue says that the queue of workers cannot be opened.
var ErrQueue = errors.New("the queue of the workers cannot be opened")

// HTTP serves clients over HTTP until ctx is done; then it waits a while for calls that are under way. listening is called when it takes
// requests, with its address.
func (s *Server) HTTP(ctx context.Context, o *HTTPOptions, listening func(net.Addr)) error {
	g, err := s.gate(ctx)
	if err != nil {
		return err
	}
	defer g.close()
	of := &mcpserve.HTTPOptions{Hosts: o.Hosts, Origins: o.Origins, Refused: s.calls.refuse}
	switch {
	case g.open() && !loopback(o.Addr):
		return ErrOpen
	case !g.open():
		of.Verify = g.verify
	}
	if g.oauth != nil {
		of.OAuth = g.oauth.metadata()
	}
	if cfg := s.s.Settings.Config().Serve; o.Workers > 0 || cfg.Server != "" || cfg.Listen != "" || cfg.PodImage != "" {
		if err := s.workers(ctx, o); err != nil {
			return err
		}
		defer s.fleet.Close()
		defer s.stop() // nothing opens the node again
	}
	l, err := net.Listen("tcp", o.Addr)
	if err != nil {
		return err
	}
	servers := []*http.Server{newHTTP(s.calls.counted(s.mcp.Handler(of)))}
	ended := make(chan error, 2)
	if o.Health != "" {
		health, err := net.Listen("tcp", o.Health)
		if err != nil {
			_ = l.Close()
			return err
		}
		servers = append(servers, newHTTP(s.health(g)))
		go func() { ended <- servers[1].Serve(health) }()
	}
	go func() { ended <- servers[0].Serve(l) }()
	listening(l.Addr())
	select {
	case err = <-ended:
	case <-ctx.Done():
	}
	return errors.Join(err, drain(ctx, servers))
}

func newHTTP(h http.Handler) *http.Server {
	return &http.Server{Handler: h, ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerSize, IdleTimeout: idleTime}
}

// drain ends servers: no further request is taken, and those that are under way have some time.
func drain(ctx context.Context, servers []*http.Server) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	var all []error
	for _, server := range servers {
		if err := server.Shutdown(ctx); err != nil {
			all = append(all, fmt.Errorf("calls were ended that took more than %s", drainTime), server.Close())
		}
	}
	return errors.Join(all...)
}

// health answers whether the process is there, whether it can serve, and what it has done.
func (s *Server) health(g *gate) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if err := g.ready(r.Context()); err != nil {
			s.s.Out.Warn(err.Error())
			http.Error(w, "the skills cannot be read", http.StatusServiceUnavailable) // why is for the log
			return
		}
		if s.fleet != nil {
			if err := s.fleet.Ready(); err != nil {
				http.Error(w, err.Error(), http.StatusServiceUnavailable)
				return
			}
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
		s.calls.write(w)
	})
	return mux
}

// loopback reports whether only this machine reaches an address.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
