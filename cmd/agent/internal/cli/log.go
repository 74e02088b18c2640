package cli

import (
	"fmt"
	"log/slog"

	"github.com/agent-base/agent-base/trace"
)

// tracer returns where the engine's events go: to stderr as log lines with --verbose, else nowhere.
// The text handler quotes what a terminal would obey; that of JSON leaves some of it, and writes a whole line at once.
func (a *app) tracer() trace.Tracer {
	if !a.flags.verbose {
		return nil
	}
	o := &slog.HandlerOptions{Level: slog.LevelDebug}
	if a.flags.logFormat == "json" {
		return trace.Log(slog.New(slog.NewJSONHandler(shown{a.ui.Err}, o)))
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
