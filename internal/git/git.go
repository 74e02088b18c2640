// Package git reads repositories with the system's git: it asks a remote which commit a name stands for, and gets the files of
// one commit without a checkout.
//
// A repository and its server are not trusted. Git sees no configuration but the options that this package sets and what the
// operator's own says about credentials and proxies (see Client). It runs no hook, filter or submodule, asks nobody, and writes
// nothing but its objects into the folder that it is given. Files are read from the objects, as an fs.FS.
package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/program"
)

// Options configures a Client.
type Options struct {
	Program string   // absolute path of git, as Find returns it
	Path    []string // folders of the programs that git starts, such as ssh and credential helpers, as program.CleanPath returns them
	Env     []string // the operator's environment; variables about the network, ssh and credentials pass

	// SSH is the command that starts ssh, such as the operator's GIT_SSH_COMMAND. Options that forbid questions are added to it.
	// "" is "ssh".
	SSH string

	// AskPass is the absolute path of a program of the operator that git asks for names and passwords of servers, as GIT_ASKPASS says.
	// It may answer for any host, so set it only if a person typed the URL. "" is none.
	AskPass string

	// Tokens are sent to their hosts where a repository is refused without one.
	Tokens []Token

	Limits Limits

	// Quiet is how long a server may send nothing before an attempt ends, 0 means 30 s; http.lowSpeedTime of the operator's
	// configuration goes before it. Later attempts wait a third of it.
	Quiet time.Duration

	// Sleep waits between attempts. It returns the error of ctx if that is done first. A nil Sleep waits on the clock.
	Sleep func(ctx context.Context, d time.Duration) error
}

// Limits bounds what one fetch may take. A zero field has its default.
type Limits struct {
	Bytes    uint64        // on disk (1 GiB)
	Objects  int64         // received at once (1,000,000)
	Files    int           // in the commit (100,000)
	FileSize int64         // of one file that is opened, in bytes (100 MiB)
	Time     time.Duration // of each run of git (15 minutes)
}

func (l Limits) withDefaults() Limits {
	if l.Bytes == 0 {
		l.Bytes = 1 << 30
	}
	if l.Objects == 0 {
		l.Objects = 1_000_000
	}
	if l.Files == 0 {
		l.Files = 100_000
	}
	if l.FileSize == 0 {
		l.FileSize = 100 << 20
	}
	if l.Time == 0 {
		l.Time = 15 * time.Minute
	}
	return l
}

// Progress is how far git is.
type Progress struct {
	Step        string // such as "receiving objects"
	Done, Total int64  // objects
}

// Client runs git. It is safe for concurrent use.
//
// Of the operator's configuration it passes on what credentials and the way to the server need: credential.*, proxies and
// certificates. It reads these once, outside any repository.
type Client struct {
	o Options

	mu      sync.Mutex
	checked bool            // the version
	own     []setting       // of the operator
	read    bool            // own
	refused map[string]bool // addresses that are refused without a token
}

// New returns a Client. It returns an error if Program is not an absolute path. It starts nothing.
func New(o *Options) (*Client, error) {
	if !filepath.IsAbs(o.Program) {
		return nil, fmt.Errorf("%w: its path %q is not absolute", ErrMissing, o.Program)
	}
	c := &Client{o: *o}
	c.o.Limits = o.Limits.withDefaults()
	if c.o.Sleep == nil {
		c.o.Sleep = sleep
	}
	c.o.Quiet = cmp.Or(o.Quiet, 30*time.Second)
	if c.o.SSH == "" {
		c.o.SSH = "ssh"
	}
	return c, nil
}

// Find returns the path of git in one of the folders, which program.CleanPath has chosen. The error is ErrMissing.
func Find(path []string) (string, error) {
	file, err := program.Find("git", path)
	if err != nil {
		return "", fmt.Errorf("%w: install git %s or newer (https://git-scm.com/downloads), in a folder of PATH that is neither in the project nor writable by others", ErrMissing, oldest)
	}
	return file, nil
}

// oldest is the oldest version of git that is used. It is the first that can be told to read no configuration of the user.
var oldest = version{2, 32}

type version struct{ major, minor int }

func (v version) String() string { return fmt.Sprintf("%d.%d", v.major, v.minor) }

func (v version) before(o version) bool {
	return v.major < o.major || v.major == o.major && v.minor < o.minor
}

// ready returns an error if git is missing or too old. It asks git once.
func (c *Client) ready(ctx context.Context) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.checked {
		return nil
	}
	said, _, err := c.run(ctx, &call{args: []string{"version"}, most: 1 << 10})
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return fmt.Errorf("%w: %s does not start: %w", ErrMissing, c.o.Program, err)
	}
	v, err := parseVersion(string(said))
	if err != nil {
		return fmt.Errorf("%s: %w", c.o.Program, err)
	}
	if v.before(oldest) {
		return fmt.Errorf("%w: %s is version %s, and %s or newer is needed: update git (https://git-scm.com/downloads)", ErrTooOld, c.o.Program, v, oldest)
	}
	c.checked = true
	return nil
}

var versionText = lazyregexp.New(`^git version (\d{1,4})\.(\d{1,4})`)

func parseVersion(said string) (version, error) {
	m := versionText().FindStringSubmatch(said)
	if m == nil {
		return version{}, errors.New("it does not say its version as git does")
	}
	major, _ := strconv.Atoi(m[1])
	minor, _ := strconv.Atoi(m[2])
	return version{major, minor}, nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
