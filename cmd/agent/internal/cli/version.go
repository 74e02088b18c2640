package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// engineVersion is this program's own version (semver), which min_ and max_agent_base_version are compared with (R27).
const engineVersion = "0.1.0"

// versionInfo is the output of version --json.
type versionInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"` // built from a tree with uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func versionCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  agent version --json",
		Args:    arguments(0, 0, "no argument"),
		RunE:    func(*cobra.Command, []string) error { return a.version(json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func (a *app) version(json bool) error {
	v := versionInfo{Version: engineVersion, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
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
	if json {
		return a.printJSON(map[string]versionInfo{"version": v})
	}
	a.ui.Printf("agent %s", v.Version)
	if v.Commit != "" {
		a.ui.Printf(" (%s)", v.Commit[:min(8, len(v.Commit))])
	}
	a.ui.Printf("\n")
	return nil
}
