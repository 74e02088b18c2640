package cli_test

import (
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/agent-base/agent-base/internal/fleet/node"
)

// clusterFiles writes what three nodes on this machine need: a folder tls with ca, cert and key, and the variables LISTEN1 to LISTEN3 and
// ROUTE1 to ROUTE3 with free addresses. PORT1 to PORT3 are the ports of LISTEN1 to LISTEN3, and HTTP1 to HTTP3 are further free ports.
func clusterFiles(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: clusterfiles")
	}
	dir := filepath.Join(ts.Getenv("WORK"), "tls")
	ts.Check(os.MkdirAll(dir, 0o700))
	until := time.Now().Add(time.Hour)
	ca, caKey, err := node.Certificate(nil, "tests", until)
	ts.Check(err)
	authority, err := tls.X509KeyPair(ca, caKey)
	ts.Check(err)
	cert, key, err := node.Certificate(&authority, "127.0.0.1", until)
	ts.Check(err)
	for name, text := range map[string][]byte{"ca": ca, "cert": cert, "key": key} {
		ts.Check(os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	for i := 1; i <= 3; {
		listen, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer listen.Close()
		port := listen.Addr().(*net.TCPAddr).Port //nolint:forcetypeassert // of a TCP listener
		route, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", port+2000))
		if err != nil {
			continue
		}
		defer route.Close()
		http, err := net.Listen("tcp", "127.0.0.1:0")
		ts.Check(err)
		defer http.Close()
		ts.Setenv(fmt.Sprint("LISTEN", i), listen.Addr().String())
		ts.Setenv(fmt.Sprint("ROUTE", i), route.Addr().String())
		ts.Setenv(fmt.Sprint("PORT", i), fmt.Sprint(port))
		ts.Setenv(fmt.Sprint("HTTP", i), fmt.Sprint(http.Addr().(*net.TCPAddr).Port)) //nolint:forcetypeassert // likewise
		i++
	}
}
