package cli

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
)

// versionInfo is the output of version --json.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

type versionOptions struct {
	out *output.Printer

	json bool
}

func newVersionCommand(s *app.Services, run func(context.Context, *versionOptions) error) *cobra.Command {
	o := &versionOptions{out: s.Out}
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  agent version --json",
		Args:    arguments(0, 0, "no arguments"),
		RunE:    func(c *cobra.Command, _ []string) error { return run(c.Context(), o) },
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runVersion(_ context.Context, o *versionOptions) error {
	v := versionInfo{Version: setup.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				v.Commit = s.Value
			case "vcs.modified":
				v.Modified = s.Value == "true"
			}
		}
	}
	if o.json {
		return o.out.JSON(map[string]versionInfo{"version": v})
	}
	o.out.Printf("agent %s", v.Version)
	if v.Commit != "" {
		o.out.Printf(" (%s)", v.Commit[:min(8, len(v.Commit))])
	}
	o.out.Printf("\n")
	return nil
}
