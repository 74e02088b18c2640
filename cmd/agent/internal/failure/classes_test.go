package failure

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/install"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/skill"
	"github.com/agent-base/agent-base/skill/manifest"
	"github.com/agent-base/agent-base/skilltool"
)

// is reports whether an error is, or wraps, one of a type, whose name it returns.
func is[E error](err error) (string, bool) {
	var e E
	return fmt.Sprintf("%T", e), errors.As(err, &e)
}

// R134: each class of the source is a type that is found below any wrapping, is none of the others, and names what it is about.
func TestErrorClasses(t *testing.T) {
	classes := []func(error) (string, bool){is[*skill.NotFoundError], is[*skill.BrokenError], is[*install.NeedError], is[*skilltool.UntrustedError],
		is[*install.IntegrityError], is[*runner.DeniedError]}
	for i, err := range []error{
		&skill.NotFoundError{Name: "csv"},
		&skill.BrokenError{Name: "csv"},
		&install.NeedError{By: "csv", Need: manifest.Need{Name: "pdf"}},
		&skilltool.UntrustedError{Skill: "csv"},
		&install.IntegrityError{Path: "/store/csv", Want: "sha256:1", Got: "sha256:2"},
		&runner.DeniedError{Dir: "/work/csv", What: "more than 2000 files"},
	} {
		wrapped := fmt.Errorf("outer: %w", errors.Join(errors.New("another"), fmt.Errorf("inner: %w", err)))
		for j, class := range classes {
			if name, found := class(wrapped); found != (i == j) {
				t.Errorf("%v is a %s: %t", err, name, found)
			}
		}
		if !strings.Contains(err.Error(), "csv") {
			t.Errorf("%T does not say what it is about: %v", err, err)
		}
	}
}
