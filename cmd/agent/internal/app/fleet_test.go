package app

import (
	"errors"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/internal/fleet/node"
)

// The tenants of a process share its connection to a fleet. It ends with the process, not with a tenant.
func TestTenantsOfFleet(t *testing.T) {
	home, err := os.MkdirTemp("", "app") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(home) })
	streams, _, _, _ := ui.Test()
	s := New(&setup.System{Home: home, Dir: home, Temp: t.TempDir(), Environ: []string{"AGENT_STATE=fleet"}, LookPath: exec.LookPath, Now: time.Now}, &setup.Flags{}, streams)
	for _, name := range []string{"a", "b"} {
		one := s.For(name)
		if _, err := one.Trust.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		one.Settings.Close()
	}
	dir := s.Settings.Config().Paths.Node()
	n, err := node.Join(dir)
	if err != nil {
		t.Fatalf("the connection ended with a tenant: %v", err)
	}
	n.Close()
	s.Settings.Close()
	if _, err := node.Join(dir); !errors.Is(err, node.ErrNobody) {
		t.Errorf("a tenant has a connection of its own: %v", err)
	}
}
