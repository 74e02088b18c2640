package state

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/test/documenttest"
)

const serverJob = "STATE_TEST_SERVER"

// member is a server of a cluster.
type member struct {
	Name, Dir, Routes string
	Port, Cluster     int
}

// serve is a server of a cluster, in a process of its own that a test kills.
func serve() {
	var m member
	if err := json.Unmarshal([]byte(os.Getenv(serverJob)), &m); err != nil {
		panic(err)
	}
	s, err := server.NewServer(&server.Options{
		ServerName: m.Name, Host: "127.0.0.1", Port: m.Port, NoLog: true, NoSigs: true, JetStream: true, StoreDir: m.Dir, JetStreamMaxMemory: 64 << 20,
		JetStreamMaxStore: 1 << 30, Routes: server.RoutesFromStr(m.Routes), Cluster: server.ClusterOpts{Name: "c", Host: "127.0.0.1", Port: m.Cluster},
	})
	if err != nil {
		panic(err)
	}
	s.Start()
	s.WaitForShutdown()
}

// cluster is three servers.
type cluster struct {
	options [3]string
	servers [3]*exec.Cmd
	urls    [3]string
}

func (c *cluster) start(t *testing.T, i int) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.servers[i] = exec.Command(self)
	c.servers[i].Env = append(os.Environ(), serverJob+"="+c.options[i])
	c.servers[i].SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := c.servers[i].Start(); err != nil {
		t.Fatal(err)
	}
}

func (c *cluster) kill(i int) {
	_ = c.servers[i].Process.Kill()
	_ = c.servers[i].Wait()
}

func newCluster(t *testing.T) *cluster {
	c := &cluster{}
	var ports [6]int
	var held [6]net.Listener // all are open at once, so they have different ports
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		held[i], ports[i] = l, l.Addr().(*net.TCPAddr).Port
	}
	for _, l := range held {
		l.Close()
	}
	dir := t.TempDir()
	for i := range c.servers {
		routes := fmt.Sprintf("nats://127.0.0.1:%d,nats://127.0.0.1:%d", ports[3+(i+1)%3], ports[3+(i+2)%3])
		text, err := json.Marshal(member{fmt.Sprint("n", i), filepath.Join(dir, fmt.Sprint(i)), routes, ports[i], ports[3+i]})
		if err != nil {
			t.Fatal(err)
		}
		c.options[i], c.urls[i] = string(text), fmt.Sprintf("nats://127.0.0.1:%d", ports[i])
	}
	for i := range c.servers {
		c.start(t, i)
	}
	t.Cleanup(func() {
		for i := range c.servers {
			c.kill(i)
		}
	})
	return c
}

// place returns the place of a document: at the server i, and at the others if that one does not answer.
func (c *cluster) place(i int, how, name string) string {
	return c.urls[i%3] + "," + c.urls[(i+1)%3] + "," + c.urls[(i+2)%3] + "#" + how + "|" + name
}

// leader returns the server that leads the stream.
func (c *cluster) leader(t *testing.T) int {
	conn, err := nats.Connect(strings.Join(c.urls[:], ","))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for range 100 {
		js, err := conn.JetStream()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := js.StreamInfo(streamName); err == nil && info.Cluster.Leader != "" {
			return int(info.Cluster.Leader[1] - '0')
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatal("the stream has no leader")
	return 0
}

// Three servers keep the acknowledged changes while their leader is killed, and no read returns a former state.
func TestCluster(t *testing.T) {
	c := newCluster(t)
	killed := make(chan bool)
	leader := func() {
		defer close(killed)
		i := c.leader(t)
		c.kill(i)
		c.start(t, i)
	}
	at := func(how string) func(int) document.Store {
		return func(i int) document.Store { return open(c.place(i, how, how+"linear"), nil) }
	}
	if _, err := at("")(0).Load(t.Context()); err != nil { // the stream is there
		t.Fatal(err)
	}
	go leader()
	if wrong := documenttest.Linear(t, 6, 60, at("")); wrong != "" {
		t.Error(wrong)
	}
	<-killed
	killed = make(chan bool)
	go leader()
	if lost := documenttest.Writers(t, c.place(0, "", "writers"), open); lost != "" {
		t.Error(lost)
	}
	<-killed
	if wrong := documenttest.Linear(t, 6, 200, at("direct")); wrong == "" {
		t.Error("reads of the past were not found where any server answers")
	} else {
		t.Log("direct: " + wrong)
	}
}
