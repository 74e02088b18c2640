package skilltool

import (
	"fmt"
	"strings"
	"testing"
)

// C83: all skills by pages, each with whole descriptions and within what a client shows its model.
func TestListing(t *testing.T) {
	files := map[string]string{"zz-hidden/SKILL.md": "---\nname: zz-hidden\ndescription: Not for models.\ndisable-model-invocation: true\n---\nBody\n"}
	for i := range 30 {
		name := fmt.Sprintf("s-%02d", i)
		files[name+"/SKILL.md"] = "---\nname: " + name + "\ndescription: " + strings.Repeat("x", 900) + " end.\n---\nBody\n"
	}
	k, _ := kit(t, kitOptions{files: files, change: func(o *Options) { o.Show.Listing = true }})
	if schema := string(k.Tools()[0].Input); !strings.Contains(schema, `"search","list"]`) || strings.Contains(schema, "required") {
		t.Errorf("the schema is %s", schema)
	}
	for _, tt := range []struct{ after, first, last, says, next string }{
		{"", "s-00", "s-07", "Skills 1 to 8 of 30", "s-07"},
		{"S_07", "s-08", "s-15", "Skills 9 to 16 of 30", "s-15"},
		{"s-077", "s-08", "s-15", "Skills 9 to 16 of 30", "s-15"}, // it is gone since
		{"s-23", "s-24", "s-29", "Skills 25 to 30 of 30", ""},
		{"s-29", "", "", "No skill follows 's-29': there are 30", ""},
	} {
		r := call(t, k, "skill", fmt.Sprintf(`{"action":"list","skill_name":%q}`, tt.after))
		text := fmt.Sprint(r.Result)
		if !r.Success || r.Message != tt.says || len(text) > pageSize+100 || strings.Contains(text, "hidden") {
			t.Errorf("after %q: %d bytes, %s", tt.after, len(text), r.Message)
		}
		if tt.first != "" && (!strings.HasPrefix(text, "- "+tt.first+": x") || !strings.Contains(text, "- "+tt.last+": x") || strings.Count(text, "x end.") != strings.Count(text, "- s-")) {
			t.Errorf("after %q: %s", tt.after, text)
		}
		if next := fmt.Sprintf(`more: skill {"action": "list", "skill_name": %q}`, tt.next); strings.Contains(text, "more: ") != (tt.next != "") || tt.next != "" && !strings.HasSuffix(text, next) {
			t.Errorf("after %q it goes on otherwise: %s", tt.after, text[max(0, len(text)-100):])
		}
	}
	plain, _ := kit(t, kitOptions{files: files})
	if r := call(t, plain, "skill", `{"action":"list"}`); r.Success || strings.Contains(string(plain.Tools()[0].Input), `"list"`) {
		t.Errorf("without the option: %s", r.Encode())
	}
}
