// Package undo keeps what files were before an agent's tools changed them, and puts it back.
//
// A [Journal] records each change of one conversation before it is made: what the file was, and the digest of what it
// becomes. Changes belong to turns, one for each prompt. A record is on the disk before the file changes, so a turn can
// also be taken back after a crash, by another process. [Open] reads a turn, and [Turn.Plan] says what taking it back does: a
// file that something else has changed since is refused, and shown with the reason.
//
// Files that programs change are not recorded. The folder of the journals is private to the user and bounded: see the
// limits. A journal is read with suspicion: a damaged line is counted and ignored, and every path must lead to a file
// below the workspace without a link on the way.
package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// Limits of the journals.
const (
	MaxFile    = 10 << 20            // bytes of a file that is recorded
	MaxTurn    = 256 << 20           // bytes that one turn may record
	MaxBytes   = 512 << 20           // bytes of all turns: the oldest are forgotten
	MaxAge     = 30 * 24 * time.Hour // age of a turn
	maxChanges = 10_000              // changes of one turn
	maxLabel   = 200                 // bytes of a label
	maxRecords = 8 << 20             // bytes of the records of a turn
)

// Options says which journals are meant. Dir, Workspace and Now are required.
type Options struct {
	Dir          string           // absolute folder for the journals of all workspaces; it is made when something is recorded
	Workspace    string           // absolute path without links; paths of changes lie below it
	Conversation string           // name of the conversation; needed to record
	Now          func() time.Time // the clock
}

// folder returns the folder of the workspace's turns.
func (o *Options) folder() string {
	sum := sha256.Sum256([]byte(filepath.Clean(o.Workspace)))
	return filepath.Join(o.Dir, hex.EncodeToString(sum[:8]))
}

// Change is one change of a file that is about to be made.
type Change struct {
	Path    string      // slash path below the workspace, without links
	Existed bool        // there is a file now
	Before  []byte      // its content
	Mode    fs.FileMode // its permissions
	After   []byte      // the content that the file gets
	Folders []string    // slash paths of the folders that are made for it, outermost first
}

// header is the first line of a turn's records.
type header struct {
	Workspace    string    `json:"workspace"`
	Conversation string    `json:"conversation"`
	Label        string    `json:"label"`
	Time         time.Time `json:"time"`
	Turn         int       `json:"turn,omitempty"`
	Ran          bool      `json:"ran,omitempty"`
}

// record is one of the other lines: a change, or the note that the turn was taken back or that a command ran in it.
type record struct {
	Path    string   `json:"path,omitempty"`
	Existed bool     `json:"existed,omitempty"`
	Mode    uint32   `json:"mode,omitempty"`
	Before  string   `json:"before,omitempty"` // digest
	Kept    string   `json:"kept,omitempty"`   // name of the file in the turn's folder that has the old content
	After   string   `json:"after,omitempty"`  // digest
	Folders []string `json:"folders,omitempty"`
	Undone  bool     `json:"undone,omitempty"`
	Ran     bool     `json:"ran,omitempty"`
}

// digest returns the name of a content.
func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// TooLargeError reports that a change was not recorded because of a limit.
type TooLargeError struct{ What string }

// Error says what is too large.
func (e *TooLargeError) Error() string {
	return fmt.Sprintf("the old content cannot be kept for undo: %s", e.What)
}
