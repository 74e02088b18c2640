package cli

import (
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/trace"
)

// tracer returns where the engine's events go: to stderr as log lines with --verbose, else nowhere.
// Both handlers quote what a terminal would obey.
func (a *app) tracer() trace.Tracer {
	if !a.flags.verbose {
		return nil
	}
	o := &slog.HandlerOptions{Level: slog.LevelDebug}
	if a.flags.logFormat == "json" {
		return trace.Log(slog.New(slog.NewJSONHandler(a.ui.Err, o)))
	}
	return trace.Log(slog.New(slog.NewTextHandler(a.ui.Err, o)))
}

func checkLogFormat(format string) error {
	switch format {
	case "text", "json":
		return nil
	}
	return usage(fmt.Errorf("unknown log format %q", format), "use text or json")
}
