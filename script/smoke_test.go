package script

import "testing"

func TestSmoke(t *testing.T) {
	s := open(t, "", tree{"scripts/a.py": "import sys, json\nprint(json.dumps(sys.argv[1:]))\n"})
	res, err := run(t, host(t), s, "A.py", &RunOptions{Args: []string{"x y", "$(z)"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(res.JSON), `["x y","$(z)","--json"]`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
