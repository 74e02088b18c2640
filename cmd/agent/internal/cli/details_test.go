package cli

import (
	"bytes"
	"encoding/json"
	"reflect"
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
		if got := string(appendRecord(nil, r)) + "\n"; got != want.String() {
			t.Errorf("got  %swant %s", got, want.String())
		}
	}
}
