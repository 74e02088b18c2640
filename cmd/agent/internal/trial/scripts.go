package trial

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/agent-base/agent-base/internal/lazyregexp"
	"github.com/agent-base/agent-base/internal/survey"
	"github.com/agent-base/agent-base/script"
	"github.com/agent-base/agent-base/toolset"
	"github.com/agent-base/agent-base/want"
)

// The limits of the calls that look at a script.
const (
	probeTime  = 20 * time.Second
	maxScripts = 100 // that are called
)

// unknownOption is an option that no script has.
const unknownOption = "--agent-base-no-such-option"

// scripts checks the conventions of the scripts that the skill offers. A script that does not show that it knows --help is not
// run: nobody can say what it would do.
func (r *run) scripts(ctx context.Context) {
	set := survey.Of(r.s.FS(), r.s.Manifest(), &survey.Options{Rule: r.o.ScriptRule})
	list := set.List()
	for i, sc := range list {
		if i == maxScripts {
			r.skip(Scripts, "more scripts", fmt.Sprintf("%s were not called: the limit is %d", plural(len(list)-i, "script"), maxScripts))
			return
		}
		if ctx.Err() != nil {
			return
		}
		r.script(ctx, sc)
	}
}

func (r *run) script(ctx context.Context, sc script.Script) {
	text := survey.Beginning(r.s.FS(), sc.File)
	lang := survey.LanguageIn(sc.File, text)
	if !survey.KnowsHelp(lang, text) {
		r.unhelpful(sc, lang, text)
		return
	}
	if r.o.Probe == nil {
		r.add(Case{Group: Scripts, Name: sc.Name, Status: Skipped, Message: "scripts are not run", File: sc.File})
		return
	}
	if !r.help(ctx, sc) {
		return
	}
	if survey.KnowsJSON(lang, text) {
		r.json(ctx, sc)
	}
	r.option(ctx, sc)
}

// unhelpful reports a script that does not show that it knows --help.
func (r *run) unhelpful(sc script.Script, lang survey.Language, text []byte) {
	c := Case{Group: Scripts, Name: sc.Name + " --help", File: sc.File, Status: Warned, Message: "it does not show that it knows --help: a model reads its description instead",
		Cure: "parse its arguments with a parser that prints the options"}
	importer := r.importer(sc, lang, text)
	switch {
	case importer != "":
		c.Message = "it is a module that " + importer + " imports, and runs nothing by itself: a model is offered it as a script"
		c.Cure = "leave it out with scripts_ignore"
	case lang == "":
		c.Status, c.Message, c.Cure = Skipped, "its text does not show whether it knows --help, so it is not run", ""
	case survey.DocText(lang, text) == "" && len(survey.UsageLines(r.texts(), sc)) == 0 && !strings.Contains(r.texts(), strings.TrimSuffix(sc.File, path.Ext(sc.File))):
		c.Message = "it does not show that it knows --help, has no description at its beginning, and no text of the skill names it: a model cannot know how to call it"
		c.Cure += "; leave a file that is not called out with scripts_ignore"
	}
	r.add(c)
}

// importer returns the name of a script that imports a Python file that only defines something, or "".
func (r *run) importer(sc script.Script, lang survey.Language, text []byte) string {
	if lang != survey.Python || bytes.Contains(text, []byte("__name__")) {
		return ""
	}
	module := strings.TrimSuffix(path.Base(sc.File), path.Ext(sc.File))
	for _, other := range survey.Of(r.s.FS(), r.s.Manifest(), &survey.Options{Rule: r.o.ScriptRule}).List() {
		if other.File == sc.File || survey.LanguageOf(other.File) != survey.Python {
			continue
		}
		for _, m := range imports().FindAllSubmatch(survey.Beginning(r.s.FS(), other.File), -1) {
			for name := range strings.FieldsFuncSeq(string(m[1])+" "+string(m[2]), func(r rune) bool { return r == ',' || r == ' ' }) {
				if name == module || strings.HasSuffix(name, "."+module) {
					return other.Name
				}
			}
		}
	}
	return ""
}

// imports finds the modules of a line of Python that imports some.
var imports = lazyregexp.New(`(?m)^[ \t]*(?:from +([\w.]+)|import +([\w., ]+))`)

// maxTexts is how many bytes of the texts of a skill are searched for commands.
const maxTexts = 2 << 20

// texts returns what the skill says: its instructions and its other Markdown files.
func (r *run) texts() string {
	if r.said != nil {
		return *r.said
	}
	var b strings.Builder
	b.WriteString(r.s.Manifest().Body)
	for _, name := range files(r.s.FS(), ".", func(name string) bool { return strings.EqualFold(path.Ext(name), ".md") }) {
		if text, err := r.s.ReadFile(name); err == nil && b.Len()+len(text) < maxTexts && name != r.s.Entry().File() {
			b.WriteString("\n\n")
			b.Write(text)
		}
	}
	text := b.String()
	r.said = &text
	return text
}

// help runs a script with --help and reports whether it can be called at all.
func (r *run) help(ctx context.Context, sc script.Script) bool {
	c := Case{Group: Scripts, Name: sc.Name + " --help", File: sc.File, Status: Passed}
	res, err := r.probe(ctx, &c, sc, "--help")
	switch {
	case ctx.Err() != nil:
		return false
	case err != nil:
		r.failure(&c, err)
	case strings.TrimSpace(res.Text) == "":
		c.Status, c.Message, c.Cure = Failed, "it prints nothing on stdout", "print the help on stdout"
	}
	r.add(c)
	return c.Status == Passed
}

// json checks that a script with --json prints JSON and nothing else on stdout.
func (r *run) json(ctx context.Context, sc script.Script) {
	c := Case{Group: Scripts, Name: sc.Name + " --json", File: sc.File, Status: Passed}
	res, err := r.probe(ctx, &c, sc, "--json")
	var failed *script.Error
	switch {
	case ctx.Err() != nil:
		return
	case err == nil:
		switch text := strings.TrimSpace(res.Text); {
		case isDocument(text):
		case len(text) > len(usage) && strings.EqualFold(text[:len(usage)], usage):
			c.Status, c.Message = Warned, "without other arguments it prints its help, and its exit code is 0: a model takes that for a result"
			c.Cure = "end with another exit code than 0 if arguments are missing"
		default:
			c.Status, c.Cure = Failed, "print everything else on stderr"
			c.Message = fmt.Sprintf("stdout is not one JSON document: %.80q", text)
		}
	case errors.As(err, &failed) && failed.Code == script.ExecutionFailed:
		said := strings.TrimSpace(string(failed.Stdout))
		switch {
		case said == "" && crashed(failed):
			c.Status, c.Message, c.Cure = Failed, brief(failed), `catch the error, and print {"error": "…"}`
		case said == "":
			c.Status, c.Message = Skipped, "alone it fails, as it may if it needs arguments or the network; test it in a test of the skill: "+first(brief(failed))
		case !isDocument(said):
			c.Status, c.Cure = Warned, `print {"error": "…"}, and the text on stderr`
			c.Message = fmt.Sprintf("when it fails, stdout is not JSON: %.80q", said)
		}
	default:
		r.failure(&c, err)
	}
	r.add(c)
}

// usage is how help begins.
const usage = "usage:"

// isDocument reports whether a text is one JSON object or array.
func isDocument(text string) bool {
	return text != "" && (text[0] == '{' || text[0] == '[') && json.Valid([]byte(text))
}

// option checks that a script refuses an option that it does not have.
func (r *run) option(ctx context.Context, sc script.Script) {
	c := Case{Group: Scripts, Name: sc.Name + " unknown option", File: sc.File, Status: Passed}
	_, err := r.probe(ctx, &c, sc, unknownOption)
	var failed *script.Error
	switch {
	case ctx.Err() != nil:
		return
	case errors.As(err, &failed) && failed.Reason == "" && crashed(failed):
		r.failure(&c, err)
	case failed != nil && strings.Contains(failed.Message, unknownOption): // it names it, whatever else it says
	case err == nil:
		c.Status, c.Message, c.Cure = Failed, "its exit code is 0 with an option that it does not have: a model does not learn of its mistake", "end with another exit code than 0"
	case errors.As(err, &failed) && failed.Code == script.ExecutionFailed && failed.Reason == "":
	case errors.As(err, &failed) && failed.Code == script.ExecutionFailed && (failed.Reason == script.ReasonNetwork || failed.Reason == script.ReasonBlocked):
		c.Status, c.Message = Warned, "it does not refuse an option that it does not have, and fails later: "+first(failed.Brief())
	default:
		r.failure(&c, err)
	}
	r.add(c)
}

// probe runs a script with one argument.
func (r *run) probe(ctx context.Context, c *Case, sc script.Script, arg string) (*script.Result, error) {
	r.at = c.Name
	begun := time.Now()
	res, err := r.o.Probe.Run(ctx, r.s, sc, &script.RunOptions{Args: []string{arg}, JSON: script.JSONNo, Timeout: probeTime, Admit: r.o.Admit})
	c.Duration = time.Since(begun)
	var failed *script.Error
	if err == nil {
		r.report.Sandbox = &res.Sandbox
	} else if errors.As(err, &failed) && failed.Sandbox != nil {
		r.report.Sandbox = failed.Sandbox
	}
	return res, err
}

// here are the reasons of failures that say something about the machine and nothing about the skill.
var here = map[string]bool{script.ReasonInterpreter: true, script.ReasonDependencies: true, script.ReasonPython: true, script.ReasonPlatform: true,
	script.ReasonSandbox: true, script.ReasonCache: true}

// failure sets what a failed call means.
func (r *run) failure(c *Case, err error) {
	c.Status, c.Message, c.Err = Failed, err.Error(), err
	if e, ok := errors.AsType[*toolset.Error](err); ok && e.Kind == toolset.KindPackage {
		c.Cure = "declare it: in requirements.txt for Python, in package.json for TypeScript and JavaScript"
	}
	var failed *script.Error
	if !errors.As(err, &failed) {
		return
	}
	if error(failed) == err { //nolint:errorlint // another error that wraps it says more
		c.Message = brief(failed)
	}
	switch {
	case failed.Code == script.PermissionDenied:
		c.Status, r.report.Untrusted = Skipped, true
	case here[failed.Reason], lacksVariable(failed):
		c.Status = Skipped
	}
}

// lacksVariable reports whether what a failed script printed names a variable that it did not get.
func lacksVariable(failed *script.Error) bool {
	said := strings.TrimPrefix(failed.Message, failed.Brief())
	return slices.ContainsFunc(failed.Wants.Named(want.Variable), func(name string) bool { return strings.Contains(said, name) })
}

// crashed reports whether a failed script ended with an error that it did not handle. One that lacks something is not to blame for it.
func crashed(failed *script.Error) bool {
	return failed.Reason == "" && !lacksVariable(failed) && (failed.Ended || trace().MatchString(failed.Message))
}

// trace finds a line of a stack trace of Python, JavaScript or Go.
var trace = lazyregexp.New(`(?m)^Traceback \(most recent|^  File ".+", line \d+|^\s+at \S.*:\d+:\d+\)?$|^goroutine \d+ \[`)

// brief says how a script failed, in a line: with what it wrote to stderr, if nothing better is known.
func brief(failed *script.Error) string {
	_, stderr, _ := strings.Cut(failed.Message, "\nstderr: ")
	if why := reasonIn(stderr); why != "" && failed.Reason == "" {
		return failed.Brief() + ": " + why
	}
	return failed.Brief()
}

// namesError reports whether a line of a program's text names an error: Python and JavaScript write its class, node also its code.
func namesError(line string) bool {
	return strings.Contains(line, "rror") || strings.HasPrefix(line, "code: '")
}

// reasonIn returns the line of what a program wrote to stderr that says best why it failed: the last one that names an error, else
// the last one.
func reasonIn(stderr string) string {
	last := ""
	for line := range strings.Lines(stderr) {
		line = strings.TrimSpace(line)
		if len(line) > 1 && !strings.HasPrefix(line, "Node.js v") && (namesError(line) || !namesError(last)) {
			last = line
		}
	}
	return clip(last, 200)
}

func (r *run) skip(g Group, name, why string) {
	r.add(Case{Group: g, Name: name, Status: Skipped, Message: why})
}

// first returns the first line of a text.
func first(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return clip(line, 200)
}
