package fetch_test

import (
	"crypto/x509"
	"log"
	"os"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/source"
)

// Skills come from a server whose certificate is signed by the organisation, and from a repository with very many files.
func Example() {
	pem, err := os.ReadFile("/etc/ssl/ours.pem")
	if err != nil {
		log.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem)
	archives, err := fetch.Archive(&fetch.HTTPOptions{RootCAs: roots})
	if err != nil {
		log.Fatal(err)
	}
	_ = map[source.Kind]install.Fetcher{source.Archive: archives, source.Git: fetch.Git(&fetch.GitOptions{MaxFiles: 1_000_000})}
}
