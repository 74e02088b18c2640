package node

import (
	"fmt"

	"github.com/nats-io/nats.go"
)

// Remote is a node of a cluster, or a NATS server with JetStream.
type Remote struct {
	URL    string
	Creds  []byte // what a file of credentials has, see WithCredential
	CA     string // a file of the certificates that sign those of the server; "" for those of the system
	Copies int    // of what is stored, each on a server of its own; default 1
}

// Connect connects to the server, and to another one of the URL soon when its machine is gone. say gets what becomes of the connection; it may be nil.
func (r *Remote) Connect(say func(string)) (*nats.Conn, error) {
	if say == nil {
		say = func(string) {}
	}
	shown, err := WithCredential(r.Creds)
	if err != nil {
		return nil, fmt.Errorf("the credentials for %s: %w", r.URL, err)
	}
	if r.CA != "" {
		shown = append(shown, nats.RootCAs(r.CA))
	}
	conn, err := nats.Connect(r.URL, append(shown, nats.Name("agent"), nats.SyncQueueLen(maxUnread), nats.MaxReconnects(-1), nats.PingInterval(pingTime),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say(fmt.Sprintf("%s: %v", r.URL, err)) }),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				say(fmt.Sprintf("the connection to %s is lost (%v), and is made again", r.URL, err))
			}
		}), nats.ReconnectHandler(func(*nats.Conn) { say("connected to " + r.URL + " again") }))...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.URL, err)
	}
	return conn, nil
}
