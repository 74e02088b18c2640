package grants

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/trust"
)

// SumOf hashes the files of a skill. It returns an error if they cannot be hashed, or if its manifest is not the one that s holds.
func SumOf(ctx context.Context, s *skill.Skill) (dirhash.Sum, error) {
	sum, err := s.Sum(ctx)
	if err != nil {
		return sum, undigested(ctx, s.Canonical(), err)
	}
	return sum, unchanged(s, &sum)
}

// unchanged returns an error unless sum has the manifest that s holds, whose permissions are shown.
func unchanged(s *skill.Skill, sum *dirhash.Sum) error {
	text := sha256.Sum256(s.Text())
	if hashed(s, sum.Files) == hex.EncodeToString(text[:]) {
		return nil
	}
	return &failure.Error{Exit: failure.ExitDenied, Code: "skill_changed", Hint: "try again; if it happens again, find out what writes to its folder", Err: fmt.Errorf("skill %q changed while it was read, so it was not approved", s.Canonical())}
}

// hashed returns the hash of the manifest among files, or "" if there is none. It follows a manifest that is a link, within
// the skill.
func hashed(s *skill.Skill, files []dirhash.File) string {
	name := s.Entry().File()
	for range 8 {
		i := slices.IndexFunc(files, func(f dirhash.File) bool { return f.Path == name })
		switch {
		case i < 0:
			return ""
		case !files[i].Link:
			return files[i].SHA256
		}
		to, err := fs.ReadLink(s.FS(), name)
		text := sha256.Sum256([]byte(to))
		if err != nil || hex.EncodeToString(text[:]) != files[i].SHA256 {
			return ""
		}
		name = path.Join(path.Dir(name), to)
	}
	return ""
}

// undigested returns the error for a skill whose files cannot be hashed, with what to do about it.
func undigested(ctx context.Context, name string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return &failure.Error{Exit: failure.ExitInvalid, Code: "invalid_skill", Err: fmt.Errorf("skill %q cannot be approved, because its files cannot be hashed: %w", name, err),
		Hint: "fix that first: a skill has files and folders only, and links that stay inside it"}
}

// TrustIn returns whether a skill's content may run. Its errors are those of undigested.
func TrustIn(ctx context.Context, e skill.Entry) (skill.Trust, error) {
	t, err := e.Trust(ctx)
	if err != nil {
		return t, undigested(ctx, e.Canonical(), err)
	}
	return t, nil
}

// Hashes returns the files of an approval as a digest has them.
func Hashes(files []trust.File) []dirhash.File {
	out := make([]dirhash.File, len(files))
	for i, f := range files {
		out[i] = dirhash.File{Path: f.Path, SHA256: f.SHA256, Link: f.Link}
	}
	return out
}

// readExts are the extensions of files that are read and not run. A file with another extension, or none, may be a
// program or a part of one, such as a compiled module or a library.
var readExts = strings.Fields(".md .txt .csv .tsv .json .jsonl .yaml .yml .toml .xml .xsd .html .css .svg .png .jpg .jpeg .gif .webp .ico .pdf " +
	".docx .xlsx .pptx .ttf .otf .woff .woff2 .mp3 .mp4 .wav .rst .tex .log .ini .cfg .bin .dat .tmpl .template .j2 .sql")

// MayRun reports whether a file may run or, like the manifest, define what runs. In scripts/, bin/ and tools/, which hold
// scripts, that is every file.
func MayRun(file string) bool {
	top, _, below := strings.Cut(file, "/")
	if below && slices.Contains([]string{"scripts", "bin", "tools"}, strings.ToLower(top)) {
		return true
	}
	return strings.EqualFold(file, "SKILL.md") || !slices.Contains(readExts, strings.ToLower(path.Ext(file)))
}
