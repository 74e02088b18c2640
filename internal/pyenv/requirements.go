package pyenv

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

const maxIncludes = 8 // files that include each other

// requirements collects what requirements files say, in pip's format: names with extras, versions and markers, comments,
// continued lines, hashes, and other files of the skill. What says where packages come from is refused.
type requirements struct {
	files fs.FS
	needs Needs
	left  int // bytes that may be read
}

// readRequirements reads a requirements file and those that it includes. The error wraps fs.ErrNotExist only if the file
// itself is missing.
func readRequirements(files fs.FS, name string) (*Needs, error) {
	r := &requirements{files: files, needs: Needs{From: name}, left: maxDeclaration}
	b, err := readFile(files, name, r.left)
	if err != nil {
		return nil, err
	}
	if err := r.read(name, b, &r.needs.Dependencies, 1); err != nil {
		return nil, err
	}
	return &r.needs, nil
}

// read adds the requirements of a file to a list.
func (r *requirements) read(name string, b []byte, list *[]string, depth int) error {
	r.left -= len(b)
	if bytes.HasPrefix(b, []byte("\xff\xfe")) || bytes.HasPrefix(b, []byte("\xfe\xff")) {
		return fmt.Errorf("%s is in UTF-16, as some programs on Windows write it: save it as UTF-8", name)
	}
	for _, l := range logicalLines(string(bytes.TrimPrefix(b, []byte("\ufeff")))) {
		where := fmt.Sprintf("%s:%d", name, l.number)
		option, value := cutOption(l.text)
		var err error
		switch {
		case option == "":
			err = r.requirement(where, l.text, list)
		case slices.Contains(included, option):
			err = r.include(where, path.Dir(name), value, list, depth)
		case slices.Contains(constraining, option):
			err = r.include(where, path.Dir(name), value, &r.needs.Constraints, depth)
		case slices.Contains(granted, option):
		default:
			err = refusedOption(where, option)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// Options of pip in a requirements file.
var (
	included     = []string{"-r", "--requirement"}
	constraining = []string{"-c", "--constraint"}
	granted      = []string{"--require-hashes", "--only-binary", "--prefer-binary"} // what always holds
	indexes      = []string{"-i", "--index-url", "--pypi-url", "--extra-index-url", "-f", "--find-links", "--no-index", "--trusted-host"}
	sources      = []string{"-e", "--editable", "--no-binary"}
)

// cutOption splits a line at its option, "" for a requirement.
func cutOption(line string) (option, value string) {
	if !strings.HasPrefix(line, "-") {
		return "", line
	}
	i := strings.IndexAny(line, " \t=")
	switch {
	case i >= 0:
		return line[:i], strings.Trim(line[i+1:], " \t=")
	case !strings.HasPrefix(line, "--") && len(line) > 2:
		return line[:2], line[2:]
	}
	return line, ""
}

func refusedOption(where, option string) error {
	switch {
	case slices.Contains(indexes, option):
		return fmt.Errorf("%s: %s is not allowed, since a skill does not choose where packages come from: remove it, and name a further index in UV_INDEX or UV_DEFAULT_INDEX", where, option)
	case slices.Contains(sources, option):
		return fmt.Errorf("%s: %s is not allowed, since a package is not built from its source: name the package and a version that the index has", where, option)
	}
	return fmt.Errorf("%s: the option %.40q is not allowed: remove it, and leave packages, versions and hashes", where, option)
}

// include reads another file of the skill. Its path is relative to the folder of the file that names it.
func (r *requirements) include(where, dir, value string, list *[]string, depth int) error {
	name := path.Join(dir, strings.ReplaceAll(value, `\`, "/"))
	switch {
	case value == "" || strings.Contains(value, "://") || path.IsAbs(value) || !fs.ValidPath(name):
		return fmt.Errorf("%s: %.80q is not a file of the skill: move it into the skill, beside this file, and name it there", where, value)
	case depth >= maxIncludes:
		return fmt.Errorf("%s: more than %d files include each other: write the packages in one file", where, maxIncludes)
	}
	b, err := readFile(r.files, name, r.left)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %s is not there: add it, or remove the line", where, name)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	return r.read(name, b, list, depth+1)
}

// requirement adds one package to a list.
func (r *requirements) requirement(where, text string, list *[]string) error {
	text, options := cutHashes(text)
	if isAddress(text) {
		return fmt.Errorf("%s: %.80q is an address or a path, which is not allowed: name the package and a version that the index has", where, text)
	}
	if err := checkDependency(text); err != nil {
		return fmt.Errorf("%s: %.80q: %w", where, text, err)
	}
	if len(*list) >= maxDependencies {
		return fmt.Errorf("%s: more than %d packages are named: name those that the scripts import, and leave the others to the resolver", where, maxDependencies)
	}
	*list = append(*list, text)
	for _, o := range options {
		name, hash := cutOption(o)
		if name != "--hash" {
			return refusedOption(where, name)
		}
		if !hashForm().MatchString(hash) {
			return fmt.Errorf("%s: %.80q is not a hash that can be checked: use sha256:…", where, hash)
		}
		if r.needs.Hashes == nil {
			r.needs.Hashes = map[string][]string{}
		}
		p := packageName(text)
		r.needs.Hashes[p] = append(r.needs.Hashes[p], hash)
	}
	return nil
}

var (
	hashForm  = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
	optionOf  = lazyregexp.New(`[ \t]+(--[a-z])`)
	comment   = lazyregexp.New(`(^|[ \t])#.*$`)
	addressOf = lazyregexp.New(`^(git|hg|svn|bzr)\+|://|^[./~]|\.(whl|zip|tar\.gz|tar\.bz2|tgz)$|^[A-Za-z]:\\`)
)

// cutHashes splits the options that follow a requirement from it.
func cutHashes(text string) (requirement string, options []string) {
	at := optionOf().FindAllStringSubmatchIndex(text, -1)
	for i, m := range at {
		end := len(text)
		if i+1 < len(at) {
			end = at[i+1][0]
		}
		options = append(options, text[m[2]:end])
	}
	if len(at) > 0 {
		text = text[:at[0][0]]
	}
	return strings.TrimSpace(text), options
}

// isAddress reports whether a requirement is an address or a path in place of a name.
func isAddress(text string) bool {
	text, _, _ = strings.Cut(text, ";")
	return addressOf().MatchString(strings.TrimSpace(text))
}

// logicalLine is a line with those that continue it, without comments.
type logicalLine struct {
	text   string
	number int // of its first line
}

// logicalLines returns the lines of a requirements file that say something.
func logicalLines(text string) []logicalLine {
	var out []logicalLine
	var now strings.Builder // the line and those before it that it continues
	first, number := 0, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if first == 0 {
			first = number
		}
		more, goesOn := strings.CutSuffix(line, `\`)
		if goesOn && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			now.WriteString(more)
			continue
		}
		now.WriteString(line)
		out, first = append(out, logicalLine{now.String(), first}), 0
		now.Reset()
	}
	out = append(out, logicalLine{now.String(), first})
	for i := range out {
		out[i].text = strings.TrimSpace(comment().ReplaceAllString(out[i].text, ""))
	}
	return slices.DeleteFunc(out, func(l logicalLine) bool { return l.text == "" })
}
