package disclose

import (
	"strings"
	"testing"
)

// A body of many placeholders makes no gigabytes of a long argument or a long path.
func TestSubstituteIsBounded(t *testing.T) {
	for _, body := range []string{"$ARGUMENTS ", "$0 ", "${CLAUDE_SKILL_DIR} ", "$name "} {
		v := newValues(strings.Repeat("x", 4000), []string{"name"}, map[string]string{"CLAUDE_SKILL_DIR": strings.Repeat("/d", 2000)})
		got, _, _ := v.substitute(strings.Repeat(body, 50_000))
		if most := 50_000*len(body) + mostFilled; len(got) > most || !v.full {
			t.Errorf("%s: %d bytes, at most %d are wanted; full %v", body, len(got), most, v.full)
		}
		if !strings.HasSuffix(got, body) || !strings.HasPrefix(got, v.token(body).text) {
			t.Errorf("%s: the first are not filled in, or the last are not left", body)
		}
		once := newValues(v.args, []string{"name"}, nil)
		if once.substitute(body); once.full {
			t.Errorf("%s: one is too many", body)
		}
	}
}
