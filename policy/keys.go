package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/agent-base/agent-base/agent/permit"
	"github.com/agent-base/agent-base/internal/glob"
	"github.com/agent-base/agent-base/internal/hostname"
	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/script/runner"
	"github.com/agent-base/agent-base/session/allow"
	"github.com/agent-base/agent-base/want"
)

// The keys of a document. Those with a dot stand in the map before the dot.
const (
	KeyContact   = "contact"
	KeyInclude   = "include"
	KeyDeny      = "permissions.deny"
	KeyAsk       = "permissions.ask"
	KeyMode      = "mode"
	KeySandbox   = "sandbox"
	KeySources   = "skills.sources"
	KeySigners   = "skills.signers"
	KeyAllow     = "skills.allow"
	KeyForbid    = "skills.deny"
	KeyDigests   = "skills.digests"
	KeyScan      = "skills.scan"
	KeyReviewed  = "skills.reviewed"
	KeyModels    = "models"
	KeyNetwork   = "network"
	KeyNever     = "grants.never"
	KeyServers   = "mcpServers"
	KeyHooks     = "hooks"
	KeyAudit     = "audit"
	KeyTelemetry = "telemetry"
	KeyRetention = "retention"
)

// form is the form of a value.
type form uint8

const (
	one  form = iota // one text
	list             // a list of texts
	maps             // a list of maps
)

// key describes one key of a document.
type key struct {
	name   string
	form   form
	check  func(text string) error                          // of a text
	read   func(d *Document, fields map[string]field) error // of a map
	fields []string                                         // of a map
}

// keys has all keys, in the order of the documentation.
var keys = []key{
	{name: KeyContact, check: checkText},
	{name: KeyInclude, form: maps, fields: []string{"source", "path", "digest", "signer"}, read: readInclude},
	{name: KeyDeny, form: list, check: checkRule},
	{name: KeyAsk, form: list, check: checkRule},
	{name: KeyMode, check: among(modes())},
	{name: KeySandbox, check: among(sandboxes())},
	{name: KeySources, form: list, check: glob.Check},
	{name: KeySigners, form: list, check: checkFile},
	{name: KeyAllow, form: list, check: glob.Check},
	{name: KeyForbid, form: list, check: glob.Check},
	{name: KeyDigests, form: list, check: checkDigest},
	{name: KeyScan, check: among([]string{"low", "medium", "high", "critical"})},
	{name: KeyReviewed, form: list, check: checkDigest},
	{name: KeyModels, form: list, check: checkModel},
	{name: KeyNetwork, form: list, check: checkHost},
	{name: KeyNever, form: list, check: checkWant},
	{name: KeyServers, form: maps, fields: []string{"name", "command", "url"}, read: readServer},
	{name: KeyHooks, check: among(hookValues()[1:])},
	{name: KeyAudit, check: among([]string{"required"})},
	{name: KeyTelemetry, check: among([]string{"off"})},
	{name: KeyRetention, check: checkDays},
}

// Keys returns the names of all keys, in the order of the documentation.
func Keys() []string {
	out := make([]string, len(keys))
	for i := range keys {
		out[i] = keys[i].name
	}
	return out
}

func find(name string) (key, bool) {
	i := slices.IndexFunc(keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return keys[i], true
}

// sandboxes returns the values of the key sandbox, from loose to strict.
func sandboxes() []string {
	return []string{string(runner.ConfineOff), string(runner.ConfineAuto), string(runner.ConfineRequired)}
}

// hookValues are the values of the key hooks, from loose to strict. The first is that of no key.
func hookValues() []string { return []string{"user", "off"} }

func modes() []string {
	var out []string
	for _, m := range permit.Modes() {
		out = append(out, string(m))
	}
	return out
}

// among returns a check of a text that is one of several.
func among(values []string) func(string) error {
	return func(text string) error {
		if slices.Contains(values, text) {
			return nil
		}
		return fmt.Errorf("use one of: %s", strings.Join(values, ", "))
	}
}

func checkText(string) error { return nil }

func checkFile(text string) error {
	if !filepath.IsAbs(text) {
		return errors.New("write the absolute path of a PEM file with the certificates of the signers")
	}
	return nil
}

func checkRule(text string) error {
	_, problems := allow.Parse([]string{text}, &allow.Options{Forbids: true})
	for _, p := range problems {
		message := strings.TrimSuffix(strings.TrimSuffix(p.Message, ": the rule is dropped"), ": the rule counts for any arguments")
		return errors.New(message + "; " + p.Cure)
	}
	return nil
}

// checkModel checks PROVIDER/NAME, which may be a glob, and the host that it is asked at: PROVIDER/NAME@HOST.
func checkModel(text string) error {
	name, host := splitModel(text)
	if !strings.Contains(name, "/") && name != "*" && name != "**" {
		return errors.New("write PROVIDER/NAME, such as anthropic/*, or PROVIDER/NAME@HOST for a server of your own")
	}
	if host != "" {
		if _, err := hostname.Parse(host); err != nil {
			return err
		}
	}
	return glob.Check(name)
}

func checkHost(text string) error {
	_, err := hostname.Parse(text)
	return err
}

// checkWant checks KIND:NAME, or KIND for all of the kind.
func checkWant(text string) error {
	kind := want.Kind(text)
	if slices.Contains(want.Kinds(), kind) && kind.Granted() {
		return nil
	}
	w, err := want.Parse(text)
	if err != nil {
		return err
	}
	if !w.Kind.Granted() || w.From != "" || w.Name == want.Here {
		return fmt.Errorf("nobody is given %q: write a kind, or a kind and a name, such as socket, host:*.example.com or read:~/.aws", text)
	}
	return nil
}

var digest = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)

func checkDigest(text string) error {
	if !digest().MatchString(text) {
		return errors.New("write sha256: and 64 hexadecimal digits")
	}
	return nil
}

// maxDays bounds the key retention, as the setting that it limits.
const maxDays = 3650

func checkDays(text string) error {
	if n, err := strconv.Atoi(text); err != nil || n < 0 || n > maxDays {
		return fmt.Errorf("write a whole number of days from 0 to %d", maxDays)
	}
	return nil
}

func readServer(d *Document, fields map[string]field) error {
	s := Server{Name: fields["name"].text, URL: fields["url"].text, Command: fields["command"].words, At: fields[""].at}
	if (s.URL == "") == (len(s.Command) == 0) {
		return errors.New("write either command or url: whoever adds a server chooses its name, so that a name alone says nothing")
	}
	if err := glob.Check(s.URL); err != nil {
		return err
	}
	d.servers = append(d.servers, s)
	return glob.Check(s.Name)
}

func readInclude(d *Document, fields map[string]field) error {
	in := Include{Source: fields["source"].text, Path: fields["path"].text, Digest: fields["digest"].text, Signer: fields["signer"].text, At: fields[""].at}
	switch {
	case in.Source == "":
		return errors.New("source is missing: it names a git repository or an OCI artifact")
	case (in.Digest == "") == (in.Signer == ""):
		return errors.New("write either digest or signer: what is fetched must be known")
	case in.Path != "" && !fs.ValidPath(in.Path):
		return fmt.Errorf("%q is no path below the source", in.Path)
	case in.Digest != "":
		if err := checkDigest(in.Digest); err != nil {
			return fmt.Errorf("invalid digest: %w", err)
		}
	default:
		if err := checkFile(in.Signer); err != nil {
			return fmt.Errorf("invalid signer: %w", err)
		}
	}
	d.includes = append(d.includes, in)
	return nil
}
