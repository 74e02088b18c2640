package mcpserve

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"go.uber.org/goleak"

	"github.com/agent-base/agent-base/skill"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// descriptors returns how many files this process has open; 0 where that is not known.
func descriptors() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// Many clients call at once while skills change on disk and some leave in the middle: every answer is one of its call, and nothing is left.
func TestManyClients(t *testing.T) {
	w := newWorld(t, greet)
	at := w.listen(t, &HTTPOptions{Verify: verify})
	before := descriptors()
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			c, err := dial(t, at, []string{"token-of-ada", "token-of-bob"}[i%2], revisions[i/2%2])
			if err != nil {
				t.Error(err)
				return
			}
			for j := range 6 {
				name := fmt.Sprintf("c%d-%d", i, j)
				switch {
				case j == 2 && i == 0:
					w.write(t, name+"/SKILL.md", "---\nname: "+name+"\ndescription: New.\n---\nBody\n")
				case j == 3 && i%4 == 1:
					ctx, cancel := context.WithCancel(t.Context())
					cancel()
					_, _ = c.CallTool(ctx, &mcp.CallToolParams{Name: "skill", Arguments: map[string]any{"skill_name": "greet"}})
				case j%2 == 0:
					if a := call(t, c, "script_run", map[string]any{"skill_name": "greet", "script_name": "hello", "args": []string{name}}); string(a.Result) != `"hello `+name+`\n"` {
						t.Errorf("%s: got %+v", name, a)
					}
				default:
					if a := call(t, c, "skill", map[string]any{"skill_name": "notes"}); !a.Success {
						t.Errorf("%s: got %+v", name, a)
					}
				}
			}
			_ = c.Close()
		})
	}
	wg.Wait()
	if after := descriptors(); after > before+64 { // connections that are kept open
		t.Errorf("%d files are open, and %d were before", after, before)
	}
}

// Ten thousand skills keep within what clients take.
func TestManySkills(t *testing.T) {
	files := fstest.MapFS{}
	for i := range 10_000 {
		files[fmt.Sprintf("skill-%05d/SKILL.md", i)] = &fstest.MapFile{Data: fmt.Appendf(nil, "---\nname: skill-%05d\ndescription: Does what number %d does, for those who ask.\n---\nBody\n", i, i)}
	}
	w := newWorld(t, nil)
	c, err := skill.Open(t.Context(), &skill.Options{Layers: []skill.Layer{{Name: "many", Source: skill.FS(files, nil), Trust: skill.TrustRoot}}})
	if err != nil {
		t.Fatal(err)
	}
	w.o.Catalog = func(context.Context) (*skill.Catalog, error) { return c, nil }
	client := w.client(t, nil, "")
	list, err := client.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range list.Tools {
		if n := utf8.RuneCountInString(tool.Description); n > 4096 {
			t.Errorf("%s: %d characters", tool.Name, n)
		}
	}
	if a := call(t, client, "skill", map[string]any{"skill_name": "number 9876", "action": "search"}); !strings.Contains(string(a.Result), "skill-09876") {
		t.Errorf("got %s", a.Result)
	}
	listed, after := 0, ""
	for page := (answer{}); ; {
		page = call(t, client, "skill", map[string]any{"action": "list", "skill_name": after})
		text, _ := strconv.Unquote(string(page.Result))
		if size := len(page.Result); !page.Success || size > 10_000 {
			t.Fatalf("a page after %q has %d bytes, %s", after, size, page.Message)
		}
		listed += strings.Count(text, ", for those who ask.\n")
		_, rest, more := strings.Cut(text, `more: skill {"action": "list", "skill_name": "`)
		if !more {
			listed++ // the last line
			break
		}
		after = strings.TrimSuffix(rest, `"}`)
	}
	if listed != 10_000 {
		t.Errorf("the pages have %d skills", listed)
	}
	prompts, err := client.ListPrompts(t.Context(), nil)
	if err != nil || len(prompts.Prompts) != mostPrompts {
		t.Errorf("%d prompts, %v", len(prompts.Prompts), err)
	}
	seen, cursor := 0, "" // opening a file of so many in memory is slow
	for range 3 {
		page, err := ask(t, client, "skills/list", &listParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		seen += len(page["skills"].([]any))
		if cursor, _ = page["nextCursor"].(string); cursor == "" {
			break
		}
	}
	if seen != 3*perPage || cursor == "" {
		t.Errorf("%d skills are published, then %q", seen, cursor)
	}
	for cursor, want := range map[string]int{"9950": 50, "10000": 0, "10001": -1, "-1": -1, "x": -1} {
		page, err := ask(t, client, "skills/list", &listParams{Cursor: cursor})
		if (err != nil) != (want < 0) || err == nil && len(page["skills"].([]any)) != want {
			t.Errorf("cursor %s: got %v, %v", cursor, page, err)
		}
	}
}

// A page of the extension's list keeps within what clients take of it, has the skills of high priority first, and none twice.
func TestLargePages(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		name := fmt.Sprintf("s-%02d", i)
		files[name+"/SKILL.md"] = fmt.Sprintf("---\nname: %s\ndescription: Is large.\npriority: %d\nmetadata:\n  text: %s\n---\nBody\n", name, i/19, strings.Repeat("x", 50_000))
	}
	c := newWorld(t, files).client(t, nil, "")
	var names []string
	pages := 0
	for cursor := ""; pages == 0 || cursor != ""; pages++ {
		page, err := ask(t, c, "skills/list", &listParams{Cursor: cursor})
		if err != nil {
			t.Fatal(err)
		}
		if b, _ := json.Marshal(page); len(b) > pageSize+1000 {
			t.Errorf("a page has %d bytes", len(b))
		}
		for _, one := range page["skills"].([]any) {
			names = append(names, one.(map[string]any)["frontmatter"].(map[string]any)["name"].(string))
		}
		cursor, _ = page["nextCursor"].(string)
	}
	if len(names) != 20 || names[0] != "s-19" || names[1] != "s-00" || names[19] != "s-18" || pages != 4 {
		t.Errorf("%d pages with %q", pages, names)
	}
}
