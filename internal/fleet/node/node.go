// Package node is where a fleet of one machine keeps its queue and its state: a NATS node with JetStream in this process, which
// listens on no port. Whoever opens its folder first has the node; every other process of the user reaches it by a Unix socket in
// the folder. Workers come in by the same socket with a key of their own, and reach their own subjects only.
//
// It is the only importer of the server. A write that was acknowledged is on the disk.
package node

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"github.com/agent-base/agent-base/internal/lockfile"
)

// Limits of a node, and how long its start and its end may take.
const (
	DefaultMemory = 64 << 20 // bytes of streams in memory
	DefaultDisk   = 2 << 30  // bytes of streams on the disk: 256 MiB each of runs, claims and documents, and 1 GiB of contents
	MaxMessage    = 5 << 20  // bytes: a result of dispatch with its headers
	maxConns      = 256
	maxUnread     = 1 << 10 // messages that one subscription keeps: each run has one, and has the room from the beginning
	startTime     = 10 * time.Second
	tryOnce       = time.Nanosecond
	maxSocket     = 100 // bytes of the path of a Unix socket; the smallest limit of the systems is 104
)

// Names in the folder.
const (
	lockName   = "lock"   // held by the process that has the node
	socketName = "socket" // where the others come in
	keyName    = "key"    // the secret of the user's own processes
	storeName  = "streams"
)

// ErrBusy means that another process has the node and does not answer.
var ErrBusy = errors.New("another process has this folder and does not answer")

// Options are those of Open.
type Options struct {
	Dir    string // absolute; made with mode 0700
	Memory int64  // of streams in memory, in bytes; default DefaultMemory
	Disk   int64  // of streams on the disk, in bytes; default DefaultDisk

	Cluster *Cluster // nil for a node that listens on no port
	Remote  *Remote  // a server of others in place of the node; nil for none

	Log func(text string) // gets what fails in the node; may be nil

	wait   time.Duration // for another process that has the folder and does not answer yet; default startTime
	noLock bool          // for a test: what the lock is for
}

// Node is a connection to the node of a folder, and the node if this process has it.
type Node struct {
	conn *nats.Conn

	// These are nil if another process has the node.
	mu     sync.Mutex
	server *server.Server // another one after its disk was full
	users  *users
	door   *door
	healed sync.WaitGroup
	end    context.CancelFunc
	unlock func()
}

// Copies returns how many copies each stream has, each on a machine of its own.
func (o *Options) Copies() int {
	if o.Remote != nil {
		return max(o.Remote.Copies, 1)
	}
	return min(o.Cluster.nodes(), fewest)
}

// Open opens the node of a folder: it starts it, or joins the process that has it. With a Remote it connects to that server. The error may
// be ErrBusy.
func Open(ctx context.Context, o *Options) (*Node, error) {
	if o.Remote != nil {
		conn, err := o.Remote.Connect(o.Log)
		return &Node{conn: conn}, err
	}
	if !filepath.IsAbs(o.Dir) {
		return nil, fmt.Errorf("node.Options: folder %q is not absolute", o.Dir)
	}
	if socket := filepath.Join(o.Dir, socketName); len(socket) > maxSocket {
		return nil, fmt.Errorf("the path %q has %d bytes, a socket's can have %d: choose a shorter folder", socket, len(socket), maxSocket)
	}
	if err := os.MkdirAll(o.Dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(o.Dir)
	if err == nil {
		err = lockfile.CheckOwner(o.Dir, info)
	}
	if err != nil {
		return nil, err
	}
	wait := o.wait
	if wait <= 0 {
		if wait = startTime; o.Cluster != nil {
			wait += leaderTime
		}
	}
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for busy := error(nil); ; {
		if busy != nil && ctx.Err() != nil {
			return nil, busy
		}
		n, err := o.start(ctx)
		if !errors.Is(err, lockfile.ErrLocked) {
			return n, err
		}
		conn, err := join(o.Dir)
		if err == nil {
			return &Node{conn: conn}, nil
		}
		busy = fmt.Errorf("%s: %w: end it, or wait (%w)", o.Dir, ErrBusy, err)
		select { // it may be starting, or ending
		case <-ctx.Done():
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// ErrNobody means that no process has the node.
var ErrNobody = errors.New("no process has the node")

// Join connects to the node of a folder that another process has. The error may be ErrNobody.
func Join(dir string) (*Node, error) {
	conn, err := join(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w (%w)", dir, ErrNobody, err)
	}
	return &Node{conn: conn}, nil
}

// start starts the node. The error is lockfile.ErrLocked if another process has it.
func (o *Options) start(ctx context.Context) (_ *Node, err error) {
	n, prefix := &Node{users: &users{}, end: func() {}, unlock: func() {}}, ""
	if o.Cluster != nil {
		n.users.issuer = o.Cluster.Issuer
	}
	if !o.noLock {
		if n.unlock, err = lockfile.Lock(ctx, filepath.Join(o.Dir, lockName), tryOnce); err != nil {
			return nil, err
		}
	}
	defer func() {
		if err != nil {
			n.Close()
		}
	}()
	own, err := ownKey(ctx, o.Dir)
	if err != nil {
		return nil, err
	}
	public, err := own.PublicKey()
	if err != nil {
		return nil, err
	}
	n.users.add(public, nil)
	settings := o.serverOptions(n.users)
	if o.Cluster != nil {
		if err := o.Cluster.add(settings); err != nil {
			return nil, err
		}
	}
	if err := n.serve(settings, o.Log); err != nil {
		return nil, fmt.Errorf("start the node of %s: %w", o.Dir, err)
	}
	if n.conn, err = nats.Connect("", nats.InProcessServer(inside{n}), nats.Nkey(public, own.Sign), nats.MaxReconnects(-1), nats.ReconnectWait(healTime/10),
		nats.SyncQueueLen(maxUnread)); err != nil {
		return nil, err
	}
	if o.Cluster != nil {
		if err := n.leader(ctx); err != nil {
			return nil, err
		}
		prefix = o.Cluster.Name + "-"
	}
	if err := n.admit(prefix + "w"); err != nil {
		return nil, err
	}
	if n.door, err = openDoor(filepath.Join(o.Dir, socketName), inside{n}); err != nil {
		return nil, err
	}
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	n.end = end
	n.healed.Go(func() { n.heal(life, settings, o.Log) })
	return n, nil
}

// serve starts a server.
func (n *Node) serve(o *server.Options, log func(string)) error {
	s, err := server.NewServer(o.Clone())
	if err != nil {
		return err
	}
	n.mu.Lock()
	n.server = s
	n.mu.Unlock()
	s.SetLoggerV2(&logger{log: log}, false, false, false)
	go s.Start() // it ends in Close
	if !s.ReadyForConnections(startTime) || !s.JetStreamEnabled() {
		return errors.New("it does not start: is its disk full, or damaged?")
	}
	return nil
}

// inside connects to the present server of a node.
type inside struct{ *Node }

// InProcessConn is that of the server.
func (i inside) InProcessConn() (net.Conn, error) {
	i.mu.Lock()
	s := i.server
	i.mu.Unlock()
	return s.InProcessConn()
}

// Where the disk of a node was full.
const (
	healTime  = time.Second // between two looks
	leastRoom = 4 << 20     // bytes
)

// heal starts another server when a disk that was full has room: a server closes its streams at the first write that fails.
func (n *Node) heal(ctx context.Context, o *server.Options, log func(string)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(healTime):
		}
		if n.server.JetStreamEnabled() || !hasRoom(o.StoreDir) {
			continue
		}
		n.server.Shutdown()
		n.server.WaitForShutdown()
		if err := n.serve(o, log); err != nil && log != nil { // it is tried again
			log(fmt.Sprintf("start the node of %s again: %v", filepath.Dir(o.StoreDir), err))
		}
	}
}

// hasRoom reports whether the disk of a folder has room.
func hasRoom(dir string) bool {
	f, err := os.CreateTemp(dir, "room-")
	if err != nil {
		return false
	}
	defer os.Remove(f.Name())
	_, err = f.Write(make([]byte, leastRoom))
	return errors.Join(err, f.Close()) == nil
}

func (o *Options) serverOptions(u *users) *server.Options {
	memory, disk := o.Memory, o.Disk
	if memory <= 0 {
		memory = DefaultMemory
	}
	if disk <= 0 {
		disk = DefaultDisk
	}
	return &server.Options{
		ServerName: "agent", DontListen: true, NoSigs: true, NoLog: true, MaxConn: maxConns, MaxPayload: MaxMessage,
		JetStream: true, StoreDir: filepath.Join(o.Dir, storeName), JetStreamMaxMemory: memory, JetStreamMaxStore: disk, SyncAlways: true,
		CustomClientAuthentication: u, AlwaysEnableNonce: true,
	}
}

// ownKey returns the key by which the user's own processes come in.
func ownKey(ctx context.Context, dir string) (nkeys.KeyPair, error) {
	seed, err := secret(ctx, dir, keyName, nkeys.CreateUser)
	if err != nil {
		return nil, err
	}
	return nkeys.FromSeed(seed)
}

// join connects to the node of another process as one of the user's own.
func join(dir string) (*nats.Conn, error) {
	seed, err := lockfile.ReadPrivate(filepath.Join(dir, keyName), 1<<10)
	if err != nil {
		return nil, err
	}
	return Dial(dir, seed, nats.NoReconnect())
}

// Dial connects to the node of a folder with the seed of a key: that of a worker, see Node.Admit. It returns an error if no process
// has the node.
func Dial(dir string, seed []byte, o ...nats.Option) (*nats.Conn, error) {
	key, err := nkeys.FromSeed(seed)
	if err != nil {
		return nil, err
	}
	public, err := key.PublicKey()
	if err != nil {
		return nil, err
	}
	o = append(o, nats.SyncQueueLen(maxUnread), nats.Nkey(public, key.Sign), nats.SetCustomDialer(unix(filepath.Join(dir, socketName))))
	return nats.Connect("nats://embedded", o...)
}

// unix is the path of a socket, which takes the place of every address.
type unix string

// Dial connects to the socket.
func (u unix) Dial(_, _ string) (net.Conn, error) { return net.Dial("unix", string(u)) }

// Conn returns the connection. It ends with Close; that to another process's node ends with that process, too.
func (n *Node) Conn() *nats.Conn { return n.conn }

// Close ends the connection, and the node if this process has it. What was acknowledged stays.
func (n *Node) Close() {
	if n.conn != nil {
		n.conn.Close()
	}
	if n.door != nil {
		n.door.close()
	}
	if n.end != nil {
		n.end()
		n.healed.Wait()
	}
	if n.server != nil {
		n.server.Shutdown()
		n.server.WaitForShutdown()
	}
	if n.unlock != nil {
		n.unlock()
	}
}

// door is the socket. Each connection is passed on to the node in the process, which asks for a key.
type door struct {
	listener net.Listener
	server   nats.InProcessConnProvider
	all      sync.WaitGroup

	mu    sync.Mutex
	ended bool
	conns map[net.Conn]bool
}

func openDoor(path string, s nats.InProcessConnProvider) (*door, error) {
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) { // of a process that was killed: the lock says so
		return nil, err
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		l.Close()
		return nil, err
	}
	d := &door{listener: l, server: s, conns: map[net.Conn]bool{}}
	d.all.Go(d.accept)
	return d, nil
}

func (d *door) accept() {
	for {
		c, err := d.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // no descriptor is left, for now
			time.Sleep(50 * time.Millisecond)
			continue
		}
		in, err := d.server.InProcessConn()
		if err != nil || !d.keep(c, in) {
			c.Close()
			continue
		}
		d.all.Go(func() { pass(in, c) })
		d.all.Go(func() { pass(c, in); d.drop(c, in) })
	}
}

func (d *door) keep(conns ...net.Conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		if d.conns[c] = true; d.ended {
			c.Close()
		}
	}
	return !d.ended
}

func (d *door) drop(conns ...net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range conns {
		delete(d.conns, c)
	}
}

func (d *door) close() {
	d.listener.Close()
	d.mu.Lock()
	d.ended = true
	for c := range d.conns {
		c.Close()
	}
	d.mu.Unlock()
	d.all.Wait()
}
