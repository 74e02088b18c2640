package script

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trace"
)

const asking = `permissions:
  network: [api.example.com, "*.example.org"]
  read: [~/notes, /data]
  write: [~/out]
  limits: {timeout: 2m, memory: 2GiB, output: 64KiB, processes: 7}
`

// What a manifest declares counts once the skill may run, and what is withheld does not. A declared host is none that may have
// a private address. R34, R108, R176
func TestDeclaredPermissions(t *testing.T) {
	home := t.TempDir()
	tests := []struct {
		name        string
		grant       Grant
		hosts       []string
		read, write []string // below the home or absolute
	}{
		{"declared", Grant{Declared: true}, []string{"*.example.org", "api.example.com"}, []string{"notes", "/data"}, []string{"out"}},
		{"withheld", Grant{Declared: true, Withheld: given(t, "host:*.example.org, read:~/notes, write:~/out")}, []string{"api.example.com"}, []string{"/data"}, nil},
		{"not counted", Grant{}, nil, nil, nil},
		{"more", Grant{Declared: true, Given: given(t, "host:a.com")}, []string{"*.example.org", "a.com", "api.example.com"}, []string{"notes"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := host(t)
			r.Env = []string{"HOME=" + home}
			cmd := reached(t, r, asking, tt.grant)
			if diff := cmp.Diff(tt.hosts, cmd.Network.Hosts); diff != "" {
				t.Errorf("hosts differ (-want +got):\n%s", diff)
			}
			if len(cmd.Network.Private) != len(tt.grant.Given) || cmd.Network.All {
				t.Errorf("got %+v", cmd.Network)
			}
			for _, one := range []struct{ want, have []string }{{tt.read, cmd.Read}, {tt.write, cmd.Write}} {
				for _, dir := range []string{"notes", "out", "/data"} {
					path := dir
					if !filepath.IsAbs(dir) {
						path = filepath.Join(home, dir)
					}
					if slices.Contains(one.want, dir) && !slices.Contains(one.have, path) || len(tt.write) == 0 && dir == "out" && slices.Contains(one.have, path) && tt.name != "more" {
						t.Errorf("%s: want %v, have %v", dir, one.want, one.have)
					}
				}
			}
		})
	}
}

// R108
func TestDeclaredLimits(t *testing.T) {
	cmd := reached(t, host(t), asking, Grant{Declared: true})
	if cmd.Limits.Memory != 2<<30 || cmd.Limits.Processes != 7 || cmd.MaxStdout != 64<<10 || cmd.Timeout > 2*time.Minute || cmd.Timeout < 110*time.Second {
		t.Errorf("got %+v, %d bytes, %v", cmd.Limits, cmd.MaxStdout, cmd.Timeout)
	}
	if cmd := reached(t, host(t), "", Grant{Declared: true}); cmd.MaxStdout != DefaultOutput || cmd.Timeout > DefaultTimeout {
		t.Errorf("got %d bytes, %v", cmd.MaxStdout, cmd.Timeout)
	}
}

// What the proxy did is traced, and a refusal is in the warning of a script that did not fail. R176
func TestNetworkTraced(t *testing.T) {
	r := host(t)
	r.Runner = &canned{out: runner.Output{Stdout: []byte("{}"), Sandbox: &runner.Sandbox{Tier: "A"}, Reached: []string{"a.com:443"}, Refused: []runner.Refusal{{Host: "b.com:443"}}}}
	var got []string
	r.Trace = trace.TracerFunc(func(_ context.Context, e trace.Event) {
		if e.Kind == trace.NetworkAllowed || e.Kind == trace.NetworkRefused {
			got = append(got, string(e.Kind)+" "+e.Attrs[0].String())
		}
	})
	res, err := runAs(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", nil)
	if err != nil || !strings.Contains(res.Warning, "kept from the network: it may not reach b.com") {
		t.Errorf("got %+v, %v", res, err)
	}
	if diff := cmp.Diff([]string{"network_allowed host=a.com:443", "network_refused host=b.com:443"}, got); diff != "" {
		t.Error(diff)
	}
}

// No granted value leaves in a result, an error or the tail of stderr, and no key of a model provider. Settings do. R176
func TestRedacted(t *testing.T) {
	env := []string{"GITHUB_TOKEN=tok-123456789", "BASE_URL=https://api.example.com/v1", "MODE=production", "OPENAI_API_KEY=sk-provider-1234", "DSN_URL=postgres://bob:hunter2222@db/x"}
	grant := Grant{Given: given(t, "env:GITHUB_TOKEN, env:BASE_URL, env:MODE, env:DSN_URL")}
	out := runner.Output{Stdout: []byte(`{"a":"tok-123456789","b":"https://api.example.com/v1 production","c":"sk-provider-1234","d":"hunter2222"}`), Stderr: []byte("bad tok-123456789"), Sandbox: &runner.Sandbox{Tier: "B"}}
	for _, code := range []int{0, 1} {
		r := host(t)
		r.Env = env
		out.ExitCode = code
		r.Runner = &canned{out: out}
		r.Granted = func(context.Context, *skill.Skill) (Grant, error) { return grant, nil }
		res, err := runAs(t, r, open(t, "", tree{"scripts/a.sh": ""}), "a", nil)
		var said string
		var e *Error
		if errors.As(err, &e) {
			said = e.Message + string(e.Stdout)
		} else if err != nil {
			t.Fatal(err)
		} else {
			said = string(res.JSON)
		}
		for _, secret := range []string{"tok-123456789", "sk-provider-1234", "hunter2222"} {
			if strings.Contains(said, secret) {
				t.Errorf("exit %d: %s is in %s", code, secret, said)
			}
		}
		for _, want := range []string{"[redacted GITHUB_TOKEN]", "https://api.example.com/v1 production", "[redacted OPENAI_API_KEY]"} {
			if !strings.Contains(said, want) {
				t.Errorf("exit %d: %s is not in %s", code, want, said)
			}
		}
	}
}

// C65: what a manifest declares counts in a question, except patterns that forward nothing and keys of model providers.
func TestDeclaredEntries(t *testing.T) {
	m := open(t, "permissions:\n  env: [KALSHI_*, TOKEN, \"*\", LD_PRELOAD, OPENAI_API_KEY, ANTHROPIC_*]\n", nil).Manifest()
	if got := Declared(m); got.String() != "declared env:KALSHI_*, declared env:TOKEN" {
		t.Errorf("got %q", got)
	}
}
