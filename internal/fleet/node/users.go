package node

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
)

// Admit lets a worker in and returns the seed of its key, in place of the one that this name had. It hears to.NAME.> and says from.NAME.>,
// answers what it is asked, and reaches nothing else: no stream, no other worker. It returns an error if another process has the node.
func (n *Node) Admit(name string) (seed []byte, err error) {
	if n.users == nil {
		return nil, fmt.Errorf("another process has the node: it alone admits workers")
	}
	if err := checkName(name); err != nil {
		return nil, err
	}
	public, seed, err := newUser()
	if err != nil {
		return nil, err
	}
	n.users.name(name, public)
	n.users.add(public, permissions(name))
	return seed, nil
}

// admission is what a worker comes in with.
type admission struct {
	Name string `json:"name"`
	Seed []byte `json:"seed"`
}

// admit lets a worker in whenever a process of the user asks for one, see LetIn. The names of workers begin with prefix.
func (n *Node) admit(prefix string) error {
	admitted := 0
	_, err := n.conn.Subscribe(n.admitting(), func(m *nats.Msg) {
		admitted++
		a := admission{Name: prefix + strconv.Itoa(admitted)}
		var err error
		if a.Seed, err = n.Admit(a.Name); err != nil {
			return // who asked gives up after a while
		}
		if text, err := json.Marshal(a); err == nil {
			_ = m.Respond(text)
		}
	})
	return err
}

// admitting returns the subject on which the user's processes ask to have a worker let in: each node lets in its own.
func (n *Node) admitting() string { return "admit." + n.conn.ConnectedServerName() }

// LetIn has the process that has the node let a worker in, as Admit does. It returns the name and the seed of the worker.
func (n *Node) LetIn(ctx context.Context) (name string, seed []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	var a admission
	m, err := n.conn.RequestWithContext(ctx, n.admitting(), nil)
	if err == nil {
		err = json.Unmarshal(m.Data, &a)
	}
	if err != nil {
		return "", nil, fmt.Errorf("no worker is let in: %w", err)
	}
	return a.Name, a.Seed, nil
}

// users are the keys that come in, with what they may do.
type users struct {
	issuer *Issuer // of credentials; nil if there is none

	mu    sync.Mutex
	may   map[string]*server.Permissions // by public key; nil for everything
	named map[string]string              // public keys, by the names of workers
}

// name gives a name to a key. The former key of that name is refused from now on.
func (u *users) name(name, public string) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.may, u.named[name])
	if u.named == nil {
		u.named = map[string]string{}
	}
	u.named[name] = public
}

func (u *users) add(public string, may *server.Permissions) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.may == nil {
		u.may = map[string]*server.Permissions{}
	}
	u.may[public] = may
}

// Check lets a client in that has signed the nonce with a known key.
func (u *users) Check(c server.ClientAuthentication) bool {
	o := c.GetOpts()
	if o.Token != "" {
		if u.issuer == nil {
			return false
		}
		user, err := u.issuer.user(o.Token, c.GetNonce(), o.Sig)
		if err == nil {
			c.RegisterUser(user)
		}
		return err == nil
	}
	u.mu.Lock()
	may, known := u.may[o.Nkey]
	u.mu.Unlock()
	if !known || signed(o.Nkey, c.GetNonce(), o.Sig) != nil {
		return false
	}
	c.RegisterUser(&server.User{Username: o.Nkey, Permissions: may})
	return true
}

// pass copies until one end is closed, and closes the other.
func pass(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	to.Close()
}

// logger passes on errors of the node, and no warnings. It never ends the process.
type logger struct {
	log func(string)

	mu   sync.Mutex
	said map[string]time.Time // when something was said last
}

// again is the pause before an error is repeated, such as that another node does not answer.
const again = time.Hour

func (l *logger) say(format string, v []any) {
	if l.log == nil {
		return
	}
	what := format
	if len(v) > 0 { // the others may count
		what += fmt.Sprint(v[len(v)-1])
	}
	l.mu.Lock()
	late := time.Since(l.said[what]) > again
	if len(l.said) > 100 || l.said == nil {
		l.said = map[string]time.Time{}
	}
	if late {
		l.said[what] = time.Now()
	}
	l.mu.Unlock()
	if late {
		l.log(fmt.Sprintf(format, v...))
	}
}

func (l *logger) Noticef(string, ...any)         {}
func (l *logger) Debugf(string, ...any)          {}
func (l *logger) Tracef(string, ...any)          {}
func (l *logger) Warnf(string, ...any)           {}
func (l *logger) Errorf(format string, v ...any) { l.say(format, v) }
func (l *logger) Fatalf(format string, v ...any) { l.say(format, v) }
