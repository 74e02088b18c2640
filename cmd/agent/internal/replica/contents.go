package replica

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/fleet/content"
	"github.com/agent-base/agent-base/internal/place"
	"github.com/agent-base/agent-base/internal/store"
	"github.com/agent-base/agent-base/skill"
)

const (
	fetchPause = 10 * time.Second // before a content is tried again
	unnamed    = 10 * time.Minute // after which a content that no list names is removed: before that it may be about to be listed
)

// listed is the list of installed skills. The fleet gets the content of each before the list names it, if this machine has it. What the list no
// longer names is removed.
type listed struct{ *doc }

// Transform changes the list.
func (d *listed) Transform(ctx context.Context, edit document.Edit) error {
	var had, has map[string]string
	err := d.doc.Transform(ctx, func(old []byte) (c document.Change, err error) {
		if c, err = edit(old); err != nil || c.Content == nil {
			had, has = nil, nil
			return c, err
		}
		had, has = named(old), named(c.Content)
		return c, d.r.offer(ctx, has, had)
	})
	if err != nil {
		return err
	}
	if err := d.r.offer(ctx, has, had); err != nil { // another process may have removed one meanwhile
		return err
	}
	for digest := range had {
		if has[digest] != "" {
			continue
		}
		s, err := d.r.open(ctx)
		if err == nil {
			err = s.DropContent(ctx, digest, 0)
		}
		if err != nil {
			return fmt.Errorf("the list is changed, but the fleet still has a content that it named: %w", err) // Tidy removes it
		}
	}
	return nil
}

// named returns the contents that a list names: the names of their skills, by digest.
func named(list []byte) map[string]string {
	type version struct{ Digest string }
	var l struct {
		Skills []struct {
			Name string
			version
			Previous []version
		}
	}
	_ = json.Unmarshal(list, &l) // what is damaged names nothing, and is refused where it is read
	out := map[string]string{}
	for _, e := range l.Skills {
		for _, v := range append(e.Previous, e.version) {
			out[v.Digest] = e.Name
		}
	}
	delete(out, "") // a link
	return out
}

func (r *Replica) store() *store.Dir { return &store.Dir{Root: r.o.Installed} }

// offer gives the fleet the contents of this machine, but for those of had.
func (r *Replica) offer(ctx context.Context, all, had map[string]string) error {
	for digest, name := range all {
		path, err := r.store().Path(name, digest)
		if had[digest] != "" || err != nil {
			continue
		}
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			continue
		}
		s, err := r.open(ctx)
		if err != nil {
			return err
		}
		err = s.PutContent(ctx, digest, func(w io.Writer) error {
			if err := store.Verify(ctx, path, digest); err != nil {
				return err
			}
			at, err := content.At(ctx, path, skill.ID{Layer: place.Version(digest), Name: name, Digest: digest})
			if err != nil {
				return err
			}
			defer at.Close()
			return content.Pack(ctx, w, at)
		})
		if err != nil {
			return fmt.Errorf("the content of skill %q is not shared: %w", name, err)
		}
	}
	return nil
}

// fetch brings the content of a listed skill to this machine.
func (r *Replica) fetch(ctx context.Context, e *registry.Entry) error {
	r.fetching.Lock()
	defer r.fetching.Unlock()
	if _, err := os.Stat(e.InstalledPath); err == nil { // another call has brought it
		return nil
	}
	if last := r.tried[e.Digest]; time.Since(last.at) < fetchPause {
		return last.err
	}
	s, err := r.open(ctx)
	if err == nil {
		err = s.GetContent(ctx, e.Digest, func(from io.Reader) error { return content.Keep(ctx, r.store(), e.Name, e.Digest, from, nil) })
	}
	if err == nil {
		delete(r.tried, e.Digest)
	} else if ctx.Err() == nil { // else only this call has given up
		r.tried[e.Digest] = attempt{time.Now(), err}
	}
	return err
}

// attempt is the last one to do something.
type attempt struct {
	at  time.Time
	err error
}

// Tidy gives the fleet those contents that its list names and only this machine has, and removes those that the list does not name.
func (r *Replica) Tidy(ctx context.Context) error {
	s, err := r.open(ctx)
	if err != nil {
		return err
	}
	there, err := s.Contents(ctx) // before the list: what is stored later stays
	if err != nil {
		return err
	}
	if _, err := r.Skills().Load(ctx); err != nil { // a list that this program cannot read may name all of them
		return err
	}
	list, err := r.skills(nil).Load(ctx)
	if err != nil {
		return err
	}
	all := named(list)
	for digest := range there {
		if all[digest] != "" {
			continue
		}
		if err := s.DropContent(ctx, digest, cmp.Or(r.o.unnamed, unnamed)); err != nil {
			return err
		}
	}
	return r.offer(ctx, all, nil)
}
