package app

import (
	"context"
	"strings"
	"time"

	"github.com/agent-base/agent-base/cmd/agent/internal/models"
	"github.com/agent-base/agent-base/cmd/agent/internal/replay"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/llm"
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

// Facts returns what is known of the model that Find would return, without asking a server.
func (m *Models) Facts(name string) models.Facts {
	if name == "" {
		name = m.settings.Config().Agent.Model
	}
	return m.Finder().FactsFor(name)
}

// Finder returns what finds models in this run's environment.
func (m *Models) Finder() *models.Finder {
	return &models.Finder{Getenv: m.sys.Getenv, Allowed: m.allowed, ReadFile: func(path string) ([]byte, error) {
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
		when := "later"
		if e.RetryAfter > 0 {
			when = "in " + short(e.RetryAfter)
		}
		return "try again " + when + ", or with another --model; retryTime says how long is waited"
	case llm.Network:
		return "is the server running, and the network there?"
	case llm.Cut, llm.TimedOut:
		return "ask again"
	case llm.TooLong:
		return "ask for less at once, or set contextWindow to what the model holds"
	}
	return ""
}

// short writes a time without its parts that are zero, as 1h or 1m30s.
func short(d time.Duration) string {
	text := d.Round(time.Second).String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
