package survey

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseShebang(t *testing.T) {
	for line, want := range map[string]Shebang{
		"":                                {},
		"print(1)":                        {},
		"#!/bin/sh":                       {Path: "/bin/sh"},
		"#! /bin/sh -e\nx":                {Path: "/bin/sh", Args: []string{"-e"}},
		"#!/bin/awk -f  x ":               {Path: "/bin/awk", Args: []string{"-f  x"}},
		"#!/usr/bin/env python3\n":        {Path: "python3"},
		"#!/usr/bin/env -S deno run -A\n": {Path: "deno", Args: []string{"run", "-A"}},
		"#!/usr/bin/env -Sdeno run\n":     {Path: "deno", Args: []string{"run"}},
	} {
		got, err := ParseShebang([]byte(line))
		if err != nil || got.Path != want.Path || !slices.Equal(got.Args, want.Args) {
			t.Errorf("%q: got %+v, %v, want %+v", line, got, err, want)
		}
	}
	for interpreter, want := range map[string]Language{"python3.12": ".py", "python": ".py", "uv": ".py", "bash": ".sh", "nodejs": ".js", "tsx": ".ts", "ruby": ".rb", "perl5.36": ".pl", "awk": "", "": ""} {
		if got := LanguageNamed(interpreter); got != want {
			t.Errorf("%q: got %q", interpreter, got)
		}
	}
}

func TestPlatform(t *testing.T) {
	got := map[string]string{}
	for name, b := range map[string]string{"amd64": elf, "big": "\x7fELF\x02\x02" + strings.Repeat("\x00", 12) + "\x00\x16", "short": "\x7fELF", "mac": "\xcf\xfa\xed\xfe", "exe": "MZ", "text": "hello"} {
		got[name] = Platform([]byte(b))
	}
	if diff := cmp.Diff(map[string]string{"amd64": "linux/amd64", "big": "linux/s390x", "short": "", "mac": "darwin", "exe": "windows", "text": ""}, got); diff != "" {
		t.Error(diff)
	}
}

// The line of no file leads to a program with a strange name, or to one that the line does not name.
func FuzzParseShebang(f *testing.F) {
	for _, line := range []string{"#!/bin/sh\n", "#!/usr/bin/env -S node --flag x\n", "#! /usr/bin/env python3\r\n", "#!/usr/bin/env A=b sh\n", "#!/bin/sh\x00\n", "#!sh\n", "x"} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, head []byte) {
		s, err := ParseShebang(head)
		if err != nil || s.Path == "" {
			if s.Path != "" || len(s.Args) > 0 {
				t.Fatalf("%q: %v and %v", head, s, err)
			}
			return
		}
		line, _, _ := strings.Cut(string(head), "\n")
		for _, word := range append([]string{s.Path}, s.Args...) {
			if word == "" || !strings.Contains(line, word) || strings.ContainsAny(word, "\n\x00") {
				t.Fatalf("%q has no %q", head, word)
			}
		}
		if strings.HasPrefix(s.Path, "-") || strings.ContainsAny(s.Path, " \t=") && !strings.HasPrefix(s.Path, "/") {
			t.Fatalf("%q starts %q", head, s.Path)
		}
	})
}
