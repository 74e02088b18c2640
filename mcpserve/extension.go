package mcpserve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"path"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/agent-base/agent-base/internal/skilluri"
)

// perPage is how many skills or files a page of a list has.
const perPage = 100

// What the methods of the extension take and return.
type (
	listParams struct {
		mcp.ParamsBase
		URI    string `json:"uri"`
		Cursor string `json:"cursor"`
	}
	fresh struct {
		mcp.ResultBase
		ResultType string `json:"resultType"`
		TTL        int    `json:"ttlMs"`
		Scope      string `json:"cacheScope"`
	}
	skillsResult struct {
		fresh
		Skills []*skilluri.Entry `json:"skills"`
		Next   string            `json:"nextCursor,omitempty"`
	}
	skillResult struct {
		fresh
		Skill *skilluri.Entry `json:"skill"`
	}
	folderResult struct {
		fresh
		Resources []*mcp.Resource `json:"resources"`
		Next      string          `json:"nextCursor,omitempty"`
	}
)

func present() fresh { return fresh{ResultType: "complete", TTL: freshFor, Scope: "private"} }

// extend adds the methods of the extension.
func (s *Server) extend() error {
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{Name: "whole-result", URITemplate: wholeScheme + "{id}", Description: "A result that was cut"}, s.readWhole)
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{Name: "skill", URITemplate: "skill://{+path}", Description: "A file of a skill"}, s.readFile)
	return errors.Join(
		mcp.AddReceivingCustomMethod(s.sdk, "skills/list", func(ctx context.Context, _ *mcp.ServerSession, p *listParams) (*skillsResult, error) {
			return s.listSkills(ctx, p)
		}),
		mcp.AddReceivingCustomMethod(s.sdk, "skills/get", func(ctx context.Context, _ *mcp.ServerSession, p *listParams) (*skillResult, error) {
			return s.getSkill(ctx, p)
		}),
		mcp.AddReceivingCustomMethod(s.sdk, "resources/directory/read", func(ctx context.Context, _ *mcp.ServerSession, p *listParams) (*folderResult, error) {
			return s.readFolder(ctx, p)
		}),
	)
}

// listSkills answers skills/list. A skill that cannot be published, or read, is not in the list.
func (s *Server) listSkills(ctx context.Context, p *listParams) (*skillsResult, error) {
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return nil, err
	}
	entries, next, err := page(slices.Collect(c.Visible()), p)
	if err != nil {
		return nil, err
	}
	out := &skillsResult{fresh: present(), Skills: []*skilluri.Entry{}, Next: next}
	for _, e := range entries {
		k, err := e.Load(ctx)
		if err != nil {
			continue
		}
		if one, err := publish(ctx, k); err == nil {
			out.Skills = append(out.Skills, one)
		}
		_ = k.Close()
	}
	return out, ctx.Err()
}

// page returns a page of a list, and the cursor of the next one.
func page[T any](all []T, p *listParams) (some []T, next string, err error) {
	from := 0
	if p != nil && p.Cursor != "" {
		if from, err = strconv.Atoi(p.Cursor); err != nil || from < 0 || from > len(all) {
			return nil, "", invalid("unknown cursor")
		}
	}
	to := min(from+perPage, len(all))
	if to < len(all) {
		next = strconv.Itoa(to)
	}
	return all[from:to], next, nil
}

// getSkill answers skills/get.
func (s *Server) getSkill(ctx context.Context, p *listParams) (*skillResult, error) {
	var out *skilluri.Entry
	err := s.at(ctx, p, func(o *opened) (err error) {
		if o.file != skilluri.Manifest {
			return fs.ErrNotExist
		}
		out, err = publish(ctx, o.Skill)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &skillResult{present(), out}, nil
}

// readFolder answers resources/directory/read.
func (s *Server) readFolder(ctx context.Context, p *listParams) (*folderResult, error) {
	out := &folderResult{fresh: present(), Resources: []*mcp.Resource{}}
	err := s.at(ctx, p, func(o *opened) error {
		list, err := fs.ReadDir(o.FS(), o.file)
		if err != nil {
			return err
		}
		list, out.Next, err = page(list, p)
		for _, d := range list {
			file := path.Join(o.file, d.Name())
			r := &mcp.Resource{URI: skilluri.Of(o.Name(), file), Name: d.Name(), MIMEType: kindOf(file)}
			if d.IsDir() {
				r.MIMEType = "inode/directory"
			}
			out.Resources = append(out.Resources, r)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// readFile answers resources/read.
func (s *Server) readFile(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	var out *mcp.ResourceContents
	err := s.at(ctx, &listParams{URI: req.Params.URI}, func(o *opened) error {
		if _, err := publish(ctx, o.Skill); err != nil {
			return err
		}
		r, err := o.Read(o.file)
		if err != nil {
			return err
		}
		out = &mcp.ResourceContents{URI: req.Params.URI, MIMEType: kindOf(o.file)}
		if utf8.Valid(r.Data) && len(r.Data) > 0 { // an empty text would be no content
			out.Text = string(r.Data)
		} else {
			out.Blob = append([]byte{}, r.Data...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{out}}, nil
}

// kindOf returns the media type of a file by its name.
func kindOf(file string) string {
	if path.Ext(file) == ".md" {
		return "text/markdown"
	}
	return cmp.Or(mime.TypeByExtension(path.Ext(file)), "text/plain")
}

// at opens the skill that an address is about. What is not there, not published or hidden has one answer.
func (s *Server) at(ctx context.Context, p *listParams, do func(*opened) error) error {
	if p == nil {
		return invalid("uri is missing")
	}
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return err
	}
	name, file, ok := skilluri.Parse(p.URI)
	if !ok {
		return invalid(fmt.Sprintf("unknown resource %q", p.URI))
	}
	k, err := load(ctx, c, name)
	if err == nil {
		defer k.Close()
		err = do(&opened{k, file})
	}
	if err == nil || isRPC(err) || ctx.Err() != nil {
		return err
	}
	return invalid(fmt.Sprintf("unknown resource %q", p.URI))
}

// invalid returns the error for parameters that name nothing.
func invalid(text string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: text}
}

func isRPC(err error) bool {
	var rpc *jsonrpc.Error
	return errors.As(err, &rpc)
}
