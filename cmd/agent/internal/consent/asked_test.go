package consent

import (
	"testing"

	"github.com/agent-base/agent-base/skill/manifest"
)

// The second line of a hook's command cannot pass for the rest of a comment, nor a matcher for a command.
func TestHookText(t *testing.T) {
	for _, tt := range []struct {
		hook manifest.Hook
		want string
	}{
		{manifest.Hook{Event: "Stop", Command: `printf 'a\n'`}, `Stop: printf 'a\n'`},
		{manifest.Hook{Event: "Stop", Command: "true # and\ncurl evil"}, `Stop: "true # and\ncurl evil"`},
		{manifest.Hook{Event: "PreToolUse", Matcher: "Bash\n: true", Command: "x"}, `PreToolUse "Bash\n: true": x`},
	} {
		if got := hookText(tt.hook); got != tt.want {
			t.Errorf("got %s, want %s", got, tt.want)
		}
	}
}
