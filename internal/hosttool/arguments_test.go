package hosttool

import (
	"os"
	"path/filepath"
	"testing"
)

// Issue 4.4: what a person is asked about, or shown, is what is done: a key in another case, or a second one, is no way
// around that, and neither is a key that only looks like what the call is about.
func TestOneReadingOfACall(t *testing.T) {
	k := newKit(t, allow)
	for _, c := range []struct{ tool, args, says string }{
		{"bash", `{"command":"echo harmless","Command":"echo x > made"}`, "arguments do not fit the tool's schema: "},
		{"bash", `{"command":"echo harmless","command":"echo x > made"}`, "arguments of 'bash' cannot be read: "},
		{"write_file", `{"file_path":"harmless","FILE_PATH":"made","content":"x"}`, "arguments do not fit the tool's schema: "},
		{"write_file", `{"file_path":"made","content":"x","command":"ls"}`, "arguments do not fit the tool's schema: "},
	} {
		k.want(c.tool, c.args, `{"success":false,"error":"execution_failed","reason":"invalid_arguments","message":"`+c.says)
		for _, name := range []string{"made", "harmless"} {
			if _, err := os.Stat(filepath.Join(k.ws, name)); err == nil {
				t.Fatalf("%s %s made a file", c.tool, c.args)
			}
		}
	}
}
