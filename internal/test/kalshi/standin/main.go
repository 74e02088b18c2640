// Command standin serves the invented Kalshi markets of internal/test/kalshi on this machine, to try the bundled skill
// without a network: standin [-addr HOST:PORT] [-era today|legacy].
//
// It prints the export command that points the skill's scripts to it, and serves until it is interrupted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/agent-base/agent-base/internal/test/kalshi"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "address to listen on; port 0 means a free one")
	era := flag.String("era", "today", "format of the answers: today or legacy")
	flag.Parse()
	if flag.NArg() > 0 || (*era != "today" && *era != "legacy") {
		flag.Usage()
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	o := &kalshi.Options{Era: kalshi.Today}
	if *era == "legacy" {
		o.Era = kalshi.Legacy
	}
	if err := serve(ctx, os.Stdout, *addr, o); err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

// serve answers at addr until ctx is done.
func serve(ctx context.Context, out io.Writer, addr string, o *kalshi.Options) error {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "export KALSHI_API_BASE=http://%s%s\n", l.Addr(), kalshi.Prefix)
	server := &http.Server{Handler: kalshi.NewServer(o), ReadHeaderTimeout: 10 * time.Second}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
