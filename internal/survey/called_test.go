package survey

import (
	"reflect"
	"testing"
	"testing/fstest"
)

func TestCalledBy(t *testing.T) { // C68
	files := fstest.MapFS{}
	for _, name := range []string{"scripts/run.sh", "scripts/x.py", "scripts/lib/y.py", "top.py", "scripts/n.mjs", "src/a.ts"} {
		files[name] = &fstest.MapFile{}
	}
	for _, row := range []struct {
		name, text string
		want       Called
	}{
		{"nothing", "echo hello\n# python3 x.py\n", Called{}},
		{"from the skill's folder", "python scripts/x.py \"$@\"\n", Called{Files: []string{"scripts/x.py"}}},
		{"beside the script", `exec python3 "$(dirname "$0")/x.py"`, Called{Files: []string{"scripts/x.py"}}},
		{"after a variable", `"$DIR/lib/y.py" a; node "${HERE}/n.mjs"`, Called{Files: []string{"scripts/lib/y.py", "scripts/n.mjs"}}},
		{"in a variable", "TOOL=\"$DIR/../top.py\"\npython3 \"$TOOL\"\n", Called{Files: []string{"top.py"}, More: true}},
		{"in a default", `python3 "${TOOL:-scripts/x.py}"`, Called{More: true}},
		{"in a substitution", `OUT=$(python3 "$DIR/x.py" | tail -1)`, Called{Files: []string{"scripts/x.py"}}},
		{"after cd", `cd "$ROOT" && bun src/a.ts`, Called{Files: []string{"src/a.ts"}}},
		{"code", `python3 -c "import yaml; print(1)"`, Called{Code: []string{"import yaml; print(1)"}}},
		{"a module", "if ! python3 -u -m pytest x; then :; fi", Called{Code: []string{"import pytest"}}},
		{"its own installation", "python3 -m pip install -r requirements.txt", Called{}},
		{"what it reads", "python3 - <<'EOF'\nimport yaml\nEOF\n", Called{More: true}},
		{"another file", `python3 "$1"`, Called{More: true}},
		{"a question", "command -v python3 >/dev/null; python3 --version", Called{}},
		{"out of the skill", "python3 ../../x.py /etc/x.py", Called{More: true}},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := *CalledBy(files, "scripts/run.sh", []byte(row.text)); !reflect.DeepEqual(got, row.want) {
				t.Errorf("got %+v, want %+v", got, row.want)
			}
		})
	}
}

func FuzzCalledBy(f *testing.F) {
	f.Add(`python3 "$(dirname "$0")/x.py" $(python3 -c 'x' $(y))`)
	f.Add("A=${B:-x.py} python3 - <<E\nx\nE")
	files := fstest.MapFS{"scripts/x.py": {}}
	f.Fuzz(func(t *testing.T, text string) {
		c := CalledBy(files, "scripts/run.sh", []byte(text))
		if len(c.Files) > 1 || len(c.Code) > maxCalled {
			t.Errorf("got %+v", c)
		}
	})
}
