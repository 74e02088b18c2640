package setup

import (
	"cmp"
	"context"
	"errors"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// Issuer returns what signs the credentials of workers of this home.
func (s *Settings) Issuer(ctx context.Context) (*node.Issuer, error) {
	return node.NewIssuer(ctx, s.Config().Paths.Node())
}

// Node returns how this process opens the node that has the queue and what servers share.
func (s *Settings) Node(ctx context.Context) (*node.Options, error) {
	if err := s.NeedHome(); err != nil {
		return nil, err
	}
	c := s.Config().Serve
	o := &node.Options{Dir: s.Config().Paths.Node()}
	var err error
	switch {
	case c.Listen != "" && c.Server != "":
		err = errors.New("serve.listen has the queue here, and serve.server elsewhere: leave one of these settings out")
	case c.Listen != "":
		o.Cluster = &node.Cluster{Name: c.Name, Listen: c.Listen, Route: c.Route, Peers: c.Nodes, Cert: c.Cert, Key: c.CertKey, CA: c.CA}
		o.Cluster.Issuer, err = s.Issuer(ctx)
	case c.Server != "":
		if c.Creds == "" {
			return nil, errors.New("serve.server needs the setting serve.creds: a file of credentials for it")
		}
		o.Remote = &node.Remote{URL: c.Server, CA: c.CA, Copies: c.Copies}
		o.Remote.Creds, err = Secret(c.Creds, s.sys.Getenv(Credentials))
	}
	return o, err
}

// Where returns the address of the server that Node names, or the folder of the node.
func (s *Settings) Where() string { return cmp.Or(s.Config().Serve.Server, s.Config().Paths.Node()) }
