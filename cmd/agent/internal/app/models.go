package app

import (
	"context"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/replay"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/lockfile"
)

// Models finds the models that the flags, the settings or the environment name.
type Models struct {
	sys      *setup.System
	settings *setup.Settings
}

// Find returns the model with a name; for "" that of the settings, or one that is available.
func (m *Models) Find(ctx context.Context, name string) (*models.Found, error) {
	if name == "" {
		name = m.settings.Config().Agent.Model
	}
	return m.Finder().Find(ctx, name)
}

// Facts returns what is known of the model that Find would return, without asking a server.
func (m *Models) Facts(name string) models.Facts {
	if name == "" {
		name = m.settings.Config().Agent.Model
	}
	return m.Finder().FactsFor(name)
}

// Finder returns what finds models in this run's environment.
func (m *Models) Finder() *models.Finder {
	return &models.Finder{Getenv: m.sys.Getenv, Allowed: m.allowed, Reads: m.settings.Config().Agent.Reads, ReadFile: func(path string) ([]byte, error) {
		return lockfile.Read(m.sys.Abs(path), replay.MaxFile)
	}}
}

// allowed refuses a model that the organisation does not allow.
func (m *Models) allowed(name, host string) error {
	if host != "" {
		return m.settings.Policy().Model(name, host).Refuse("the model %s at %s is not used", name, host)
	}
	return m.settings.Policy().Model(name, "").Refuse("the model %s is not used", name)
}
