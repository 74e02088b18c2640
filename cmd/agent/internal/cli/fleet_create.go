package cli

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/config"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/fleet"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/lockfile"
)

func newFleetCreateCommand(s *app.Services) *cobra.Command {
	days := 365
	c := &cobra.Command{
		Use:   "create DIR HOST[:PORT]...",
		Short: "Make the homes of the servers of a cluster, with certificates",
		Long: `Make the folder DIR with a home for each server of a cluster: n1, n2 and so on, at least three. HOST is where workers and the other
servers reach it; PORT is for workers (default: 4222), PORT+2000 for the other servers. A home has settings, a certificate and the keys
that the servers share: copy it to its machine, and start the server there with AGENT_HOME=DIR/n1.

A file that is there stays. The same command makes what is missing: a certificate that was removed with its key, or the home of one
more server, which the settings of the others do not name yet. The file ca.key signs certificates: keep DIR where no server runs.`,
		Example: `  agent fleet create fleet 10.0.0.1 10.0.0.2 10.0.0.3
  agent fleet create fleet 127.0.0.1:4222 127.0.0.1:4223 127.0.0.1:4224`,
		Args: arguments(4, 1000, "a folder and the hosts of at least three servers"),
		RunE: func(c *cobra.Command, args []string) error {
			if days < 1 || days > 3650 {
				return failure.Usage(fmt.Errorf("invalid --days %d", days), "use 1 to 3650")
			}
			nodes, err := clusterNodes(args[1:])
			if err != nil {
				return err
			}
			return createHomes(c.Context(), s, s.Sys.Abs(args[0]), nodes, time.Now().AddDate(0, 0, days))
		},
	}
	c.Flags().IntVar(&days, "days", days, "for how many `DAYS` new certificates of servers are good, 1 to 3650")
	return c
}

// clusterNode is where a server of a cluster is reached.
type clusterNode struct{ host, listen, route string }

func clusterNodes(args []string) (out []clusterNode, err error) {
	taken := map[string]bool{}
	for _, arg := range args {
		host, text, err := net.SplitHostPort(arg)
		if err != nil {
			host, text = strings.Trim(arg, "[]"), "4222"
		}
		port, err := strconv.ParseUint(text, 10, 16)
		if err != nil || port == 0 || port+2000 > 1<<16-1 || host == "" || strings.ContainsAny(host, "/\\\"' ") {
			return nil, failure.Usage(fmt.Errorf("invalid server %.200q", arg), "write HOST or HOST:PORT, with a port up to 63535")
		}
		n := clusterNode{host, net.JoinHostPort(host, fmt.Sprint(port)), net.JoinHostPort(host, fmt.Sprint(port+2000))}
		for _, address := range []string{n.listen, n.route} {
			if taken[strings.ToLower(address)] {
				return nil, failure.Usage(fmt.Errorf("two servers would have the address %s", address), "give each a HOST of its own, or a PORT whose PORT+2000 is free, too")
			}
			taken[strings.ToLower(address)] = true
		}
		out = append(out, n)
	}
	return out, nil
}

// homeSettings are the settings of a server of a cluster.
const homeSettings = `skills:
  state: fleet
serve:
  name: n%d
  listen: %q
  route: %q
  nodes: [%s]
  cert: node.crt
  certKey: node.key
  ca: ca.crt
  key: serve.key
`

func createHomes(ctx context.Context, s *app.Services, dir string, nodes []clusterNode, until time.Time) error {
	var routes []string
	for _, n := range nodes {
		routes = append(routes, strconv.Quote(n.route))
	}
	authority, err := certificate(filepath.Join(dir, "ca"), nil, "agent fleet", time.Now().AddDate(10, 0, 0)) // it signs the next ones, too
	if err != nil {
		return err
	}
	if end := authority.Leaf.NotAfter; until.After(end) {
		err := fmt.Errorf("%s is good until %s", filepath.Join(dir, "ca.crt"), end.UTC().Format(time.DateOnly))
		return failure.Usage(err, "use --days N with fewer days, or make new homes in another folder")
	}
	if err := fill(filepath.Join(dir, "serve.key"), []byte(rand.Text()+rand.Text()+"\n")); err != nil {
		return err
	}
	if _, err := fleet.SigningKey(ctx, dir); err != nil { // it makes the issuer and signer.pub
		return err
	}
	for i, n := range nodes {
		home := filepath.Join(dir, fmt.Sprint("n", i+1))
		if _, err := certificate(filepath.Join(home, "node"), &authority, n.host, until); err != nil {
			return err
		}
		for name, to := range map[string]string{"ca.crt": home, "serve.key": home, node.IssuerName: config.Paths{Agent: home}.Node()} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				err = fill(filepath.Join(to, name), text)
			}
			if err != nil {
				return err
			}
		}
		if err := fill(filepath.Join(home, "config.yaml"), fmt.Appendf(nil, homeSettings, i+1, n.listen, n.route, strings.Join(routes, ", "))); err != nil {
			return err
		}
		s.Out.Printf("%s for %s\n", home, n.listen)
	}
	return nil
}

// certificate returns the certificate of two files, .crt and .key, which it makes if neither is there.
func certificate(path string, authority *tls.Certificate, host string, until time.Time) (tls.Certificate, error) {
	pair, err := tls.LoadX509KeyPair(path+".crt", path+".key")
	if !errors.Is(err, fs.ErrNotExist) {
		return pair, err
	}
	cert, key, err := node.Certificate(authority, host, until)
	if err == nil {
		err = create(path+".key", key)
	}
	if err == nil {
		err = create(path+".crt", cert)
	}
	if err != nil {
		return pair, err
	}
	return tls.X509KeyPair(cert, key)
}

// fill makes a file if it is not there.
func fill(path string, text []byte) error {
	if err := create(path, text); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// create makes a file that only the user may read, and its folder if there is none. It is an error if the file is there.
func create(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return lockfile.Create(path, text)
}
