package hosttool

import (
	"context"
	"fmt"

	"github.com/agent-base/agent-base/tool"
)

// Request is what the user is asked to allow. Its texts come from a model and can contain anything.
type Request struct {
	Tool   string // bash, write_file or edit_file
	Path   string // the file to be written; "" for bash
	Reason string // why the file needs approval; "" for bash
	Text   string // the command, the whole new file, or the lines of a change after "- " and "+ "
}

// maxApproved is the size in bytes of the longest text that a person is asked about.
const maxApproved = 100_000

// approve returns nil if the user allows a request.
func (h *host) approve(ctx context.Context, r *Request) error {
	act := "running this command"
	if r.Path != "" {
		act = fmt.Sprintf("writing '%s'", r.Path)
	}
	switch {
	case h.o.Approve == nil && r.Path != "":
		return denied("not_approved", "'%s' was not written: %s, and nobody can be asked here; ask the user to write it", r.Path, r.Reason)
	case h.o.Approve == nil && h.o.BashCure != "":
		return denied("not_approved", "Commands are not run here: %s", h.o.BashCure)
	case h.o.Approve == nil:
		return denied("not_approved", "Commands are not run here")
	case len(r.Text) > maxApproved:
		return &refusal{tool.ArgsTooLarge, "", fmt.Sprintf("%s needs approval, and a text of %d bytes is too long to approve; the limit is %d", act, len(r.Text), maxApproved)}
	}
	ok, err := h.o.Approve(ctx, *r)
	if err != nil {
		return denied("not_approved", "The user could not be asked to allow %s: %v", act, err)
	}
	if !ok {
		return denied("not_approved", "The user did not allow %s", act)
	}
	return nil
}
