package packages

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/cmd/agent/internal/ui"
	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/install/fetch"
	"github.com/agent-base/agent-base/install/oci"
	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/paths"
)

// fetchers returns what reads each kind of place. A place that a person typed, now or when a skill was installed, may be on this
// machine or in its network; one that a file of somebody else names may not.
func (p *Packages) fetchers() map[source.Kind]install.Fetcher {
	path, _ := p.Settings.ScriptPath()
	download := func(make func(*fetch.HTTPOptions) (install.Fetcher, error)) install.Fetcher {
		return install.FetcherFunc(func(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
			f, err := make(p.http(r.Source))
			if err != nil {
				return nil, err
			}
			return f.Fetch(ctx, r)
		})
	}
	git := p.tellTokens(fetch.Git(&fetch.GitOptions{Path: path, Env: p.Sys.Environ, SSH: p.Sys.Getenv("GIT_SSH_COMMAND"), AllowFile: !p.foreign, AskPass: p.askPass(), Tokens: p.tokens()}))
	return map[source.Kind]install.Fetcher{
		source.Git:     git,
		source.Folder:  fetch.Folder(),
		source.Archive: download(fetch.Archive),
		source.Index:   fetch.OrRepository(download(fetch.Index), git),
		source.Server:  install.FetcherFunc(p.Served.Fetch),
		source.OCI: install.FetcherFunc(func(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
			client, err := p.Registry(r.Source)
			if err != nil {
				return nil, err
			}
			return client.Fetch(ctx, r)
		}),
	}
}

// askPass returns the operator's program that answers git's questions, for places that a person typed: it does not ask which host wants
// to know. One in the project is nobody's choice but the project's.
func (p *Packages) askPass() string {
	program := p.Sys.Getenv("GIT_ASKPASS")
	if p.foreign || !filepath.IsAbs(program) || paths.WithinReal(p.Settings.Config().Paths.Project, program) {
		return ""
	}
	return program
}

// Foreign returns the same for places that a person did not type.
func (p *Packages) Foreign() *Packages {
	other := *p
	other.foreign = true
	return &other
}

// http returns how files of a place are downloaded.
func (p *Packages) http(ref source.Ref) *fetch.HTTPOptions {
	proxy := models.Proxy(p.Sys.First)
	o := &fetch.HTTPOptions{Proxy: func(r *http.Request) (*url.URL, error) { return proxy(r.URL) }}
	if p.foreign {
		return o
	}
	switch ref.Kind {
	case source.OCI:
		host, _, _ := strings.Cut(ref.URL, "/")
		o.Private = []string{host}
	case source.Archive, source.Index:
		if u, err := url.Parse(ref.URL); err == nil && u.Host != "" {
			o.Private = []string{u.Host}
		}
	}
	return o
}

// Registry returns the client of OCI registries. One at a loopback address of this machine is asked by http, as Docker does.
func (p *Packages) Registry(ref source.Ref) (*oci.Client, error) {
	client, err := fetch.Client(p.http(ref))
	if err != nil {
		return nil, err
	}
	o := &oci.Options{Transport: client.Transport, PlainHTTP: !p.foreign, UserAgent: "agent-base/" + setup.Version}
	if dir := p.Sys.Getenv("DOCKER_CONFIG"); dir != "" {
		o.Credential = oci.DockerCredentials(filepath.Join(dir, "config.json"))
	} else if p.Sys.Home != "" {
		o.Credential = oci.DockerCredentials(filepath.Join(p.Sys.Home, ".docker", "config.json"))
	}
	o.Passed = func(registry, host string) {
		p.Out.Warn(fmt.Sprintf("the password for %s goes to %s, which it names for its tokens", registry, ui.Line(host)))
	}
	return oci.New(o)
}
