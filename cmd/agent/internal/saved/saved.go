// Package saved keeps conversations on disk, as they happen.
//
// A conversation is one file with a JSON object in each line. It is only appended to: what is taken back, shortened or left is
// a line, too, so the file also has what the model is no longer sent. [Log] writes it, and syncs before the calls of an answer,
// after their results and at the end of a turn. [Read] reads it again: a conversation that continues sends the model the same
// bytes as one that never stopped. Texts in which Options.Redact finds something are the exception.
//
// The files of a project lie in a folder that is private to the user. The process that writes a file holds a lock for as long;
// another one continues a copy, from [Fork]. Files are read with suspicion: a line that cannot be read is counted and left
// out, wherever it stands; links, files of other users and long files are refused; and nothing that a file says gives a right.
package saved

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/agent-base/agent-base/llm"
)

// Limits of what is read and written.
const (
	MaxFile     = 128 << 20 // bytes of a conversation
	maxLine     = 32 << 20  // bytes of a line
	maxTitle    = 100       // bytes of a title
	maxError    = 500       // bytes of why a turn ended early
	maxProjects = 4096      // folders of projects that are looked through
)

// Format is the version of the files that this package writes.
const Format = 1

// The errors that callers tell apart.
var (
	ErrUnknown = errors.New("there is no such conversation")
	ErrNewer   = errors.New("a newer version of this program wrote the conversation: it can be shown, not continued")
	ErrInUse   = errors.New("another process continues this conversation")
	ErrLarge   = fmt.Errorf("the conversation has more than %d MB, the limit", MaxFile>>20)
)

// Options says which conversations are meant. Dir, Project and Now are required.
type Options struct {
	Dir     string // absolute folder of all projects; it is made when something is written
	Project string // absolute path without links
	// Identity names the project wherever its folder lies: projects with the same one share their conversations. "" means that
	// only the path counts.
	Identity string
	Now      func() time.Time
	Redact   func(text string) string // takes secrets out of what is written; nil takes out nothing

	write func(b []byte) (int, error) // lets tests make a write fail; nil means that of the file
}

// folder returns the folder of the project.
func (o *Options) folder() string {
	sum := sha256.Sum256([]byte(filepath.Clean(o.Project)))
	return filepath.Join(o.Dir, hex.EncodeToString(sum[:8]))
}

// Head says what a conversation is.
type Head struct {
	ID      string    // names it among all
	Project string    // absolute path of the folder that it is about
	Began   time.Time // the time of the first prompt
	From    string    // the conversation of which it is a copy; "" if it is none
	Key     string    // names it for providers that route by it; a copy has the key of the original
}

// Prefix is what every request begins with.
type Prefix struct {
	System string
	Tools  []llm.Tool
	// Sources says what the texts were made of: the digest of each file or skill by a name for people.
	Sources map[string]string
}

// Approval is something that the user allowed for the rest of a conversation. Reading one gives no right.
type Approval struct {
	Kind string `json:"kind"` // such as "rule" or "mode"
	Text string `json:"text"`
	// Confined says that it holds only for what runs in a sandbox.
	Confined bool `json:"confined,omitempty"`
}

// Turn is one prompt and what followed.
type Turn struct {
	Number int       `json:"turn"` // unique in the conversation; a later turn has a greater one
	Began  time.Time `json:"time"`
	Model  string    `json:"model"`
	Prompt string    `json:"prompt"` // its first bytes, for lists
	// Messages has what was said, also what the model is no longer sent. It is nil unless Read was asked for it.
	Messages []llm.Message `json:"messages"`
	End      *End          `json:"end,omitempty"` // nil if the turn did not end
}

// End is how a turn ended.
type End struct {
	Stop    string          `json:"stop,omitempty"`
	Error   string          `json:"error,omitempty"` // why it ended early, for people
	Usage   llm.Usage       `json:"usage"`
	Counted json.RawMessage `json:"counted,omitempty"` // kept for the caller
	State   json.RawMessage `json:"state,omitempty"`   // kept for the caller, see Log.State
}

// Conversation is what a file says.
type Conversation struct {
	Head
	Title     string
	Updated   time.Time // of the last change of the file
	Prefix    Prefix
	Messages  []llm.Message   // that the model is sent
	Turns     []Turn          // without those that the user left
	Left      []Turn          // the turns that the user left: they cost something, too
	Last      int             // the greatest number of a turn so far
	State     json.RawMessage // the last one of Log.State or an End of these turns
	Todo      json.RawMessage // the last one of Log.Todo
	Approvals []Approval
	Here      bool // it is of the project, wherever its folder was
	Damaged   int  // lines that could not be read
	Torn      bool // the last line is not whole

	album album
}

// Ended returns how the last turn ended, nil if it did not or there is none.
func (c *Conversation) Ended() *End {
	if len(c.Turns) == 0 {
		return nil
	}
	return c.Turns[len(c.Turns)-1].End
}

// Damage says what could not be read, "" for nothing.
func (c *Conversation) Damage() string {
	var all []string
	if c.Damaged == 1 {
		all = append(all, "1 line could not be read and is left out")
	} else if c.Damaged > 1 {
		all = append(all, fmt.Sprintf("%d lines could not be read and are left out", c.Damaged))
	}
	if c.Torn {
		all = append(all, "the last line was not written to its end")
	}
	return strings.Join(all, "; ")
}

// NewID returns a name for a conversation that begins now.
func NewID(now time.Time) string { return fmt.Sprintf("agent-%x", now.UnixNano()) }

// isID reports whether a text can name a conversation.
func isID(id string) bool {
	other := strings.Trim(id, "abcdefghijklmnopqrstuvwxyz0123456789-")
	return id != "" && len(id) <= 64 && other == ""
}
