package skills_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// job is one call of a bundled script in a batch.
type job struct {
	Base   string   `json:"base"` // KALSHI_API_BASE
	Script string   `json:"script"`
	Args   []string `json:"args"`
}

func (x exchange) job(t *testing.T, script string, args ...string) job {
	return job{x.base, absolute(t, "kalshi-markets/scripts/"+script+".py"), args}
}

// driver runs each job as its own program, but in one interpreter: starting Python and importing httpx take half of the
// time of a call.
const driver = `
import io, json, os, runpy, sys, traceback

done = []
out, err = sys.stdout, sys.stderr
for job in json.load(sys.stdin):
    os.environ["KALSHI_API_BASE"] = job["base"]
    sys.argv = [job["script"]] + (job["args"] or [])
    sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), encoding="ascii") for _ in range(2))
    code = 0
    try:
        runpy.run_path(job["script"], run_name="__main__")
    except SystemExit as end:
        code = end.code or 0
    except BaseException:
        code = 99
        traceback.print_exc()
    texts = []
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
        texts.append(stream.buffer.getvalue().decode("utf-8"))
    done.append([code] + texts)
sys.stdout, sys.stderr = out, err
json.dump(done, out)
`

// batch runs jobs one after another and returns their results in order.
func batch(t *testing.T, env []string, jobs ...job) []result {
	t.Helper()
	dir := t.TempDir()
	program, input := filepath.Join(dir, "driver.py"), filepath.Join(dir, "jobs.json")
	text, err := json.Marshal(jobs)
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{program: []byte(driver), input: text} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := start(t, call{program: program, env: env, stdin: input}).ok(t)
	var done [][3]any
	if err := json.Unmarshal([]byte(r.stdout), &done); err != nil || len(done) != len(jobs) {
		t.Fatalf("%v: %d of %d jobs done: %s", err, len(done), len(jobs), r.stdout)
	}
	var results []result
	for _, d := range done {
		results = append(results, result{int(d[0].(float64)), d[1].(string), d[2].(string)})
	}
	return results
}
