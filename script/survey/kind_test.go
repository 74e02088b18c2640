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
