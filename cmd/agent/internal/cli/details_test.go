package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// appendRecord writes every member that package json writes, in its order.
func TestAppendRecord(t *testing.T) {
	full := record{Name: "a", Canonical: "b", Version: "c", Description: "d \"<é>\"\n", State: "e", Reason: "f", Enabled: true, SHA: "g",
		Source: "h", Path: "i", Priority: -7, Tags: []string{"j", "k"}}
	if v := reflect.ValueOf(full); v.NumField() != 13 {
		t.Fatalf("a record has %d fields: add the new ones to full and to appendRecord", v.NumField())
	}
	for _, r := range []record{full, {}, {Active: true, Tags: []string{"one"}}} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(r); err != nil {
			t.Fatal(err)
		}
		if got := string(appendRecord(nil, &r)) + "\n"; got != want.String() {
			t.Errorf("got  %swant %s", got, want.String())
		}
	}
}

// C62: a skill with very many scripts and files does not fill the screen of "skill info".
func TestManyFilesInInfo(t *testing.T) {
	d := &details{MoreFiles: 7}
	for i := range 10_000 {
		d.Scripts = append(d.Scripts, scriptName{Name: fmt.Sprintf("s%d", i)})
		d.Files = append(d.Files, fileJSON{Path: fmt.Sprintf("scripts/s%d.py", i)})
	}
	if got := scriptsText(d); len(got) > 300 || !strings.HasPrefix(got, "10000: s0, s1, ") || !strings.HasSuffix(got, " and 9968 more") {
		t.Errorf("got %q", got)
	}
	if got := filesText(d); len(got) > 300 || !strings.HasSuffix(got, " and 9992 more; and 7 files not listed here") {
		t.Errorf("got %q", got)
	}
}
