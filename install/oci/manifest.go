package oci

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/opencontainers/go-digest"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
)

// Types of artifacts, configurations and layers. docs/distribution.md has the list.
const (
	skillArtifact      = "application/vnd.agentskills.skill.v1"
	skillConfig        = "application/vnd.agentskills.skill.config.v1+json"
	skillContent       = "application/vnd.agentskills.skill.content.v1.tar+gzip"
	collectionArtifact = "application/vnd.agentskills.collection.v1"
	catalogArtifact    = "application/vnd.agentskills.catalog.v1" // an older name of it
	toolHiveArtifact   = "dev.toolhive.skills.v1"

	dockerManifest = "application/vnd.docker.distribution.manifest.v2+json"
	dockerList     = "application/vnd.docker.distribution.manifest.list.v2+json"
	dockerConfig   = "application/vnd.docker.container.image.v1+json"
	dockerLayer    = "application/vnd.docker.image.rootfs.diff.tar.gzip"
)

// manifestTypes are what a registry is asked for.
func manifestTypes() []string {
	return []string{ocispec.MediaTypeImageManifest, ocispec.MediaTypeImageIndex, dockerManifest, dockerList}
}

// manifest is a manifest or an index.
type manifest struct {
	SchemaVersion int                  `json:"schemaVersion"`
	MediaType     string               `json:"mediaType"`
	ArtifactType  string               `json:"artifactType"`
	Config        *ocispec.Descriptor  `json:"config"`
	Layers        []ocispec.Descriptor `json:"layers"`
	Manifests     []ocispec.Descriptor `json:"manifests"`
	digest        digest.Digest
}

// kind is what the manifest is of: its artifact type or, as in older ones, the type of its configuration.
func (m *manifest) kind() string {
	if m.ArtifactType == "" && m.Config != nil {
		return m.Config.MediaType
	}
	return m.ArtifactType
}

// isIndex reports whether it lists other manifests.
func (m *manifest) isIndex() bool { return m.Manifests != nil }

// getManifest gets the manifest that a tag or a digest names.
func getManifest(ctx context.Context, repo *connection, reference string) (*manifest, error) {
	desc, body, err := repo.Manifests().FetchReference(ctx, reference)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	if desc.Size > maxManifest {
		return nil, fmt.Errorf("%w: its manifest has %d bytes, more than %d", errNotSkill, desc.Size, maxManifest)
	}
	raw, err := io.ReadAll(io.LimitReader(body, maxManifest+1))
	if err != nil {
		return nil, err
	}
	if len(raw) > maxManifest {
		return nil, fmt.Errorf("%w: its manifest has more than %d bytes", errNotSkill, maxManifest)
	}
	is := digest.FromBytes(raw)
	if is != desc.Digest || strings.Contains(reference, ":") && is.String() != reference {
		return nil, fmt.Errorf("%w: the manifest of %s is %s", ErrDigest, clip(reference), is)
	}
	m, err := parseManifest(raw, desc.MediaType)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNotSkill, err)
	}
	m.digest = is
	return m, nil
}

// parseManifest reads a manifest or an index. media is the type that the registry says it has.
func parseManifest(raw []byte, media string) (*manifest, error) {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, fmt.Errorf("its manifest cannot be read: %s", clip(err.Error()))
	}
	index := media == ocispec.MediaTypeImageIndex || media == dockerList
	switch {
	case !slices.Contains(manifestTypes(), media):
		return nil, fmt.Errorf("its manifest has the media type %q", clip(media))
	case m.SchemaVersion != 2:
		return nil, fmt.Errorf("its manifest has version %d, not 2", m.SchemaVersion)
	case m.MediaType != "" && m.MediaType != media:
		return nil, fmt.Errorf("its manifest says %q, and the registry says %q", clip(m.MediaType), media)
	case index != m.isIndex() || index && (m.Layers != nil || m.Config != nil):
		return nil, fmt.Errorf("its manifest can be read as an index and as one artifact")
	case len(m.Layers) > maxLayers:
		return nil, fmt.Errorf("it has %d layers, more than %d", len(m.Layers), maxLayers)
	case len(m.Manifests) > maxSkills:
		return nil, fmt.Errorf("it lists %d artifacts, more than %d", len(m.Manifests), maxSkills)
	}
	for _, d := range slices.Concat(m.Layers, m.Manifests) {
		if err := checkDescriptor(d); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// isDigest reports whether a text is a SHA-256 digest.
func isDigest(text string) bool {
	d := digest.Digest(text)
	return d.Validate() == nil && d.Algorithm() == digest.SHA256
}

// checkDescriptor refuses what names no content.
func checkDescriptor(d ocispec.Descriptor) error {
	if !isDigest(d.Digest.String()) {
		return fmt.Errorf("it names content by %q, not by a SHA-256 digest", clip(d.Digest.String()))
	}
	if d.Size < 0 || d.Size > maxDownload {
		return fmt.Errorf("it names content of %d bytes", d.Size)
	}
	return nil
}

// content returns the layers of an artifact that have files of the skill.
func (m *manifest) content() ([]ocispec.Descriptor, error) {
	var layers []ocispec.Descriptor
	switch m.kind() {
	case skillArtifact, skillConfig:
		for _, l := range m.Layers {
			if l.MediaType == skillContent {
				layers = append(layers, l)
			}
		}
		if len(layers) != 1 {
			return nil, fmt.Errorf("%w: it has %d layers of type %q, not 1%s", errNotSkill, len(layers), skillContent, others(m.Layers))
		}
	case toolHiveArtifact, ocispec.MediaTypeImageConfig, dockerConfig:
		for _, l := range m.Layers {
			if !isTar(l.MediaType) && !isTarGz(l.MediaType) {
				return nil, fmt.Errorf("%w: it has a layer of type %q, which is not supported", errNotSkill, clip(l.MediaType))
			}
			layers = append(layers, l)
		}
		if len(layers) == 0 {
			return nil, fmt.Errorf("%w: it has no layers", errNotSkill)
		}
	default:
		return nil, fmt.Errorf("%w: its type is %q", errNotSkill, clip(m.kind()))
	}
	return layers, nil
}

func isTarGz(media string) bool {
	return media == skillContent || media == dockerLayer || media == ocispec.MediaTypeImageLayerGzip
}

func isTar(media string) bool { return media == ocispec.MediaTypeImageLayer }

// others names the first layer that is of another type.
func others(layers []ocispec.Descriptor) string {
	for _, l := range layers {
		if l.MediaType != skillContent {
			return fmt.Sprintf("; it has one of type %q", clip(l.MediaType))
		}
	}
	return ""
}

// members returns the artifacts of an index that are wanted: all of a collection, and one of an artifact that is there for
// several platforms. A skill is the same for all of them; linux/amd64 is taken if it is there.
func (m *manifest) members() ([]ocispec.Descriptor, error) {
	if len(m.Manifests) == 0 {
		return nil, fmt.Errorf("%w: it lists nothing", errNotSkill)
	}
	if m.ArtifactType == collectionArtifact || m.ArtifactType == catalogArtifact {
		return unique(m.Manifests), nil
	}
	var skills, images []ocispec.Descriptor
	for _, d := range m.Manifests {
		switch {
		case d.ArtifactType == skillArtifact:
			skills = append(skills, d)
		case d.Platform != nil && d.Platform.OS == "linux" && d.Platform.Architecture == "amd64":
			images = slices.Insert(images, 0, d)
		case d.Platform == nil || d.Platform.OS != "unknown": // the platform of attestations
			images = append(images, d)
		}
	}
	switch {
	case m.ArtifactType == "" && len(skills) > 0:
		return unique(skills), nil
	case m.ArtifactType != "" && m.ArtifactType != toolHiveArtifact && m.ArtifactType != skillArtifact:
		return nil, fmt.Errorf("%w: its type is %q", errNotSkill, clip(m.ArtifactType))
	}
	images = append(skills, images...)
	if len(images) == 0 {
		return nil, fmt.Errorf("%w: it lists no image", errNotSkill)
	}
	return images[:1], nil
}

// unique drops artifacts that are listed again.
func unique(all []ocispec.Descriptor) []ocispec.Descriptor {
	var out []ocispec.Descriptor
	seen := map[digest.Digest]bool{}
	for _, d := range all {
		if !seen[d.Digest] {
			seen[d.Digest] = true
			out = append(out, d)
		}
	}
	return out
}
