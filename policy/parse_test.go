package policy_test

import (
	"strings"
	"testing"

	"github.com/agent-base/agent-base/policy"
)

// example has each key that a document may have.
const example = `contact: security@example.com
permissions:
  deny: ['Bash(git push:*)', 'Read(~/.aws/**)']
  ask: [WebFetch]
mode: accept-edits
sandbox: required
models: [anthropic/*, chat/small@models.example.com]
network: [api.example.com, '*.corp.example:8443']
grants:
  never: [socket, 'write:~/.config', 'env:AWS_*']
mcpServers:
  - {name: files, command: npx -y files-server *}
  - {url: 'https://mcp.example.com/**'}
skills:
  sources: ['https://github.com/acme/*', /srv/skills/**]
  signers: [/etc/agent/acme.pem]
  allow: ['*']
  deny: [old-*]
  digests: ['sha256:0000000000000000000000000000000000000000000000000000000000000000']
  scan: high
  reviewed: ['sha256:2222222222222222222222222222222222222222222222222222222222222222']
include:
  - {source: 'https://git.example.com/policy.git', digest: 'sha256:1111111111111111111111111111111111111111111111111111111111111111'}
hooks: off
audit: required
telemetry: off
retention: 7
`

func TestExample(t *testing.T) {
	d, err := policy.Parse([]byte(example), "p.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range policy.Keys() {
		if _, set := d.Items(key); !set {
			t.Errorf("%s is not set", key)
		}
	}
	if d.Contact() != "security@example.com" {
		t.Errorf("contact %q", d.Contact())
	}
	if at := d.At(policy.KeyNever).String(); at != "p.yaml:10" {
		t.Errorf("grants.never at %s", at)
	}
}

// A document with anything wrong allows nothing, and says what and where.
func TestWrong(t *testing.T) {
	for text, message := range map[string]string{
		"":                                     "the file says nothing",
		"# nothing\n":                          "the file says nothing",
		"[mode]":                               "line 1, column 1: the file must be a map of keys, not a list",
		"mode: ask\nmdoe: ask":                 `line 2, column 1: unknown key "mdoe": did you mean "mode"?`,
		"deny: [Bash]":                         `unknown key "deny": did you mean deny below permissions?`,
		"permissions: {denny: [Bash]}":         `unknown key "permissions.denny": did you mean "deny"?`,
		"permissions.deny: [Bash]":             `unknown key "permissions.deny"`,
		"permissions: {allow: [Bash]}":         `unknown key "permissions.allow"`,
		"mode: ask\nmode: all":                 "line 2, column 1: mode is there twice",
		"grants: {never: []}\ngrants: {}":      "grants is there twice",
		"mode: aks":                            `invalid mode "aks": use one of: all, accept-edits, ask, plan, read-only`,
		"mode: [ask]":                          "mode must be a text here, not a list",
		"mode:":                                "mode has no value",
		"mode: ''":                             "mode has an empty text",
		"permissions: [x]":                     "permissions must be a map of keys, not a list",
		"permissions:":                         "permissions must be a map of keys",
		"permissions: {deny: Bash}":            "permissions.deny must be a list, not a text",
		"permissions: {deny: [{a: b}]}":        "permissions.deny must be a text here, not a map",
		"permissions: {deny: ['Bash(']}":       "invalid permissions.deny",
		"sandbox: on":                          "invalid sandbox",
		"models: [claude]":                     "write PROVIDER/NAME",
		"models: ['a/{b']":                     "unbalanced brackets",
		"models: ['a/b@not a host']":           "invalid models",
		"network: ['http://x']":                "invalid network",
		"network: [all]\nx: y":                 `unknown key "x"`,
		"grants: {never: [sockets]}":           "invalid grants.never",
		"grants: {never: ['model:x']}":         "nobody is given",
		"grants: {never: ['read:.']}":          "nobody is given",
		"audit: 'on'":                          "use one of: required",
		"telemetry: otlp":                      "use one of: off",
		"retention: -1":                        "whole number of days",
		"retention: 4000":                      "whole number of days",
		"mcpServers: {x: {}}":                  "mcpServers must be a list",
		"mcpServers: [x]":                      "must be a map with name, command, url",
		"mcpServers: [{name: x}]":              "a name alone says nothing",
		"mcpServers: [{url: a, command: b}]":   "write either command or url",
		"mcpServers: [{url: a, url: b}]":       `has "url" twice`,
		"mcpServers: [{url: a, args: [b]}]":    `unknown key "args" of mcpServers`,
		"mcpServers: [{command: [a, [b]]}]":    "must be a text here",
		"include: [{source: x}]":               "write either digest or signer",
		"include: [{signer: /x}]":              "source is missing",
		"include: [{source: x, signer: acme}]": "write the absolute path of a PEM file",
		"include: [{source: x, digest: abc}]":  "invalid digest",
		"include: [{source: x, path: ../y, signer: /a.pem}]": "is no path below the source",
		"skills: {scan: great}":                              "use one of: low, medium, high, critical",
		"skills: {signers: [acme]}":                          "write the absolute path of a PEM file",
		"skills: {digests: [abc]}":                           "write sha256: and 64 hexadecimal digits",
		"mode: &a ask":                                       "anchor",
		"mode: ask\n---\nmode: all":                          "document",
		"contact: \"a\\nb\"":                                 "line break",
		"contact: " + strings.Repeat("x", 2000):              "more than 1024 bytes",
		"\xff":                                               "not UTF-8",
		"a: [[[[[[[[[[[[1]]]]]]]]]]]]":                       "",
		strings.Repeat("#", policy.MaxFile+1):                "more than 262144 bytes",
	} {
		d, err := policy.Parse([]byte(text), "p.yaml")
		if err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("%.60q: got %v, want %q", text, err, message)
		}
		if d.Err() == nil || !strings.Contains(d.Err().Error(), "p.yaml") {
			t.Errorf("%.60q: the document is open: %v", text, d.Err())
		}
		if p := (&policy.Policy{Organisation: []*policy.Document{d}}); p.Err() == nil || p.Mode("read-only").Level != policy.Never {
			t.Errorf("%.60q: something is allowed", text)
		}
	}
}

// No text makes the parser fail or open: a document is either used whole or allows nothing.
func FuzzParse(f *testing.F) {
	f.Add(example)
	f.Add("mode: ask\nmode: ask\n")
	f.Add("mcpServers: [{command: [a, '*']}]")
	f.Fuzz(func(t *testing.T, text string) {
		d, err := policy.Parse([]byte(text), "p.yaml")
		if err != nil && d.Err() == nil || err == nil && d.Err() != nil && len(d.Includes()) == 0 {
			t.Fatalf("error %v, document %v", err, d.Err())
		}
		p := &policy.Policy{Organisation: []*policy.Document{d}}
		ask(p)
		if err != nil && p.Model("a/b", "").Level != policy.Never {
			t.Error("a broken document allows a model")
		}
	})
}
