package app

import (
	"context"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/llm/replay"
)

// Models finds the models that the flags, the settings or the environment name.
type Models struct {
	sys      *System
	settings *Settings
}

// Find returns the model with a name; for "" that of the settings, or one that is available.
func (m *Models) Find(ctx context.Context, name string) (*models.Found, error) {
	if name == "" {
		name = m.settings.Config().Agent.Model
	}
	return m.Finder().Find(ctx, name)
}

// Finder returns what finds models in this run's environment.
func (m *Models) Finder() *models.Finder {
	return &models.Finder{Getenv: m.sys.Getenv, ReadFile: func(path string) ([]byte, error) {
		return lockfile.Read(m.sys.Abs(path), replay.MaxFile)
	}}
}

// modelExit returns the exit code for a failure of a provider.
func modelExit(kind llm.ErrorKind) Exit {
	switch kind {
	case llm.BadKey:
		return ExitDenied
	case llm.NoModel:
		return ExitNotFound
	case llm.TimedOut:
		return ExitTimeout
	}
	return ExitFailure
}

func modelHint(e *llm.Error) string {
	switch e.Kind {
	case llm.BadKey:
		return "check the provider's key in the environment; docs/config.md names the variables"
	case llm.NoModel:
		return "--model PROVIDER/NAME names another one"
	case llm.RateLimit, llm.Overloaded:
		return "try again later, or with another --model"
	case llm.Network:
		return "is the server running, and the network there?"
	case llm.TooLong:
		return "ask for less at once, or set contextWindow to what the model holds"
	}
	return ""
}
