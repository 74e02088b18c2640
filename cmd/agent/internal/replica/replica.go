// Package replica has what the processes of a fleet share in place of the files of one machine: approvals with grants, of which each tenant
// has its own, and the list of installed skills with their contents.
package replica

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/agent-base/agent-base/install/registry"
	"github.com/agent-base/agent-base/internal/document"
	"github.com/agent-base/agent-base/internal/fleet/node"
	"github.com/agent-base/agent-base/internal/fleet/state"
	"github.com/agent-base/agent-base/trace"
	"github.com/agent-base/agent-base/trust"
)

// Options are those of New.
type Options struct {
	Node      func(context.Context) (*node.Options, error) // says how the node is opened that has the state
	With      *Replica                                     // of another tenant, whose connection is used; nil for one of its own
	Tenant    string
	Installed string // the folder of installed skills of this machine
	Writer    string // the name of this process in the logs of the fleet
	Now       func() time.Time

	Record func(context.Context, trace.Event) ([]byte, error) // as in state.Document
	Done   func(context.Context, trace.Event)                 // likewise, for approvals and grants: the installer reports installed skills

	unnamed time.Duration // after which Tidy removes a content; default unnamed
}

// Replica reads and changes what a fleet shares. It is safe for concurrent use.
type Replica struct {
	o Options
	*link
}

// link is what the Replicas of all tenants share.
type link struct {
	mu    sync.Mutex
	node  *node.Node // nil before it is used
	state *state.State
	last  attempt // to open it, if it failed

	fetching sync.Mutex // held while a content is brought
	tried    map[string]attempt
}

// New returns a Replica, which the caller closes. Its first use opens the node, which may run in another process. When that process has
// ended, the next use opens the node again.
func New(o *Options) *Replica {
	r := &Replica{*o, &link{tried: map[string]attempt{}}}
	if o.With != nil {
		r.link = o.With.link
	}
	return r
}

// Close ends the connection. A nil Replica has none, and one with that of another leaves it.
func (r *Replica) Close() {
	if r == nil || r.o.With != nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.node != nil {
		r.node.Close()
		r.node = nil
	}
}

// open returns the state in the node, and opens the node if it is not open. For a while after a failure it returns the same error at once.
func (r *Replica) open(ctx context.Context) (*state.State, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.node != nil {
		if !r.node.Conn().IsClosed() {
			return r.state, nil
		}
		r.node.Close()
		r.node = nil
	}
	if r.last.err != nil && time.Since(r.last.at) < reopenPause {
		return nil, r.last.err
	}
	err := r.connect(ctx)
	if ctx.Err() == nil {
		r.last = attempt{time.Now(), err}
	}
	return r.state, err
}

func (r *Replica) connect(ctx context.Context) error {
	o, err := r.o.Node(ctx)
	if err != nil {
		return err
	}
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	n, err := node.Open(opening, o)
	if err != nil {
		return fmt.Errorf("the state of the fleet cannot be reached: %w", err)
	}
	if r.state, err = state.Open(ctx, n.Conn(), &state.Options{Writer: r.o.Writer, Replicas: o.Copies()}); err != nil {
		n.Close()
		return err
	}
	r.node = n
	return nil
}

// doc is a document that stays usable when the node is opened again.
type doc struct {
	r      *Replica
	of     state.Document
	before guard // may be nil
}

// guard is called before each edit of a document, also before one that is repeated because another process was first. If it returns an error,
// nothing is changed.
type guard func(context.Context) error

func (d *doc) Load(ctx context.Context) ([]byte, error) {
	s, err := d.r.open(ctx)
	if err != nil {
		return nil, err
	}
	return s.Document(d.of).Load(ctx)
}

func (d *doc) Transform(ctx context.Context, edit document.Edit) error {
	s, err := d.r.open(ctx)
	if err != nil {
		return err
	}
	return s.Document(d.of).Transform(ctx, func(old []byte) (document.Change, error) {
		if d.before != nil {
			if err := d.before(ctx); err != nil {
				return document.Change{}, err
			}
		}
		return edit(old)
	})
}

const (
	openTime    = 20 * time.Second // to open the node: the other nodes of a cluster run already
	reopenPause = 2 * time.Second
)

// again is the pause between two attempts of a watch to reach a node.
const again = time.Second

func (d *doc) Watch(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for ctx.Err() == nil {
			s, err := d.r.open(ctx)
			if err == nil {
				for content, failed := range s.Document(d.of).Watch(ctx) {
					if !yield(content, failed) {
						return
					}
					if failed != nil { // perhaps there is another node
						break
					}
				}
			} else if ctx.Err() == nil && !yield(nil, err) {
				return
			}
			select {
			case <-ctx.Done():
			case <-time.After(again):
			}
		}
	}
}

func (r *Replica) approvals(before guard) *doc {
	return &doc{r, state.Document{Tenant: r.o.Tenant, Kind: "approvals", Lists: []string{"approvals", "grants"}, Record: r.o.Record, Done: r.o.Done}, before}
}

func (r *Replica) skills(before guard) *doc {
	return &doc{r, state.Document{Kind: "skills", Lists: []string{"skills"}, Record: r.o.Record}, before} // tenants have one store of contents
}

// Trust returns the approvals and grants.
func (r *Replica) Trust() *trust.Store { return r.guardedTrust(nil) }

func (r *Replica) guardedTrust(before guard) *trust.Store {
	return &trust.Store{Path: "the approvals of the fleet", Now: r.o.Now, Kept: r.approvals(before)}
}

// Skills returns the list of installed skills. Their folders are those that this machine has for their contents.
func (r *Replica) Skills() *registry.Store { return r.guardedSkills(nil) }

func (r *Replica) guardedSkills(before guard) *registry.Store {
	return &registry.Store{Path: "the skills of the fleet", Now: r.o.Now, Kept: &listed{r.skills(before)}, Folder: r.store().Path, Fetch: r.fetch}
}

// Watch calls changed after changes by any process, and when it may have missed one, until ctx is done. It calls failed with an error that
// keeps it from seeing changes.
func (r *Replica) Watch(ctx context.Context, changed func(), failed func(error)) {
	var all sync.WaitGroup
	for _, d := range []*doc{r.approvals(nil), r.skills(nil)} {
		all.Go(func() {
			first, was := true, error(nil)
			for _, err := range d.Watch(ctx) {
				switch {
				case err == nil && !first:
					changed()
				case err != nil && (was == nil || err.Error() != was.Error()):
					failed(err)
				}
				first, was = false, err
			}
		})
	}
	all.Wait()
}

// Logged is a record of a change of what the fleet shares.
type Logged struct {
	At     time.Time  `json:"stored_at"`
	Writer string     `json:"writer"` // the process that made the change
	Event  trace.Kind `json:"event"`
	Skill  string     `json:"skill_name,omitempty"`
	Digest string     `json:"digest,omitempty"`
	Grant  []string   `json:"grant,omitempty"`
	Agent  string     `json:"agent_id,omitempty"`
}

// Log returns the records of the changes that were made, the oldest first. The list is not nil. A nil Replica has none.
func (r *Replica) Log(ctx context.Context) ([]Logged, error) {
	if r == nil {
		return []Logged{}, nil
	}
	return r.log(ctx, map[string]uint64{})
}

// log returns the records that come after those that were seen, and notes them: seen has the places in the logs, by the kinds of documents.
func (r *Replica) log(ctx context.Context, seen map[string]uint64) ([]Logged, error) {
	out := []Logged{}
	fleet, err := r.open(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range []*doc{r.approvals(nil), r.skills(nil)} {
		for record, err := range fleet.Records(ctx, &d.of, seen[d.of.Kind]) {
			l := Logged{}
			if err == nil {
				err = json.Unmarshal(record.Text, &l)
			}
			if err != nil {
				return nil, fmt.Errorf("read the log of the fleet: %w", err)
			}
			l.At, l.Writer, seen[d.of.Kind] = record.Time, record.Writer, record.At
			out = append(out, l)
		}
	}
	slices.SortStableFunc(out, func(a, b Logged) int { return a.At.Compare(b.At) })
	return out, nil
}
