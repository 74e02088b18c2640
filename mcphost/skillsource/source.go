package skillsource

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/skilluri"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
)

// errNotDeclared is the error of a server that publishes no skills.
var errNotDeclared = errors.New("it does not publish skills")

// Server is the conversation with one server. It is called by several goroutines.
type Server interface {
	// Ask calls a method of the extension, and unmarshals what the server answers into result. It calls none of a server that has not
	// declared the extension: that is an error.
	Ask(ctx context.Context, method string, params, result any) error
	// Read returns the content of a resource of the server, of at most some bytes: more is an error.
	Read(ctx context.Context, uri string, most int64) ([]byte, error)
}

// Options configures a Source. Label and Cache are required.
type Options struct {
	// Label is the name that the user gave the server: with the address of a skill it says which skill it is. It is a file name.
	Label string
	// Scope tells servers of one label apart that different users of the cache mean by it, such as projects. It may be "".
	Scope string
	// Cache is an absolute folder that only the user can change, for all servers. No folder of skills may hold it.
	Cache string
	// Wait is how long Skills waits for a server that was never heard, or whose list is old. It goes on asking after that. 0 means 10 s.
	Wait time.Duration
	Now  func() time.Time // nil means time.Now
}

// Source has the skills of one server. It is a skill.Source for a skill.Layer with the label as its Server.
type Source struct {
	o      Options
	server Server

	mu     sync.Mutex
	list   *list
	asking chan struct{} // closed when the server has answered; nil while it is not asked
	began  time.Time     // when it was asked
	stop   func()        // ends the question
	err    error         // of the last question
	closed bool
}

// New returns the skills of a server. It asks it nothing.
func New(server Server, o *Options) (*Source, error) {
	if o.Label == "" || strings.ContainsAny(o.Label, `/\:`) || o.Label != filepath.Base(o.Label) || !filepath.IsAbs(o.Cache) {
		return nil, fmt.Errorf("skillsource: the label %q has to be a name, and the cache %q an absolute folder", o.Label, o.Cache)
	}
	s := &Source{o: *o, server: server}
	s.o.Wait = cmp.Or(max(o.Wait, 0), 10*time.Second)
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	return s, nil
}

// Close ends what the server is being asked, and waits for that. The server is asked nothing after it.
func (s *Source) Close() {
	s.mu.Lock()
	s.closed = true
	done := s.asking
	if done != nil {
		s.stop()
	}
	s.mu.Unlock()
	if done != nil {
		<-done
	}
}

// Roots returns no folders: no skill lies in one.
func (s *Source) Roots() []string { return nil }

// Changed says that the list of the server is no longer the one it gave.
func (s *Source) Changed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = s.load()
	}
	s.list.until = time.Time{}
}

// Known returns the skills of the last list as a source that never asks the server for another one.
func (s *Source) Known() skill.Source {
	return skill.SourceFunc(func(ctx context.Context) iter.Seq2[skill.Found, error] {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.list == nil {
			s.list = s.load()
		}
		return s.yields(s.list, nil)
	})
}

// Skills yields the skills as the server listed them, by their paths, and a problem for each that it may not publish. If the server does
// not answer, it yields those of its last list, and a problem that says so. It reads no file.
func (s *Source) Skills(ctx context.Context) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		l, err := s.current(ctx)
		if ctx.Err() == nil {
			s.yields(l, err)(yield)
		}
	}
}

// yields yields the skills of a list.
func (s *Source) yields(l *list, err error) iter.Seq2[skill.Found, error] {
	return func(yield func(skill.Found, error) bool) {
		for _, path := range slices.Sorted(maps.Keys(l.entries)) {
			if !yield(s.found(l.entries[path]), nil) {
				return
			}
		}
		for _, p := range l.problems {
			if !yield(skill.Found{Path: "."}, &p) {
				return
			}
		}
		if err != nil {
			yield(skill.Found{Path: "."}, s.silent(l, err))
		}
	}
}

// silent returns the problem with a server that gave no list.
func (s *Source) silent(l *list, err error) *manifest.Problem {
	p := &manifest.Problem{Code: "server-skills", Severity: manifest.SeverityError, File: "mcp:" + s.o.Label,
		Message: fmt.Sprintf("its skills cannot be listed: %v", err), Cure: "see that the server runs, or switch its skills off"}
	if len(l.entries) > 0 {
		p.Severity = manifest.SeverityWarning
		p.Message += "; those are used that it had at " + l.at.UTC().Format("2006-01-02 15:04")
	}
	return p
}

// found returns a skill as a catalogue gets it.
func (s *Source) found(e *skilluri.Entry) skill.Found {
	return skill.Found{Path: e.Path(), File: skilluri.Manifest, Stamp: stamp(e), Head: head(e.FrontMatter), Told: true, Place: s.place(e.Path()),
		Open: func(ctx context.Context) (skill.Tree, error) { return s.open(ctx, e), nil }}
}

// stamp identifies an entry with all its digests.
func stamp(e *skilluri.Entry) skill.Stamp {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode(e) // it has no value that cannot be encoded
	sum := h.Sum(nil)
	at := func(i int) int64 { return int64(binary.LittleEndian.Uint64(sum[i:])) }
	return skill.Stamp{Size: at(0), MTime: at(8), CTime: at(16), Inode: uint64(at(24))}
}

// head returns front matter as the beginning of a manifest: each value as JSON, which YAML reads.
func head(front json.RawMessage) []byte {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(front))
	d.UseNumber()
	_ = d.Decode(&fields) // it was read before
	var out bytes.Buffer
	out.WriteString("---\n")
	value := func(v any) {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		_ = e.Encode(v)
		out.Write(bytes.TrimSpace(b.Bytes()))
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if manifest.CheckName(name) == nil {
			out.WriteString(name)
		} else {
			value(name)
		}
		out.WriteString(": ")
		value(fields[name])
		out.WriteByte('\n')
	}
	out.WriteString("---\n")
	return out.Bytes()
}
