package cli

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/skill"
)

// resourceJSON is the output of read --json. A binary file has its content in base64.
type resourceJSON struct {
	Skill       string `json:"skill"`
	Path        string `json:"path"`
	Size        int    `json:"size"`
	SHA256      string `json:"sha256"`
	ContentType string `json:"content_type"`
	Binary      bool   `json:"binary,omitempty"`
	Content     string `json:"content"`
}

func readCommand(a *app) *cobra.Command {
	var json bool
	c := &cobra.Command{
		Use:   "read NAME [PATH]",
		Short: "Print a skill's SKILL.md or another of its files",
		Long: `Print the SKILL.md of a skill, or the file at PATH below its folder, scripts too. PATH may begin with "./", and
has no other disguise. A terminal sees foreign control characters as visible escapes; a pipe or a file gets the bytes
as they are.`,
		Example: `  agent skill read kalshi-markets
  agent skill read kalshi-markets scripts/status.py`,
		Args:              arguments(1, 2, "the name of a skill, and perhaps a path in it"),
		ValidArgsFunction: a.completeSkills,
		RunE:              func(c *cobra.Command, args []string) error { return a.read(c.Context(), args, json) },
	}
	c.Flags().BoolVar(&json, "json", false, "print JSON")
	return c
}

func (a *app) read(ctx context.Context, args []string, json bool) error {
	s, err := a.load(ctx, args[0])
	if err != nil {
		return err
	}
	defer s.Close()
	path, res := "SKILL.md", &skill.Resource{Data: s.Text(), ContentType: "text/markdown"}
	if len(args) == 2 {
		path = strings.TrimPrefix(args[1], "./") // as the tool skill_read does
		if res, err = s.Read(path); err != nil {
			return err
		}
	}
	if !json {
		if res.Binary && a.ui.OutTerminal {
			return usage(fmt.Errorf("%q is a binary file", path), "write it to a file: agent skill read NAME PATH > FILE")
		}
		return a.ui.Foreign(string(res.Data))
	}
	sum := sha256.Sum256(res.Data)
	out := resourceJSON{Skill: s.Name(), Path: path, Size: len(res.Data), SHA256: hex.EncodeToString(sum[:]),
		ContentType: res.ContentType, Binary: res.Binary, Content: string(res.Data)}
	if res.Binary {
		out.Content = base64.StdEncoding.EncodeToString(res.Data)
	}
	return a.printJSON(map[string]resourceJSON{"resource": out})
}
