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
	"github.com/agent-base/agent-base/skill"
)

// Limits of a page of a list.
const (
	perPage  = 100       // skills or files
	pageSize = 256 << 10 // bytes of skills; one alone may have more
)

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
	s.offerFiles()
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

// offerFiles says that files of skills can be read. Said again, it tells clients that the resources have changed.
func (s *Server) offerFiles() {
	s.sdk.AddResourceTemplate(&mcp.ResourceTemplate{Name: "skill", URITemplate: "skill://{+path}", Description: "A file of a skill"}, s.readFile)
}

// listSkills answers skills/list.
func (s *Server) listSkills(ctx context.Context, p *listParams) (*skillsResult, error) {
	out := &skillsResult{fresh: present(), Skills: []*skilluri.Entry{}}
	var err error
	out.Next, err = s.each(ctx, p, func(_ *skill.Skill, as *skilluri.Entry) { out.Skills = append(out.Skills, as) })
	return out, err
}

// listResources answers resources/list: with the manifest of each published skill, for clients that do not know the extension.
func (s *Server) listResources(ctx context.Context, cursor string) (*mcp.ListResourcesResult, error) {
	out := &mcp.ListResourcesResult{Cacheable: mcp.Cacheable{TTLMs: freshFor, CacheScope: "private"}, Resources: []*mcp.Resource{}}
	var err error
	out.NextCursor, err = s.each(ctx, &listParams{Cursor: cursor}, func(k *skill.Skill, as *skilluri.Entry) {
		out.Resources = append(out.Resources, &mcp.Resource{URI: as.URI, Name: k.Name(), Description: k.Manifest().Description, MIMEType: kindOf(skilluri.Manifest)})
	})
	return out, err
}

// each calls a function with the skills of a page of the list, and returns the cursor of the next page. Those of high priority come first:
// clients keep the beginning of a long list. A skill that cannot be published, or read, is not in the list.
func (s *Server) each(ctx context.Context, p *listParams, do func(*skill.Skill, *skilluri.Entry)) (next string, err error) {
	c, err := s.o.Catalog(ctx)
	if err != nil {
		return "", err
	}
	all := slices.SortedStableFunc(c.Visible(), func(a, b skill.Entry) int { return cmp.Compare(b.Priority(), a.Priority()) })
	entries, next, err := page(all, p)
	if err != nil {
		return "", err
	}
	size := 0
	for i, e := range entries {
		if e.Server() != "" { // that server publishes it itself
			continue
		}
		k, err := e.Load(ctx)
		if err != nil {
			continue
		}
		as, err := publish(ctx, k)
		if err == nil {
			size += sizeOf(as)
			if i == 0 || size <= pageSize {
				do(k, as)
			}
		}
		_ = k.Close()
		if i > 0 && size > pageSize {
			return strconv.Itoa(slices.Index(all, e)), ctx.Err()
		}
	}
	return next, ctx.Err()
}

// sizeOf returns about how many bytes a skill has in a list.
func sizeOf(e *skilluri.Entry) int {
	n := len(e.URI) + len(e.FrontMatter)
	for _, r := range e.Resources {
		n += len(r.URI) + len(r.Digest) + len(`{"uri":"","digest":"","size":00000000},`)
	}
	return n
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
	err := s.at(ctx, p, func(o *opened) error {
		if o.file != skilluri.Manifest {
			return fs.ErrNotExist
		}
		out = o.as
		return nil
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
		data, err := o.read(req.Params.URI)
		out = &mcp.ResourceContents{URI: req.Params.URI, MIMEType: kindOf(o.file)}
		if utf8.Valid(data) && len(data) > 0 { // an empty text would be no content
			out.Text = string(data)
		} else {
			out.Blob = append([]byte{}, data...)
		}
		return err
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
	err = func() error {
		k, err := load(ctx, c, name)
		if err != nil {
			return err
		}
		defer k.Close()
		as, err := publish(ctx, k)
		if err != nil {
			return err
		}
		return do(&opened{k, file, as})
	}()
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
