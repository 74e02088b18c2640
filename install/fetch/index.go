package fetch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/internal/unpack"
)

// wellKnown are the folders in which a site may have its index, the preferred one first.
var wellKnown = [...]string{"/.well-known/agent-skills", "/.well-known/skills"}

// parallel is how many files of a site are fetched at the same time.
const parallel = 6

// Index returns a Fetcher for sites with a discovery index, of version 0.2.0 or 0.1.0. It looks for it below the path of the URL
// and then at the root of the site, each time in .well-known/agent-skills and then in .well-known/skills. A URL that ends in
// ".json" is the index itself.
//
// The Snapshot has one folder for each skill. A skill is fetched when Need wants a file of it other than SKILL.md: until then its
// SKILL.md has only the name and the description that the index says. Need refuses an artifact whose digest is not the one of the
// index; the files of version 0.1.0 have no digests. Origin.Commit is the digest of the index; with version 0.1.0 it does not say
// whether a skill has changed, so the Snapshot always has files.
//
// URLs of an index may lead to other hosts, by https and not to private addresses. o may be nil. An error is about o.Private.
func Index(o *HTTPOptions) (install.Fetcher, error) {
	d, err := newDownloader(o)
	if err != nil {
		return nil, err
	}
	return install.FetcherFunc(d.fetchIndex), nil
}

func (d *downloader) fetchIndex(ctx context.Context, r *install.Request) (_ *install.Snapshot, err error) {
	defer d.http.CloseIdleConnections()
	x, from, err := d.findIndex(ctx, r)
	if err != nil {
		return nil, err
	}
	s := &install.Snapshot{Origin: install.Origin{Source: r.Source, URL: clean(from.url), Commit: from.digest}, Close: func() error { return nil }}
	dated := slices.ContainsFunc(x.skills, func(o offered) bool { return o.files != nil })
	if r.Known == from.digest && !dated {
		return s, nil
	}
	root, err := openNew(filepath.Join(r.Dir, "files"))
	if err != nil {
		return nil, err
	}
	site := &site{d: d, root: root, dir: r.Dir, skills: x.skills, fetched: map[int]bool{}, progress: r.Progress}
	for i := range x.skills {
		if err := site.describe(&x.skills[i]); err != nil {
			return nil, errors.Join(err, root.Close())
		}
	}
	s.FS, s.Need, s.Close = root.FS(), site.need, root.Close
	s.LeftOut = func() []string { return x.leftOut }
	return s, nil
}

// openNew makes a folder and opens it.
func openNew(dir string) (*os.Root, error) {
	if err := os.Mkdir(dir, 0o700); err != nil {
		return nil, err
	}
	return os.OpenRoot(dir)
}

// places returns the URLs where the index of a site may be.
func places(site string) ([]string, error) {
	u, err := url.Parse(site)
	if err != nil {
		return nil, fmt.Errorf("%.200q is not a URL", site)
	}
	u.RawQuery, u.Fragment = "", ""
	if strings.HasSuffix(u.Path, ".json") {
		return []string{u.String()}, nil
	}
	var out []string
	for _, base := range []string{path.Clean("/" + u.Path), "/"} {
		for _, dir := range wellKnown {
			u.Path, u.RawPath = path.Join(base, dir, "index.json"), ""
			if at := u.String(); !slices.Contains(out, at) {
				out = append(out, at)
			}
		}
	}
	return out, nil
}

// findIndex returns the first index that there is. A page in place of an index, and an answer that says there is none, do not end
// the search.
func (d *downloader) findIndex(ctx context.Context, r *install.Request) (*index, *answer, error) {
	all, err := places(r.Source.URL)
	if err != nil {
		return nil, nil, err
	}
	var errs []error
	for _, at := range all {
		var text memory
		from, err := d.get(ctx, at, maxIndex, &text, nil)
		var x *index
		if err == nil {
			if x, err = readIndex(text.Bytes(), from.url); err == nil {
				return x, from, nil
			}
			err = fmt.Errorf("%s: %w", clean(from.url), err)
		}
		var status *statusError
		missing := errors.Is(err, errNoIndex) || errors.As(err, &status) && status.Code >= 400 && status.Code < 500 && status.Code != http.StatusTooManyRequests
		if !missing {
			return nil, nil, err
		}
		errs = append(errs, err)
	}
	return nil, nil, fmt.Errorf("%w:\n%w", errNoSite, errors.Join(errs...))
}

var errNoSite = errors.New("the site has no index of skills")

// OrRepository returns a Fetcher for sites that takes the URL of a site without an index for that of a repository, if it may be one:
// see source.Ref.Repository. The Origin is then of the repository. Of two failures the error has both.
func OrRepository(site, repository install.Fetcher) install.Fetcher {
	return install.FetcherFunc(func(ctx context.Context, r *install.Request) (*install.Snapshot, error) {
		s, err := site.Fetch(ctx, r)
		ref, ok := r.Source.Repository()
		if !ok || !errors.Is(err, errNoSite) {
			return s, err
		}
		again := *r
		again.Source = ref
		s, other := repository.Fetch(ctx, &again)
		if other != nil {
			return nil, fmt.Errorf("%w\nand as a repository: %w", err, other)
		}
		return s, nil
	})
}

// memory is a sink in memory.
type memory struct{ bytes.Buffer }

// Truncate empties the memory; size is 0.
func (m *memory) Truncate(int64) error { m.Reset(); return nil }

// Seek does nothing: a download begins at the start.
func (m *memory) Seek(int64, int) (int64, error) { return 0, nil }

// site is the files of a snapshot of an index.
type site struct {
	d        *downloader
	root     *os.Root // with a folder for each skill
	dir      string   // for downloads
	skills   []offered
	progress func(install.Progress)

	mu      sync.Mutex   // held while skills are fetched
	fetched map[int]bool // by place in skills
}

// describe writes the SKILL.md that stands in for the one of a skill.
func (s *site) describe(o *offered) error {
	name, _ := json.Marshal(o.name) // which is YAML too
	description, _ := json.Marshal(o.description)
	if err := s.root.Mkdir(o.name, 0o755); err != nil {
		return err
	}
	text := fmt.Sprintf("---\nname: %s\ndescription: %s\n---\n", name, description)
	return s.root.WriteFile(path.Join(o.name, "SKILL.md"), []byte(text), 0o644)
}

// need fetches the skills of which more is wanted than the SKILL.md.
func (s *site) need(ctx context.Context, want func(string) bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	defer s.d.http.CloseIdleConnections()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var wanted []int
	for i, o := range s.skills {
		if !s.fetched[i] && want(path.Join(o.name, "scripts", "x")) {
			wanted = append(wanted, i)
		}
	}
	var work sync.WaitGroup
	slots := make(chan struct{}, parallel)
	for n, i := range wanted {
		if s.progress != nil {
			s.progress(install.Progress{Step: "downloading skills", Done: int64(n), Total: int64(len(wanted))})
		}
		slots <- struct{}{}
		work.Go(func() {
			defer func() { <-slots }()
			if err := s.fetch(ctx, i); err != nil {
				cancel(fmt.Errorf("skill %q: %w", s.skills[i].name, err))
			}
		})
	}
	work.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	for _, i := range wanted {
		s.fetched[i] = true
	}
	return nil
}

// fetch puts the files of a skill in place of the one that stands in.
func (s *site) fetch(ctx context.Context, i int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	o, stage := &s.skills[i], filepath.Join(s.dir, "skill"+strconv.Itoa(i))
	root, err := openNew(stage)
	if err != nil {
		return err
	}
	if o.files != nil {
		err = s.fetchFiles(ctx, o, root)
	} else {
		err = s.fetchArtifact(ctx, o, root, stage+".download")
	}
	if err := errors.Join(err, root.Close()); err != nil {
		return errors.Join(err, os.RemoveAll(stage))
	}
	place := filepath.Join(s.root.Name(), o.name)
	from, err := skillIn(stage)
	if err == nil {
		err = errors.Join(os.RemoveAll(place), os.Rename(from, place))
	}
	return errors.Join(err, os.RemoveAll(stage))
}

// skillIn returns the folder of an unpacked artifact that has the SKILL.md: the root, or the only folder there is.
func skillIn(dir string) (string, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return "", err
	}
	hasManifest := func(dir string) bool {
		info, err := os.Lstat(filepath.Join(dir, "SKILL.md"))
		return err == nil && info.Mode().IsRegular()
	}
	if hasManifest(dir) {
		return dir, nil
	}
	if len(list) == 1 && hasManifest(filepath.Join(dir, list[0].Name())) {
		return filepath.Join(dir, list[0].Name()), nil
	}
	return "", errors.New("the archive has no SKILL.md at its root")
}

// fetchArtifact gets a SKILL.md or an archive, compares its digest, and writes its files.
func (s *site) fetchArtifact(ctx context.Context, o *offered, root *os.Root, name string) (err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(name)) }()
	got, err := s.d.get(ctx, o.url, maxDownload, file, nil)
	if err != nil {
		return err
	}
	if got.digest != o.digest {
		return fmt.Errorf("%s has the digest %s, and the index says %s: it is not used", clean(got.url), got.digest, o.digest)
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	w := s.writer(root)
	if o.archive {
		return w.End(unpack.Archive(ctx, file, info.Size(), w))
	}
	return w.End(w.File("SKILL.md", false, io.NewSectionReader(file, 0, info.Size()), info.Size()))
}

// fetchFiles gets the files of a skill of version 0.1.0.
func (s *site) fetchFiles(ctx context.Context, o *offered, root *os.Root) error {
	w, left := s.writer(root), unpacked().MaxBytes
	names := make([]string, 0, len(o.files))
	for name := range o.files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		var text memory
		if _, err := s.d.get(ctx, o.files[name], left, &text, nil); err != nil {
			return w.End(err)
		}
		left -= int64(text.Len())
		if err := w.File(name, false, &text, int64(text.Len())); err != nil {
			return w.End(err)
		}
	}
	return w.Close()
}

func (s *site) writer(root *os.Root) *unpack.Writer {
	limits := unpacked()
	limits.Volatile = true
	return unpack.NewWriter(root, &limits)
}
