package app

import (
	"net/http"
	"path/filepath"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/internal/lockfile"
)

const maxNPMRC = 1 << 20 // bytes

// npmrc returns the user's npm settings, which say where packages come from; nil if there are none. The .npmrc of a project
// or a skill is never read.
func (k *Toolkit) npmrc() []byte {
	file := filepath.Join(k.sys.Home, ".npmrc")
	if set := k.sys.first([]string{"npm_config_userconfig", "NPM_CONFIG_USERCONFIG"}); filepath.IsAbs(set) {
		file = set
	}
	if !filepath.IsAbs(file) {
		return nil
	}
	b, _ := lockfile.Read(file, maxNPMRC) // without it the public registry is asked
	return b
}

// transport returns the transport that fetches npm packages, with the proxies of the environment.
func (k *Toolkit) transport() http.RoundTripper { return models.Transport(k.sys.first) }
