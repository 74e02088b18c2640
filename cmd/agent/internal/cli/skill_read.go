package cli

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/agent-base/agent-base/cmd/agent/internal/app"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/cmd/agent/internal/library"
	"github.com/agent-base/agent-base/cmd/agent/internal/output"
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

type readOptions struct {
	out    *output.Printer
	skills *library.Library

	name, path string
	json       bool
}

func newReadCommand(s *app.Services, run func(context.Context, *readOptions) error) *cobra.Command {
	o := &readOptions{out: s.Out, skills: s.Skills}
	c := &cobra.Command{
		Use:   "read NAME [PATH]",
		Short: "Print a skill's SKILL.md or another of its files",
		Long: `Print the SKILL.md of a skill, or the file at PATH below its folder, including scripts. PATH is plain: it may
begin with "./". A terminal shows control characters as visible escapes; a pipe or a file gets the bytes unchanged.`,
		Example: `  agent skill read kalshi-markets
  agent skill read kalshi-markets scripts/status.py`,
		Args:              arguments(1, 2, "the name of a skill, and perhaps a path in it"),
		ValidArgsFunction: completeFiles(s),
		RunE: func(c *cobra.Command, args []string) error {
			o.name = args[0]
			if len(args) == 2 {
				o.path = args[1]
			}
			return run(c.Context(), o)
		},
	}
	c.Flags().BoolVar(&o.json, "json", false, "print JSON")
	return c
}

func runRead(ctx context.Context, o *readOptions) error {
	s, err := o.skills.Load(ctx, o.name)
	if err != nil {
		return err
	}
	defer s.Close()
	path, res := "SKILL.md", &skill.Resource{Data: s.Text(), ContentType: "text/markdown"}
	if o.path != "" {
		path = strings.TrimPrefix(o.path, "./") // as the tool skill_read does
		if res, err = s.Read(path); err != nil {
			return err
		}
	}
	if !o.json {
		if res.Binary && o.out.OutTerminal {
			return failure.Usage(fmt.Errorf("%q is a binary file", path), "write it to a file: agent skill read NAME PATH > FILE")
		}
		return o.out.Foreign(string(res.Data))
	}
	sum := sha256.Sum256(res.Data)
	out := resourceJSON{Skill: s.Name(), Path: path, Size: len(res.Data), SHA256: hex.EncodeToString(sum[:]),
		ContentType: res.ContentType, Binary: res.Binary, Content: string(res.Data)}
	if res.Binary {
		out.Content = base64.StdEncoding.EncodeToString(res.Data)
	}
	return o.out.JSON(map[string]resourceJSON{"resource": out})
}
