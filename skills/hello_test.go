package skills_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func absolute(t *testing.T, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("core", filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAdvancedGreeting(t *testing.T) { // R163, R109
	script := absolute(t, "hello-extended/scripts/advanced_greeting.py")
	for _, row := range []struct{ name, args, want string }{
		{"casual", "--name Ada", "Hey Ada! How's it going?"},
		{"formal", "--name Ada --style formal", "Dear Ada. I hope this message finds you well."},
		{"enthusiastic", "--name Ada --style enthusiastic", "Hello Ada! Great to see you!"},
		{"hostile", "--name \x1b[31mA\u202eda", "Hey [31mAda! How's it going?"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			args := strings.Fields(row.args)
			if got := run(t, nil, script, args...).ok(t).stdout; got != row.want+"\n" {
				t.Errorf("got %q, want %q", got, row.want)
			}
			data := run(t, nil, script, append(args, "--json")...).ok(t).document(t)
			if data["greeting"] != row.want || data["time_aware"] != false || data["style"] == nil || len(data) != 5 {
				t.Errorf("JSON: got %v", data)
			}
		})
	}
}

func TestAdvancedGreetingKnowsTheTimeOfDay(t *testing.T) {
	t.Parallel()
	script := absolute(t, "hello-extended/scripts/advanced_greeting.py")
	for _, style := range []string{"formal", "casual", "enthusiastic"} {
		data := run(t, nil, script, "--name", "Ada", "--style", style, "--time-aware", "--json").ok(t).document(t)
		at, err := time.Parse("2006-01-02T15:04:05", data["timestamp"].(string))
		if err != nil {
			t.Fatal(err)
		}
		want := "Good morning, Ada"
		if at.Hour() >= 12 {
			want = "Good afternoon, Ada"
		}
		if at.Hour() >= 18 {
			want = "Good evening, Ada"
		}
		if got := data["greeting"].(string); !strings.HasPrefix(got, want) || data["time_aware"] != true {
			t.Errorf("%s: got %v, want it to begin with %q", style, data, want)
		}
	}
}

func TestPartsOfTheDay(t *testing.T) { // R163
	t.Parallel()
	program := filepath.Join(t.TempDir(), "hours.py")
	text := "import runpy, sys\nf = runpy.run_path(sys.argv[1])['part_of_day']\nprint(*[f(hour)[5] for hour in range(24)])\n"
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got := run(t, nil, program, absolute(t, "hello-extended/scripts/advanced_greeting.py")).ok(t).stdout
	if want := strings.Repeat("m ", 12) + strings.Repeat("a ", 6) + strings.TrimSpace(strings.Repeat("e ", 6)) + "\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestAdvancedGreetingRefusals(t *testing.T) {
	t.Parallel()
	script := absolute(t, "hello-extended/scripts/advanced_greeting.py")
	for _, args := range [][]string{{"--json"}, {"--name", " \u200b "}, {"--name", "Ada", "--style", "rude"}} {
		if r := run(t, nil, script, args...); r.code != 2 || r.stdout != "" || r.stderr == "" {
			t.Errorf("%q: exit code %d, stdout %q, stderr %q", args, r.code, r.stdout, r.stderr)
		}
	}
}

func TestManifestOfHelloExtendedAdvertisesOnlyOptionsThatExist(t *testing.T) {
	t.Parallel()
	help := run(t, nil, absolute(t, "hello-extended/scripts/advanced_greeting.py"), "--help").ok(t).stdout
	for _, word := range strings.FieldsFunc(frontMatter(t, "hello-extended").body, func(r rune) bool { return !strings.ContainsRune("-abcdefghijklmnopqrstuvwxyz", r) }) {
		if strings.HasPrefix(word, "--") && !strings.Contains(help, word) {
			t.Errorf("the help does not mention %s", word)
		}
	}
}

// host is the minimal host that the toolset needs: the base class, the class loaded from its file, and calls with named
// arguments.
const host = `
import importlib.util, json, sys, types

class AgentToolset:
    def __init__(self, config=None):
        self.config = config
    def _create_success_response(self, result=None, message=""):
        return {"success": True, "result": result, "message": message}
    def _create_error_response(self, error="", message=""):
        return {"success": False, "error": error, "message": message}

module = types.ModuleType("agent_base")
module.AgentToolset = AgentToolset
sys.modules["agent_base"] = module
spec = importlib.util.spec_from_file_location("toolsets.hello", sys.argv[1])
hello = importlib.util.module_from_spec(spec)
spec.loader.exec_module(hello)
assert issubclass(hello.HelloExtended, AgentToolset)
toolset = hello.HelloExtended(None)
tools = {tool.__name__: tool for tool in toolset.get_tools()}
assert all(tool.__doc__ for tool in tools.values())
print(json.dumps([tools[name](**arguments) for name, arguments in json.loads(sys.argv[2])]))
`

func TestToolsetOfHelloExtended(t *testing.T) { // R163, R115
	t.Parallel()
	program := filepath.Join(t.TempDir(), "host.py")
	if err := os.WriteFile(program, []byte(host), 0o600); err != nil {
		t.Fatal(err)
	}
	rows := []struct{ call, want string }{
		{`["greet_in_language", {"name": "Ada"}]`, `{"message":"Generated greeting in en","result":"Hello, Ada!","success":true}`},
		{`["greet_in_language", {"name": "Ada", "language": "es"}]`, `{"message":"Generated greeting in es","result":"¡Hola, Ada!","success":true}`},
		{`["greet_in_language", {"name": "Ada", "language": "fr"}]`, `{"message":"Generated greeting in fr","result":"Bonjour, Ada!","success":true}`},
		{`["greet_in_language", {"name": "{0} %s", "language": "de"}]`, `{"message":"Generated greeting in de","result":"Guten Tag, {0} %s!","success":true}`},
		{`["greet_in_language", {"name": "Ada", "language": "ja"}]`, `{"message":"Generated greeting in ja","result":"こんにちは, Adaさん!","success":true}`},
		{`["greet_in_language", {"name": "Ada", "language": "zh"}]`, `{"message":"Generated greeting in zh","result":"你好, Ada!","success":true}`},
		{`["greet_in_language", {"name": "Ada", "language": "xx"}]`, `{"error":"unsupported_language","message":"Language 'xx' not supported. Available: en, es, fr, de, ja, zh","success":false}`},
		{`["greet_multiple", {"names": ["Ada", "Alan"], "language": "es"}]`, `{"message":"Generated 2 greetings","result":["¡Hola, Ada!","¡Hola, Alan!"],"success":true}`},
		{`["greet_multiple", {"names": []}]`, `{"message":"Generated 0 greetings","result":[],"success":true}`},
		{`["greet_multiple", {"names": ["Ada"], "language": "xx"}]`, `{"error":"unsupported_language","message":"Language 'xx' not supported. Available: en, es, fr, de, ja, zh","success":false}`},
	}
	var list []string
	for _, row := range rows {
		list = append(list, row.call)
	}
	r := run(t, nil, program, absolute(t, "hello-extended/toolsets/hello.py"), "["+strings.Join(list, ",")+"]").ok(t)
	var got []any
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || len(got) != len(rows) {
		t.Fatalf("%v: %s", err, r.stdout)
	}
	for i, row := range rows {
		text, err := json.Marshal(got[i])
		if err != nil || string(text) != row.want {
			t.Errorf("%s: got %s, want %s", row.call, text, row.want)
		}
	}
}

// The oldest Python that the blocks promise can parse every bundled script.
func TestGrammarOfTheOldestPython(t *testing.T) { // R162
	t.Parallel()
	program := filepath.Join(t.TempDir(), "grammar.py")
	text := "import ast, pathlib, sys\nfiles = sorted(pathlib.Path(sys.argv[1]).rglob('*.py'))\nfor file in files:\n" +
		"    ast.parse(file.read_text('utf-8'), str(file), feature_version=(3, 9))\nprint(len(files))\n"
	if err := os.WriteFile(program, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := run(t, nil, program, absolute(t, ".")).ok(t).stdout; got != "13\n" {
		t.Errorf("%s files were read, want 13", got)
	}
}
