package skillsource

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/content"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// errDiffers is the error for a file that is not what the server's list says, or not in it. Nothing of it is used. The skill has changed on
// its server, or the server is wrong; loading it again tells which.
var errDiffers = errors.New("it is not what the server published")

// errDynamic is the error for the digest of a skill whose content the server makes at each read: it cannot be approved.
var errDynamic = errors.New("its server makes its content at each read, so it has no digest that could be approved")

// perRead is how long a server has for one file.
const perRead = 30 * time.Second

// tree is the files of a skill. It holds the entry with which it was opened, or which the server gave when the manifest was read.
type tree struct {
	s      *Source
	ctx    context.Context
	cancel context.CancelFunc

	mu       sync.Mutex
	entry    *skilluri.Entry
	files    map[string][]fs.DirEntry // by folder
	manifest []byte                   // of a dynamic skill, nil until it was read
}

func (s *Source) open(ctx context.Context, e *skilluri.Entry) *tree {
	t := &tree{s: s}
	t.ctx, t.cancel = context.WithCancel(context.WithoutCancel(ctx))
	context.AfterFunc(ctx, func() {
		if errors.Is(ctx.Err(), context.Canceled) { // a deadline is that of the call that opens the skill
			t.cancel()
		}
	})
	t.hold(s.latest(e))
	return t
}

// hold takes an entry. Nobody else has the tree yet, or t.mu is held.
func (t *tree) hold(e *skilluri.Entry) {
	t.entry, t.files = e, folders(e)
}

func (t *tree) held() *skilluri.Entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.entry
}

// Close ends what is being read.
func (t *tree) Close() error {
	t.cancel()
	return nil
}

// Sum returns the digest of the files as the entry has them. No file with another content can be read.
func (t *tree) Sum(ctx context.Context) (skill.Sum, error) {
	e := t.held()
	if err := ctx.Err(); err != nil {
		return skill.Sum{}, err
	}
	if e.Dynamic() {
		return skill.Sum{}, errDynamic
	}
	var names []string
	for _, r := range e.Resources {
		names = append(names, r.File())
	}
	own := content.Own(names)
	sum := skill.Sum{Left: len(names) - len(own)}
	for _, r := range e.Resources {
		if own[r.File()] {
			sum.Files = append(sum.Files, skill.SumFile{Path: r.File(), Size: r.Size, SHA256: r.Hash()})
		}
	}
	sum.Digest = dirhash.Of(sum.Files, nil)
	return sum, nil
}

// ReadManifest reads the manifest, and compares its front matter with that of the entry. If it differs, the server is asked for the entry
// as it is now.
func (t *tree) ReadManifest(string) ([]byte, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	text, err := t.readManifest()
	if errors.Is(err, errDiffers) {
		ctx, cancel := context.WithTimeout(t.ctx, perRead)
		defer cancel()
		if now, e := t.s.get(ctx, t.entry.URI); e == nil && !now.Same(t.entry) {
			t.hold(now)
			if text, err = t.readManifest(); err == nil {
				t.s.learn(now)
			}
		}
	}
	if err == nil {
		return text, nil
	}
	p := manifest.Problem{Code: "server-skill-unreadable", Severity: manifest.SeverityError, Fatal: true, File: "mcp:" + t.s.o.Label + "/" + t.entry.Path(),
		Message: err.Error(), Cure: "see that the server runs, and try again"}
	if errors.Is(err, errDiffers) {
		p.Code, p.Cure = "server-skill-differs", "nothing of it is used; tell who runs the server"
	}
	return nil, &skill.BrokenError{Name: path.Base(t.entry.Path()), Problems: []manifest.Problem{p}, Err: err}
}

// readManifest reads the manifest once.
func (t *tree) readManifest() ([]byte, error) {
	if t.manifest != nil {
		return t.manifest, nil
	}
	var text []byte
	var err error
	if t.entry.Dynamic() {
		ctx, cancel := context.WithTimeout(t.ctx, perRead)
		defer cancel()
		text, err = t.s.server.Read(ctx, t.entry.URI, manifest.MaxManifest)
	} else {
		text, err = t.content(t.entry, skilluri.Manifest)
	}
	if err != nil {
		return nil, err
	}
	front, err := skilluri.FrontMatter(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errDiffers, err)
	}
	switch field, err := skilluri.Differs(front, t.entry.FrontMatter); {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", errDiffers, err)
	case field != "":
		return nil, fmt.Errorf("%w: the field %q of its front matter is another one in the server's list", errDiffers, field)
	}
	if t.entry.Dynamic() {
		t.manifest = text
	}
	return text, nil
}

// content returns a file of an entry, from the cache or the server.
func (t *tree) content(e *skilluri.Entry, file string) ([]byte, error) {
	r, ok := e.Find(file)
	if !ok {
		return nil, fmt.Errorf("%w: it is not among the files that the server listed", fs.ErrNotExist)
	}
	if data, ok := t.s.cached(e, r); ok {
		return data, nil
	}
	ctx, cancel := context.WithTimeout(t.ctx, perRead)
	defer cancel()
	data, err := t.s.server.Read(ctx, r.URI, r.Size)
	if err != nil {
		return nil, fmt.Errorf("the MCP server %s did not give %s: %w", t.s.o.Label, file, err)
	}
	if err := is(r, data); err != nil {
		return nil, err
	}
	return data, t.s.keep(e, r, data)
}

// is returns an error for a content that is not that of a file of an entry.
func is(r *skilluri.Resource, data []byte) error {
	if int64(len(data)) != r.Size {
		return fmt.Errorf("%w: %s has %d bytes, and %d in the server's list", errDiffers, r.File(), len(data), r.Size)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != r.Hash() {
		return fmt.Errorf("%w: %s has the digest sha256:%x, and %s in the server's list", errDiffers, r.File(), sum, r.Digest)
	}
	return nil
}
