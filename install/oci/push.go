package oci

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"

	"github.com/opencontainers/go-digest"
	"github.com/opencontainers/image-spec/specs-go"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"

	"github.com/agent-base/agent-base/install/source"
	"github.com/agent-base/agent-base/internal/pack"
)

// Skill is what Push stores.
type Skill struct {
	FS fs.FS // its folder, as pack.Pack takes it

	// What its manifest says. Name must be the name of a folder.
	Name          string
	Description   string
	Version       string
	License       string
	Compatibility string
	AllowedTools  []string
	Metadata      map[string]string
}

// PushRequest is the argument of Push.
type PushRequest struct {
	// To is where to: the kind OCI, URL "registry/repository" and Want a tag. Without a tag it is "latest".
	To source.Ref

	// Skills are one skill or, with the name of a Collection, several ones that are found together.
	Skills     []Skill
	Collection string
}

// Pushed is what Push has stored.
type Pushed struct {
	Digest   string   // of the manifest: "sha256:" and 64 hexadecimal digits
	Tag      string   // that it has now
	Excluded []string // files that were left out, with the name of their skill as the folder; folders end with a slash
}

// Push stores skills and gives them a tag. A blob that the registry has is not sent again. What was stored before an error stays,
// without a tag.
func (c *Client) Push(ctx context.Context, r *PushRequest) (*Pushed, error) {
	if err := r.check(); err != nil {
		return nil, fmt.Errorf("oci: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, c.o.timeout)
	defer cancel()
	repo, err := c.connect(r.To.URL)
	if err != nil {
		return nil, fmt.Errorf("oci: %w", err)
	}
	defer repo.close()
	p := &pusher{repo: repo, r: r, done: &Pushed{Tag: cmp.Or(r.To.Want, latest)}}
	if err := p.push(ctx); err != nil {
		return nil, fmt.Errorf("oci://%s: %w", r.To.URL, repo.explain(err))
	}
	return p.done, nil
}

func (r *PushRequest) check() error {
	switch {
	case r.To.Kind != source.OCI:
		return fmt.Errorf("%v is not a kind of source that is in a registry", r.To.Kind)
	case isDigest(r.To.Want):
		return errors.New("a push needs a tag, not a digest")
	case len(r.Skills) == 0 || len(r.Skills) > maxSkills:
		return fmt.Errorf("a push is of 1 to %d skills, not %d", maxSkills, len(r.Skills))
	case len(r.Skills) > 1 && r.Collection == "":
		return errors.New("several skills need the name of a collection")
	}
	seen := map[string]bool{}
	for _, s := range r.Skills {
		if seen[s.Name] {
			return fmt.Errorf("two skills have the name %q", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}

// pusher stores what a request has.
type pusher struct {
	repo *connection
	r    *PushRequest
	done *Pushed
}

func (p *pusher) push(ctx context.Context) error {
	var members []ocispec.Descriptor
	for i := range p.r.Skills {
		manifest, err := p.skill(ctx, &p.r.Skills[i])
		if err != nil {
			return err
		}
		if p.r.Collection == "" {
			return p.tag(ctx, ocispec.MediaTypeImageManifest, manifest)
		}
		desc := describe(ocispec.MediaTypeImageManifest, manifest)
		if err := p.store(ctx, desc, manifest); err != nil {
			return err
		}
		desc.ArtifactType = skillArtifact
		desc.Annotations = map[string]string{annotationName: p.r.Skills[i].Name}
		members = append(members, desc)
	}
	index, err := json.Marshal(ocispec.Index{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageIndex,
		ArtifactType: collectionArtifact,
		Manifests:    members,
		Annotations:  present(map[string]string{ocispec.AnnotationTitle: p.r.Collection, annotationCollection: p.r.Collection}),
	})
	if err != nil {
		return err
	}
	return p.tag(ctx, ocispec.MediaTypeImageIndex, index)
}

// skill stores the configuration and the layer of a skill, and returns its manifest.
func (p *pusher) skill(ctx context.Context, s *Skill) ([]byte, error) {
	if s.FS == nil || s.Name == "" {
		return nil, fmt.Errorf("skill %q has no name or no files", s.Name)
	}
	layer, err := pack.Pack(ctx, s.FS, &pack.Options{Folder: s.Name})
	if err != nil {
		return nil, fmt.Errorf("skill %q: %w", s.Name, err)
	}
	for _, name := range layer.Excluded {
		p.done.Excluded = append(p.done.Excluded, s.Name+"/"+name)
	}
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	m := ocispec.Manifest{
		Versioned:    specs.Versioned{SchemaVersion: 2},
		MediaType:    ocispec.MediaTypeImageManifest,
		ArtifactType: skillArtifact,
		Config:       describe(skillConfig, config),
		Layers:       []ocispec.Descriptor{describe(skillContent, layer.Data)},
		Annotations:  present(s.annotations()),
	}
	if err := p.store(ctx, m.Config, config); err != nil {
		return nil, err
	}
	if err := p.store(ctx, m.Layers[0], layer.Data); err != nil {
		return nil, err
	}
	return json.Marshal(m)
}

// tag stores a manifest or an index under the tag.
func (p *pusher) tag(ctx context.Context, media string, content []byte) error {
	desc := describe(media, content)
	p.done.Digest = desc.Digest.String()
	return p.repo.PushReference(ctx, desc, bytes.NewReader(content), p.done.Tag)
}

// store stores a content that is not there yet.
func (p *pusher) store(ctx context.Context, desc ocispec.Descriptor, content []byte) error {
	there, err := p.repo.Exists(ctx, desc)
	if err != nil || there {
		return err
	}
	return p.repo.Push(ctx, desc, bytes.NewReader(content))
}

func describe(media string, content []byte) ocispec.Descriptor {
	return ocispec.Descriptor{MediaType: media, Digest: digest.FromBytes(content), Size: int64(len(content))}
}

// Names of annotations.
const (
	annotationName          = "io.agentskills.skill.name"
	annotationCompatibility = "io.agentskills.skill.compatibility"
	annotationCollection    = "io.agentskills.collection.name"
)

func (s *Skill) annotations() map[string]string {
	return map[string]string{
		ocispec.AnnotationTitle:       s.Name,
		ocispec.AnnotationVersion:     s.Version,
		ocispec.AnnotationDescription: s.Description,
		ocispec.AnnotationLicenses:    s.License,
		annotationName:                s.Name,
		annotationCompatibility:       s.Compatibility,
	}
}

// present leaves the empty annotations out.
func present(all map[string]string) map[string]string {
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// config returns the configuration of an artifact: what its manifest says, for readers that do not open the layer.
func (s *Skill) config() ([]byte, error) {
	return json.Marshal(struct {
		SchemaVersion string            `json:"schemaVersion"`
		Name          string            `json:"name"`
		Version       string            `json:"version,omitempty"`
		Description   string            `json:"description,omitempty"`
		License       string            `json:"license,omitempty"`
		Compatibility string            `json:"compatibility,omitempty"`
		AllowedTools  []string          `json:"allowedTools,omitempty"`
		Metadata      map[string]string `json:"metadata,omitempty"`
	}{"1", s.Name, s.Version, s.Description, s.License, s.Compatibility, s.AllowedTools, s.Metadata})
}
