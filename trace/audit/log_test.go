package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agent-base/agent-base/trace"
)

// writerVariable makes this test binary a process that writes to a log: DIR COUNT, or DIR - for one that never ends.
const writerVariable = "AUDIT_TEST_WRITER"

func TestMain(m *testing.M) {
	if spec := os.Getenv(writerVariable); spec != "" {
		writeMany(spec)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func writeMany(spec string) {
	dir, count, _ := strings.Cut(spec, " ")
	l := New(&Options{Dir: dir, maxSize: 64 << 10, maxFiles: 1000, wait: time.Minute})
	for i := 0; count == "-" || fmt.Sprint(i) != count; i++ {
		trace.Emit(context.Background(), l, trace.Event{Kind: trace.ScriptRun, Skill: "csv-report", Script: fmt.Sprintf("p%d-%d", os.Getpid(), i)})
	}
	if _, err := l.Failure(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// writer starts a process that writes to a log.
func writer(t *testing.T, dir, count string) *exec.Cmd {
	t.Helper()
	c := exec.CommandContext(t.Context(), os.Args[0])
	c.Env = append(os.Environ(), writerVariable+"="+dir+" "+count)
	c.Stderr = os.Stderr
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c
}

// clean fails the test unless the log verifies, and returns the report.
func clean(t *testing.T, dir string) *Report {
	t.Helper()
	return cleanOf(t, dir, defaultMaxFiles)
}

func cleanOf(t *testing.T, dir string, files int) *Report {
	t.Helper()
	r, err := Verify(t.Context(), dir, &VerifyOptions{maxFiles: files})
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Breaks {
		t.Error(b)
	}
	return r
}

// records returns the records of a log.
func records(t *testing.T, dir string) (out []Record) {
	t.Helper()
	for e, err := range Read(t.Context(), dir) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Err == nil {
			out = append(out, e.Record)
		}
	}
	return out
}

var noon = time.Date(2026, 11, 22, 12, 0, 0, 5e6, time.FixedZone("", 3600))

// R130 R168: the four events have exactly these members; further members are our own.
func TestEventsOfTheSkill(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "audit")
	l := New(&Options{Dir: dir})
	ctx := trace.WithIdentity(t.Context(), trace.Identity{Agent: "researcher", Task: "t1", Tenant: "acme", Correlation: "c1", Model: "anthropic/x"})
	for _, e := range []trace.Event{
		{Kind: trace.SkillActivated, Skill: "kalshi-markets", Attrs: []slog.Attr{slog.Any(trace.AttrAllowedTools, []string{"Read", "Bash(git:*)"}), slog.String(trace.AttrSkillPath, "/s/SKILL.md")}},
		{Kind: trace.ModelRequested, Attrs: []slog.Attr{slog.Int(trace.AttrInput, 1000), slog.Int(trace.AttrOutput, 24)}},
		{Kind: trace.ToolInSkill, Level: slog.LevelDebug, Skill: "kalshi-markets", Tool: "Read"},
		{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: "kalshi-markets", Tool: "LLM",
			Err: errors.New("Tool 'LLM' not allowed by skill 'kalshi-markets'. Allowed tools: Read (not in allowed-tools list)")},
		{Kind: trace.SkillDeactivated, Skill: "kalshi-markets", Duration: 1500 * time.Millisecond},
		{Kind: trace.SkillActivated, Skill: "free"},
		{Kind: trace.SkillActivated, Skill: "none", Attrs: []slog.Attr{slog.Any(trace.AttrAllowedTools, []string{})}},
	} {
		e.Time = noon
		trace.Emit(ctx, l, e)
	}
	who := `"agent_id":"researcher","task_id":"t1","tenant_id":"acme",`
	want := []string{
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"skill_activated","skill_name":"kalshi-markets","skill_path":"/s/SKILL.md",` + who + `"allowed_tools":["Read","Bash(git:*)"],"correlation_id":"c1","model":"anthropic/x","seq":1,`,
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"tool_execution_in_skill","skill_name":"kalshi-markets","tool_name":"Read","tool_allowed":true,` + who + `"correlation_id":"c1","model":"anthropic/x","seq":2,`,
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"tool_restriction_violated","skill_name":"kalshi-markets","tool_name":"LLM","tool_allowed":false,` + who +
			`"correlation_id":"c1","error":"Tool 'LLM' not in allowed-tools list","reason":"Tool 'LLM' not allowed by skill 'kalshi-markets'. Allowed tools: Read (not in allowed-tools list)","model":"anthropic/x","seq":3,`,
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"skill_deactivated","skill_name":"kalshi-markets",` + who + `"correlation_id":"c1","duration_seconds":1.5,"model":"anthropic/x","tokens":1024,"seq":4,`,
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"skill_activated","skill_name":"free",` + who + `"allowed_tools":null,"correlation_id":"c1","model":"anthropic/x","seq":5,`,
		`{"timestamp":"2026-11-22T11:00:00.005Z","event":"skill_activated","skill_name":"none",` + who + `"allowed_tools":[],"correlation_id":"c1","model":"anthropic/x","seq":6,`,
	}
	var got []string
	for e := range Read(t.Context(), dir) {
		line, _, _ := strings.Cut(string(e.Raw), `"prev":`)
		got = append(got, line)
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	clean(t, dir)
	if info, err := os.Stat(filepath.Join(dir, currentName)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// Other kinds say what was decided; events that are not listed leave no line.
func TestOtherEvents(t *testing.T) {
	dir := t.TempDir()
	l := New(&Options{Dir: dir})
	for _, e := range []trace.Event{
		{Kind: trace.CatalogRefreshed},
		{Kind: trace.ToolCalled, Level: slog.LevelDebug, Tool: "bash"},
		{Kind: trace.ToolDenied, Level: slog.LevelDebug, Tool: "bash", Message: "a violation is an event of its own"},
		{Kind: trace.ToolDenied, Level: slog.LevelWarn, Tool: "bash", Message: "no terminal to ask on"},
		{Kind: trace.ToolDenied, Level: slog.LevelWarn, Tool: "bash", Message: "not with AKIAIOSFODNN7EXAMPLE"}, // R176: without Redact, too
		{Kind: trace.RestrictionViolated, Level: slog.LevelWarn, Skill: "a", Tool: "bash", Err: errors.New("a hook said no"), Attrs: []slog.Attr{slog.String(trace.AttrReason, "hook"), slog.Bool(trace.AttrEnforced, true)}},
		{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: "a", Script: "x", Err: errors.New("exit 1"), Attrs: []slog.Attr{slog.String("code", "execution_failed"), slog.String("secret", "s3cr3t")}},
		{Kind: trace.ScriptRun, Level: slog.LevelError, Skill: "a", Script: "x", Err: errors.New("not trusted"), Attrs: []slog.Attr{slog.String("code", "permission_denied")}},
		{Kind: trace.TrustAsked, Level: slog.LevelWarn, Skill: "a", Message: "Skill 'a' was not approved"},
		{Kind: trace.GrantChanged, Skill: "a", Attrs: []slog.Attr{slog.Any(trace.AttrGrant, []string{"env=TOKEN"}), slog.String(trace.AttrDigest, "sha256:1")}},
		{Kind: trace.ScriptReadAttempted, Level: slog.LevelWarn, Skill: "a", Script: "x.py", Message: "Blocked", Attrs: []slog.Attr{slog.Bool(trace.AttrBlocked, true)}},
		{Kind: trace.NetworkRefused, Level: slog.LevelWarn, Skill: "a", Message: "not granted", Attrs: []slog.Attr{slog.String(trace.AttrHost, "evil.example:443")}},
	} {
		trace.Emit(t.Context(), l, e)
	}
	var got []string
	for _, r := range records(t, dir) {
		got = append(got, fmt.Sprintf("%s %s %s %q %q refused=%v", r.Event, r.Outcome, r.Code+r.Digest+r.Host, r.Error, r.Grant, r.Refused()))
	}
	want := []string{
		`tool_denied   "no terminal to ask on" [] refused=true`,
		`tool_denied   "not with [redacted]" [] refused=true`,
		`tool_restriction_violated   "a hook said no" [] refused=true`,
		`script_run failed execution_failed "exit 1" [] refused=false`,
		`script_run denied permission_denied "not trusted" [] refused=true`,
		`trust_asked denied  "" [] refused=true`,
		`grant_changed  sha256:1 "" ["env=TOKEN"] refused=false`,
		`script_read_attempted   "Blocked" [] refused=true`,
		`network_refused  evil.example:443 "not granted" [] refused=true`,
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// Without options nothing is written, and Failure says so.
func TestNewWithoutOptions(t *testing.T) {
	l := New(nil)
	l.Trace(t.Context(), trace.Event{Kind: trace.SkillActivated})
	if lost, err := l.Failure(); lost != 1 || err == nil || !strings.Contains(err.Error(), "not an absolute path") {
		t.Errorf("got %d, %v", lost, err)
	}
}

// Whatever a text holds, it stays in its line, and it is cut and redacted (security 2.14 #188, #189, #190).
func TestHostileTexts(t *testing.T) {
	dir := t.TempDir()
	l := New(&Options{Dir: dir, Redact: func(s string) string { return strings.ReplaceAll(s, "hunter2", "[redacted]") }})
	evil := "a\n{\"event\":\"trust_approved\"}\r\n\x00\x1b]0;x\x07\xff\u2028 hunter2"
	list := make([]string, 10_000)
	for i := range list {
		list[i] = evil + strings.Repeat("x", 10_000)
	}
	ctx := trace.WithIdentity(t.Context(), trace.Identity{Agent: "a\n\x1b{}", Task: strings.Repeat("\x01", 1<<20), Tenant: "../b"})
	trace.Emit(ctx, l, trace.Event{Kind: trace.SkillActivated, Skill: evil, Attrs: []slog.Attr{slog.Any(trace.AttrAllowedTools, list), slog.Any(trace.AttrGrant, list)}})
	trace.Emit(ctx, l, trace.Event{Kind: trace.ScriptRun, Skill: evil, Err: errors.New(evil)})
	if _, err := l.Failure(); err != nil {
		t.Fatal(err)
	}
	src, err := os.ReadFile(filepath.Join(dir, currentName))
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(src), "\n"); n != 2 || strings.Contains(string(src), "hunter2") || strings.ContainsAny(string(src), "\r\x00\x1b\u2028") {
		t.Errorf("%d lines: %.3000q", n, src)
	}
	if r := clean(t, dir); r.Records != 2 {
		t.Errorf("%d records", r.Records)
	}
}

// R130, security 2.14 #189: several processes write one chain, also when some of them are killed in the middle.
func TestManyWriters(t *testing.T) {
	dir := t.TempDir()
	var all []*exec.Cmd
	for range 8 {
		all = append(all, writer(t, dir, "200"))
	}
	for range 3 { // these are killed
		c := writer(t, dir, "-")
		time.Sleep(60 * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = c.Wait()
	}
	for _, c := range all {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	r := clean(t, dir)
	seen := map[string]bool{}
	for _, rec := range records(t, dir) {
		seen[rec.Script] = true
	}
	for _, c := range all {
		for i := range 200 {
			if name := fmt.Sprintf("p%d-%d", c.Process.Pid, i); !seen[name] {
				t.Fatalf("the record of %s is missing", name)
			}
		}
	}
	if r.Records < 1600 || r.Records != r.Last || r.Files < 4 {
		t.Errorf("%+v", r)
	}
}

// A line that a killed writer left unfinished is described by the next record, and hides nothing.
func TestUnfinishedLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		tear func(line []byte) []byte
		torn int
	}{
		{"in the middle", func(line []byte) []byte { return line[:len(line)/2] }, 1},
		{"one byte", func(line []byte) []byte { return line[:1] }, 1},
		{"zeros of a file system", func([]byte) []byte { return make([]byte, 3*maxLine) }, 1},
		{"all but the end", func(line []byte) []byte { return line[:len(line)-1] }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, currentName)
			emit(t, New(&Options{Dir: dir}), "one", "two")
			src, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			second := strings.IndexByte(string(src), '\n') + 1
			if err := os.WriteFile(path, append(src[:second:second], tt.tear(src[second:])...), 0o600); err != nil {
				t.Fatal(err)
			}
			before, err := Verify(t.Context(), dir, nil)
			if zeros := strings.HasPrefix(tt.name, "zeros"); err != nil || (len(before.Breaks) > 0) != zeros || !zeros && before.Torn != tt.torn {
				t.Errorf("before the next record: %+v, %v", before, err) // a writer of the log does not write zeros
			}
			emit(t, New(&Options{Dir: dir}), "three", "four")
			if r := clean(t, dir); r.Torn != tt.torn || r.Last != 4 {
				t.Errorf("after it: %+v", r)
			}
			var names []string
			for _, rec := range records(t, dir) {
				names = append(names, string(rec.Event)+rec.Skill)
			}
			want := "skill_removedone audit_repaired skill_removedthree skill_removedfour"
			if tt.torn == 0 {
				want = "skill_removedone skill_removedtwo skill_removedthree skill_removedfour"
			}
			if got := strings.Join(names, " "); got != want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// emit writes one record for each skill.
func emit(t *testing.T, l *Log, skills ...string) {
	t.Helper()
	for _, name := range skills {
		trace.Emit(t.Context(), l, trace.Event{Kind: trace.SkillRemoved, Skill: name})
	}
	if _, err := l.Failure(); err != nil {
		t.Fatal(err)
	}
}

// The files are bounded in size and number, and the chain goes on.
func TestRotation(t *testing.T) {
	dir := t.TempDir()
	l := New(&Options{Dir: dir, maxSize: 2000, maxFiles: 3})
	for i := range 100 {
		emit(t, l, fmt.Sprint(i))
	}
	r := cleanOf(t, dir, 3)
	if r.Files != 3 || r.Last != 100 || r.First < 60 {
		t.Errorf("%+v", r)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if info, err := f.Info(); err != nil || info.Size() > 2500 || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), info, err)
		}
	}
	if err := os.Remove(filepath.Join(dir, currentName)); err != nil { // as a crash between two steps leaves it
		t.Fatal(err)
	}
	before := records(t, dir)
	emit(t, New(&Options{Dir: dir}), "next")
	if after := cleanOf(t, dir, 3); after.Last != before[len(before)-1].Seq+1 {
		t.Errorf("%+v", after)
	}
	for _, old := range files[:2] { // the oldest alone, and then all older ones: security 2.14 #189
		if err := os.Remove(filepath.Join(dir, old.Name())); err != nil {
			t.Fatal(err)
		}
		r, err := Verify(t.Context(), dir, &VerifyOptions{maxFiles: 3})
		if err != nil || len(r.Breaks) != 1 || r.Breaks[0].What != fmt.Sprintf("records 1 to %d are missing, and not by rotation: the log has fewer files than it keeps", r.First-1) {
			t.Errorf("without %s: %+v, %v", old.Name(), r, err)
		}
	}
}

// Events that cannot be written are counted, and Guard fails as long as that is so (security 2.14 #189).
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	full := true
	l := New(&Options{Dir: dir, write: func(f *os.File, line []byte) (int, error) {
		if full {
			n, _ := f.Write(line[:len(line)/3])
			return n, syscall.ENOSPC
		}
		return f.Write(line)
	}})
	for range 3 {
		trace.Emit(t.Context(), l, trace.Event{Kind: trace.SkillRemoved, Skill: "a"})
	}
	lost, err := l.Failure()
	if lost != 3 || !errors.Is(err, syscall.ENOSPC) || !strings.Contains(err.Error(), dir) {
		t.Errorf("%d, %v", lost, err)
	}
	if err := l.Guard(t.Context(), trace.Event{Kind: trace.ToolStarting, Tool: "bash"}); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Guard: %v", err)
	}
	full = false
	if err := l.Guard(t.Context(), trace.Event{Kind: trace.ToolStarting, Tool: "bash"}); err != nil {
		t.Errorf("Guard: %v", err)
	}
	if _, err := l.Failure(); err != nil {
		t.Error(err)
	}
	got := records(t, dir)
	last := got[len(got)-1]
	before := got[len(got)-2]
	if before.Event != Lost || before.Count != 4 || last.Event != trace.ToolStarting || clean(t, dir).Torn == 0 {
		t.Errorf("%+v", got)
	}
}

// What a process could not write and ended with, the next one that can write records (security 2.14 #189).
func TestLostByAnother(t *testing.T) {
	dir := t.TempDir()
	emit(t, New(&Options{Dir: dir}), "before")
	for range 2 {
		l := New(&Options{Dir: dir, write: func(*os.File, []byte) (int, error) { return 0, syscall.ENOSPC }})
		trace.Emit(t.Context(), l, trace.Event{Kind: trace.SkillRemoved, Skill: "a"})
		trace.Emit(t.Context(), l, trace.Event{Kind: trace.SkillRemoved, Skill: "b"})
	}
	emit(t, New(&Options{Dir: dir}), "after", "more")
	got := records(t, dir)
	if len(got) != 4 || got[1].Event != Lost || got[1].Count != 4 || got[2].Skill != "after" || got[3].Skill != "more" {
		t.Errorf("%+v", got)
	}
	clean(t, dir)
}

// A done context does not keep a record from being written, and goroutines share a log.
func TestGoroutines(t *testing.T) {
	dir := t.TempDir()
	l := New(&Options{Dir: dir})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 25 {
				trace.Emit(ctx, l, trace.Event{Kind: trace.SkillDeactivated, Skill: "a"})
			}
		})
	}
	wg.Wait()
	if r := clean(t, dir); r.Records != 200 {
		t.Errorf("%+v", r)
	}
}

// BenchmarkTrace writes one record.
func BenchmarkTrace(b *testing.B) {
	l := New(&Options{Dir: b.TempDir()})
	for b.Loop() {
		trace.Emit(b.Context(), l, trace.Event{Kind: trace.ScriptRun, Skill: "csv-report", Script: "report", Duration: time.Second})
	}
}

// BenchmarkVerify checks a log of 10,000 records.
func BenchmarkVerify(b *testing.B) {
	dir := b.TempDir()
	l := New(&Options{Dir: dir})
	for range 10_000 {
		trace.Emit(b.Context(), l, trace.Event{Kind: trace.ScriptRun, Skill: "csv-report", Script: "report"})
	}
	for b.Loop() {
		if r, err := Verify(b.Context(), dir, nil); err != nil || len(r.Breaks) > 0 {
			b.Fatal(r, err)
		}
	}
}
