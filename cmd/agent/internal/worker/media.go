package worker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/cmd/agent/internal/chat"
	"github.com/agent-base/agent-base/cmd/agent/internal/failure"
	"github.com/agent-base/agent-base/internal/lockfile"
	"github.com/agent-base/agent-base/internal/media"
	"github.com/agent-base/agent-base/llm"
	"github.com/agent-base/agent-base/tool"
)

// take takes an image or a PDF document of the user for the next turn. The error says why it is not shown to the model.
func (w *worker) take(m llm.Media) error {
	if why := w.found.Unseen(m.Type, false); why != "" {
		return failure.Usage(fmt.Errorf("%s is not shown to %s: %s", &m, w.found, why), "choose another --model, or say by the setting modelReads what it reads")
	}
	size := len(m.Data)
	for _, other := range w.shown {
		size += len(other.Data)
	}
	if len(w.shown) == media.MaxCount || size > media.MaxAll {
		return fmt.Errorf("%s is one too many: a prompt may show %d images and documents, with %d MB", &m, media.MaxCount, media.MaxAll>>20)
	}
	w.shown = append(w.shown, m)
	return nil
}

// attachOther takes what read_file returned about a file that is no text, for the next turn. It returns what the row for the user says of
// it; false means that it takes no such file.
func (w *worker) attachOther(path string, r *tool.Result) (said string, ok bool) {
	if r.Reason == "outside" {
		if data, err := w.readDropped(path); err == nil {
			*r = tool.Success(nil, "")
			r.Media = []tool.Media{{Type: media.Type(data), Name: filepath.Base(path), Data: data}}
		} else if !errors.Is(err, errNotDropped) {
			return err.Error(), false
		}
	}
	for _, m := range r.Media {
		if err := w.take(llm.Media(m)); err != nil {
			return err.Error(), false
		}
		said = media.Describe(m.Data)
	}
	return said, said != ""
}

// dropped looks at a path that the user pasted. It returns what it is if it is an image or a document, which the user may then attach wherever
// it lies.
func (w *worker) dropped(path string) (d chat.Drop, ok bool) {
	if rest, found := strings.CutPrefix(path, "~/"); found {
		path = filepath.Join(w.s.Sys.Home, rest)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(w.s.Sys.Dir, path)
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return d, false
	}
	f, err := os.Open(path)
	if err != nil {
		return d, false
	}
	defer f.Close()
	head := make([]byte, 16)
	n, _ := f.Read(head) // what cannot be read is neither
	kind := media.Type(head[:n])
	d = chat.Drop{Kind: "image", Path: path, Size: media.Size(int(min(info.Size(), 1<<30)))}
	if kind == media.PDF {
		d.Kind = "document"
	}
	if rel, err := filepath.Rel(w.s.Settings.Config().Paths.Project, path); err == nil && filepath.IsLocal(rel) {
		d.Path = rel
	} else if kind != "" {
		w.drops.Store(path, true)
	}
	return d, kind != ""
}

var errNotDropped = errors.New("the user did not paste this path")

// readDropped reads an image or a document outside the project that the user pasted the path of. Rules that deny a file deny it here, too.
func (w *worker) readDropped(path string) ([]byte, error) {
	if _, ok := w.drops.Load(path); !ok {
		return nil, errNotDropped
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	for _, p := range []string{path, real} {
		if d := w.gate.current().Decide(&permit.Call{Tool: "read_file", Kind: permit.Read, Path: p}); d.Verdict == permit.Denied {
			return nil, errors.New(d.Reason)
		}
	}
	data, err := lockfile.Read(real, media.MaxPDF)
	if err != nil {
		return nil, err
	}
	return data, media.Check(data)
}
