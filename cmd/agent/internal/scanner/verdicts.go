package scanner

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"

	"github.com/agent-base/agent-base/cmd/agent/internal/output"
	"github.com/agent-base/agent-base/cmd/agent/internal/setup"
	"github.com/agent-base/agent-base/internal/dirhash"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/policy"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/scan"
	"github.com/agent-base/agent-base/skill/scan/rule"
)

// verdict is what the scan of one content found by the rules of the program, whatever a user accepts.
type verdict struct {
	Worst  scan.Severity `json:"worst,omitempty"`
	What   string        `json:"what,omitempty"`   // the worst finding
	Unread string        `json:"unread,omitempty"` // a file that was not read, and why
}

// refuses says what of a severity or worse was found, or what was not read: "" for nothing.
func (v *verdict) refuses(level scan.Severity) string {
	switch {
	case v.Worst.AtLeast(level):
		return v.What
	case v.Unread != "":
		return "not all of it was read: " + v.Unread
	}
	return ""
}

// Verdicts are what scans say of contents, for the policy of the organisation. A skill is used only after this process scanned its content
// itself. A file remembers verdicts for later processes, and anybody with the rights of the user can write it: so a verdict in it is
// believed if it refuses a skill, and otherwise only to list one.
type Verdicts struct {
	scanner *Scanner
	out     *output.Printer

	mu    sync.Mutex
	known map[string]*verdict // of contents that this process scanned, by digest
}

// refuses says why a skill is not used that has nothing of the severity level or worse, "" if nothing is in the way. The skill of a server is
// scanned when it is loaded: listing it reads no file.
func (v *Verdicts) refuses(ctx context.Context, s *skill.Subject, level scan.Severity) (string, error) {
	if s.Server != "" && !s.Loaded {
		return "", nil
	}
	digest, err := s.Digest(ctx)
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	found := v.known[digest]
	v.mu.Unlock()
	if found != nil {
		return found.refuses(level), nil
	}
	if kept := v.kept()[digest]; kept != nil && (!s.Loaded || kept.refuses(level) != "") {
		return kept.refuses(level), nil
	}
	err = v.out.While("scanning "+s.Name, func() error {
		found, err = v.scan(ctx, s, digest)
		return err
	})
	if err != nil {
		return "", err
	}
	v.mu.Lock()
	v.known[digest] = found
	v.mu.Unlock()
	v.keep(ctx, digest, found)
	return found.refuses(level), nil
}

// scan scans the content that has a digest. It takes no Python but one that only root can change, so that nobody else has a say.
func (v *Verdicts) scan(ctx context.Context, s *skill.Subject, digest string) (*verdict, error) {
	files, done, err := s.Files(ctx)
	if err != nil {
		return nil, err
	}
	defer done() //nolint:errcheck // it was only read
	limited, cancel := context.WithTimeout(ctx, v.scanner.Limit())
	defer cancel()
	r, err := scan.Scan(limited, files, &scan.Options{Python: v.scanner.pythonOfRoot()})
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case limited.Err() != nil:
		return nil, fmt.Errorf("its scan took more than %s", v.scanner.Limit())
	case err != nil:
		return nil, err
	}
	out := &verdict{}
	for _, f := range rule.Builtin().Judge(r) {
		if f.Rule == rule.Unread {
			if out.Unread == "" {
				out.Unread = f.Place.File + ": " + strings.TrimPrefix(f.Message, "it was not read: ")
			}
			continue
		}
		if f.Severity.Worse(out.Worst) > 0 {
			out.Worst, out.What = f.Severity, fmt.Sprintf("%s[%s] %s, in %s", f.Severity, f.Rule, f.Message, f.Place.File)
		}
	}
	if out.Unread == "" && digestOf(r) != digest {
		return nil, errors.New("its files changed while they were scanned")
	}
	return out, nil
}

// digestOf returns the digest of the files that a scan read.
func digestOf(r *scan.Report) string {
	var files []dirhash.File
	for i := range r.Files {
		if f := &r.Files[i]; len(f.Inside) == 0 {
			files = append(files, dirhash.File{Path: f.Path, SHA256: strings.TrimPrefix(f.Digest, dirhash.Prefix)})
		}
	}
	return dirhash.Of(files, nil)
}

// pythonOfRoot returns what starts a Python that only root can change, nil where there is none.
func (c *Scanner) pythonOfRoot() func(context.Context, string, []byte) ([]byte, error) {
	places := []string{"/usr/bin/python3", "/usr/local/bin/python3", "/bin/python3"}
	if found, err := c.settings.FindProgram("python3"); err == nil {
		places = append(places, found)
	}
	for _, path := range places {
		if policy.OfRoot(path) == nil {
			return c.pythonAt(path)
		}
	}
	return nil
}

// remembered is the file of verdicts.
type remembered struct {
	By       string              `json:"by"` // the version of the program and of the rules
	Verdicts map[string]*verdict `json:"verdicts"`
}

// Bounds of the file of verdicts.
const (
	maxVerdicts     = 5000
	maxVerdictsFile = 4 << 20 // bytes
)

// file returns the file, nil without a home.
func (v *Verdicts) file() *lockfile.File {
	if home := v.scanner.settings.Home(); home != "" {
		return &lockfile.File{Path: filepath.Join(home, "cache", "scans.json"), Max: maxVerdictsFile, Private: true}
	}
	return nil
}

// by names what made verdicts: those of another program do not count.
func by() string { return setup.Version + " " + rule.Version() }

// kept returns the verdicts that the file remembers.
func (v *Verdicts) kept() map[string]*verdict {
	f := v.file()
	if f == nil {
		return nil
	}
	text, err := f.Read()
	if err != nil {
		return nil
	}
	return parseVerdicts(text)
}

func parseVerdicts(text []byte) map[string]*verdict {
	var all remembered
	if json.Unmarshal(text, &all) != nil || all.By != by() {
		return nil
	}
	return all.Verdicts
}

// keep writes a verdict to the file. Where that fails the next process scans again.
func (v *Verdicts) keep(ctx context.Context, digest string, found *verdict) {
	f := v.file()
	if f == nil {
		return
	}
	_ = f.Edit(ctx, func(old []byte) ([]byte, error) {
		all := remembered{By: by(), Verdicts: parseVerdicts(old)}
		if all.Verdicts == nil || len(all.Verdicts) >= maxVerdicts {
			all.Verdicts = map[string]*verdict{}
		}
		all.Verdicts[digest] = found
		var out bytes.Buffer
		err := json.NewEncoder(&out).Encode(&all)
		return out.Bytes(), err
	})
}

// NewVerdicts returns verdicts of which none is known yet.
func NewVerdicts(c *Scanner, out *output.Printer) *Verdicts {
	return &Verdicts{scanner: c, out: out, known: map[string]*verdict{}}
}
