package source

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/agent-base/agent-base/internal/lazyregexp"
)

// maxText is the length of the longest text that Parse reads, in bytes.
const maxText = 2048

const (
	gitHub    = "https://github.com/"
	gitLab    = "https://gitlab.com/"
	ociScheme = "oci://"

	serverScheme = "mcp:"
)

// Options says what a text may leave out.
type Options struct {
	Dir  string // absolute folder that relative paths begin in; "" means that they are not understood
	Home string // that "~" stands for; "" means that "~" is not understood
}

// Error says why a text names no place, and what to write.
type Error struct {
	Text string // as typed, without a password
	Err  error
	Cure string
}

// Error returns the text and what is wrong with it.
func (e *Error) Error() string { return fmt.Sprintf("source %q: %v", e.Text, e.Err) }

// Unwrap returns the reason.
func (e *Error) Unwrap() error { return e.Err }

// Parse reads a source. It understands:
//
//	owner/repo  owner/repo/path/to/skill  owner/repo@skill  github:owner/repo  gitlab:group/repo
//	github.com/owner/repo  git.example.org/owner/repo  host:8443/owner/repo  (a host has a dot or a port)
//	https://host/repo.git  ssh://git@host/repo  git@host:repo  file:///repo
//	https://github.com/owner/repo/tree/main/path  (the address of a folder, or of its SKILL.md, on the page of a forge; see Ref.Longer)
//	./folder  ~/folder  /folder  ./skill.zip  https://host/skill.tar.gz
//	https://host                          (a site with a discovery index)
//	oci://registry/repository:tag
//	mcp:server/skill                      (a skill of an MCP server, by the label of the server)
//
// A repository may be followed by "#branch", "#tag" or "#commit", that by ":path", and that by "@skill". An error is an *Error.
// Nil options mean the zero value.
func Parse(text string, o *Options) (Ref, error) {
	if o == nil {
		o = &Options{}
	}
	ref, err := parse(strings.TrimSpace(text), o)
	if err == nil && ref.Path != "" && !fs.ValidPath(ref.Path) {
		err = cured(fmt.Errorf("%q is not a path below the repository", ref.Path), "write it without \"..\" and without a slash at its ends")
	}
	if err == nil && (strings.HasPrefix(ref.Want, "-") || strings.ContainsFunc(ref.Want, outside)) {
		err = cured(fmt.Errorf("%q is no branch, tag or commit", ref.Want), "")
	}
	if err != nil {
		e := &Error{Text: public(text), Err: err}
		var known *Error
		if errors.As(err, &known) {
			e.Err, e.Cure = known.Err, known.Cure
		}
		return Ref{}, e
	}
	return ref, nil
}

func cured(err error, cure string) error { return &Error{Err: err, Cure: cure} }

// outside reports whether a character has no place in a source.
func outside(r rune) bool { return unicode.IsControl(r) || unicode.IsSpace(r) }

func parse(text string, o *Options) (Ref, error) {
	switch {
	case text == "":
		return Ref{}, cured(errors.New("it is empty"), forms)
	case len(text) > maxText:
		return Ref{}, cured(fmt.Errorf("it has more than %d bytes", maxText), forms)
	case !utf8.ValidString(text):
		return Ref{}, cured(errors.New("it is not UTF-8"), forms)
	case strings.ContainsFunc(text, unicode.IsControl):
		return Ref{}, cured(errors.New("it has a control character"), forms)
	case isLocal(text):
		return local(text, o)
	}
	rest, after, _ := strings.Cut(text, "#")
	ref := version(after)
	scheme, _, isURL := strings.Cut(rest, "://")
	switch {
	case isURL && strings.EqualFold(scheme, "oci"):
		return artifact(rest[len(ociScheme):], after)
	case isURL:
		return ofURL(rest, ref)
	case strings.HasPrefix(rest, serverScheme):
		return served(rest[len(serverScheme):], text)
	case strings.HasPrefix(rest, "github:"):
		return short(gitHub, rest[len("github:"):], ref)
	case strings.HasPrefix(rest, "gitlab:"):
		return short(gitLab, rest[len("gitlab:"):], ref)
	}
	if user, place, ok := scp(rest); ok {
		if ref, err := checkGit("ssh://"+user+"@"+place, ref); err != nil {
			return ref, err
		}
		ref.URL = rest // not an ssh URL, in which the path would begin at the root of the host
		return ref, nil
	}
	if strings.Contains(rest, ":") && !portPattern().MatchString(rest) {
		return Ref{}, cured(errors.New("it is neither a URL nor user@host:path"), forms)
	}
	if isArchive(rest) {
		return local("./"+text, o)
	}
	if host, _, _ := strings.Cut(rest, "/"); strings.ContainsAny(host, ".:") {
		return ofHost(rest, ref)
	}
	return short(gitHub, rest, ref)
}

// served reads "server/skill".
func served(rest, text string) (Ref, error) {
	label, skill, _ := strings.Cut(rest, "/")
	if strings.Trim(label, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" || label == "" || !fs.ValidPath(skill) || skill == "." || strings.Contains(text, "#") {
		return Ref{}, cured(errors.New("it is not the label of a server and a skill of it"), "write it like mcp:docs/pdf")
	}
	return Ref{Kind: Server, URL: rest}, nil
}

// version reads what follows the "#" of a repository: "version", "version:path", and either with "@skill".
func version(text string) Ref {
	ref := Ref{Kind: Git}
	text, ref.Name, _ = strings.Cut(text, "@")
	ref.Want, ref.Path, _ = strings.Cut(text, ":")
	ref.Path = strings.Trim(ref.Path, "/")
	return ref
}

// ofHost reads "host/owner/repo", "host/owner/repo/path" of GitHub, and either with "@skill". No owner on GitHub has a dot in its name.
func ofHost(text string, ref Ref) (Ref, error) {
	text, name, named := strings.Cut(text, "@")
	if named {
		ref.Name = name
	}
	text = "https://" + strings.TrimRight(text, "/")
	u, err := url.Parse(text)
	switch {
	case err != nil || u.RawQuery != "" || strings.Contains(u.Path, "//") || strings.Trim(u.Path, "/") == "":
		return Ref{}, cured(errors.New("it names no repository"), forms)
	case checkHost(u) != nil:
		return Ref{}, checkHost(u)
	}
	if out, ok, err := ofPage(u, ref); ok {
		return out, err
	}
	switch strings.ToLower(u.Host) {
	case "github.com", "www.github.com":
		return short(gitHub, strings.TrimPrefix(u.Path, "/"), ref)
	}
	return ofForge(u, repositoryURL(u), ref)
}

// repositoryURL returns a URL whose path shows that it is a repository, as forges understand it.
func repositoryURL(u *url.URL) string {
	text := strings.TrimRight(u.String(), "/")
	if !isForge(u.Hostname()) && !strings.HasSuffix(text, ".git") {
		text += ".git"
	}
	return text
}

// Repository returns the repository that the URL of a site may be, as people copy it from the page of a forge: a URL with a path of
// two parts or more.
func (r Ref) Repository() (Ref, bool) {
	u, err := url.Parse(r.URL)
	if r.Kind != Index || err != nil || strings.Count(strings.Trim(u.Path, "/"), "/") < 1 {
		return Ref{}, false
	}
	r.Kind, r.URL = Git, repositoryURL(u)
	return r, true
}

// forms says what a source looks like.
const forms = "write owner/repo, an https or ssh URL, or a folder that begins with ./"

// isLocal reports whether a text is a path on this machine.
func isLocal(text string) bool {
	return text == "." || text == ".." || text == "~" || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") || strings.HasPrefix(text, "~/") ||
		strings.HasPrefix(text, `.\`) || strings.HasPrefix(text, `..\`) || filepath.IsAbs(text)
}

// local reads a path of this machine: an archive, a repository if it ends in ".git" or has a "#", or else a folder.
func local(text string, o *Options) (Ref, error) {
	path, after, repository := strings.Cut(text, "#")
	if path == "~" || strings.HasPrefix(path, "~/") {
		if o.Home == "" {
			return Ref{}, cured(errors.New("the home folder is not known"), "write the whole path")
		}
		path = o.Home + path[1:]
	}
	switch {
	case filepath.IsAbs(path):
	case o.Dir == "":
		return Ref{}, cured(errors.New("the folder that it begins in is not known"), "write the whole path")
	default:
		path = filepath.Join(o.Dir, path)
	}
	path = filepath.Clean(path)
	switch {
	case repository || strings.HasSuffix(path, ".git"):
		return checkGit((&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String(), version(after))
	case isArchive(path):
		return Ref{Kind: Archive, URL: path}, nil
	}
	return Ref{Kind: Folder, URL: path}, nil
}

// isArchive reports whether a path or URL names an archive by its ending.
func isArchive(path string) bool {
	path = strings.ToLower(path)
	for _, end := range []string{".zip", ".skill", ".tar.gz", ".tgz"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

var (
	ownerPattern = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9._-]{0,99})$`)
	hostPattern  = lazyregexp.New(`^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,252})(?::[0-9]{1,5})?$`)
	portPattern  = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9.-]{1,252}:[0-9]{1,5}/[^:]+$`) // a host of two letters or more, so no drive of Windows
	userPattern  = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`)
)

// short reads "owner/repo", "owner/repo/path" and either with "@skill".
func short(base, text string, ref Ref) (Ref, error) {
	text, name, named := strings.Cut(text, "@")
	if named {
		ref.Name = name
	}
	parts := strings.SplitN(strings.TrimSuffix(text, "/"), "/", 3)
	if len(parts) < 2 || !ownerPattern().MatchString(parts[0]) || !ownerPattern().MatchString(strings.TrimSuffix(parts[1], ".git")) {
		cure := forms
		if len(parts) == 1 && ownerPattern().MatchString(text) {
			cure = "write ./" + text + " for a folder, or owner/" + text + " for a repository of GitHub"
		}
		return Ref{}, cured(errors.New("it names no repository"), cure)
	}
	switch {
	case len(parts) == 3 && ref.Path != "":
		return Ref{}, cured(errors.New("it names two folders"), "leave out what follows the colon")
	case len(parts) == 3:
		ref.Path = parts[2]
	}
	return checkGit(base+parts[0]+"/"+parts[1], ref)
}

// scp splits "user@host:path".
func scp(text string) (user, place string, ok bool) {
	user, rest, ok := strings.Cut(text, "@")
	host, path, colon := strings.Cut(rest, ":")
	return user, host + "/" + strings.TrimPrefix(path, "/"), ok && colon && !strings.Contains(user, "/")
}

// ofURL reads a URL.
func ofURL(text string, ref Ref) (Ref, error) {
	u, err := url.Parse(text)
	if err != nil {
		return Ref{}, cured(errors.New("it is not a URL"), forms)
	}
	switch strings.ToLower(u.Scheme) {
	case "https":
	case "ssh", "file":
		return checkGit(text, ref)
	case "http":
		return Ref{}, cured(errors.New("http is not encrypted, so anybody on the way could change the skill"), "write https://, or the path of a folder or an archive on this machine")
	default:
		return Ref{}, cured(fmt.Errorf("scheme %q is not supported", u.Scheme), forms)
	}
	if err := checkHost(u); err != nil {
		return Ref{}, err
	}
	if out, ok, err := ofPage(u, ref); ok {
		return out, err
	}
	switch path := strings.TrimRight(u.Path, "/"); {
	case strings.Contains(path, "//"):
		return Ref{}, cured(errors.New("its path has an empty part"), forms)
	case isArchive(path):
		ref.Kind = Archive
	case strings.HasSuffix(path, ".git"):
		return checkGit(text, ref)
	case isForge(u.Hostname()) && strings.Count(path, "/") >= 2:
		return ofForge(u, strings.TrimRight(text, "/"), ref)
	default:
		ref.Kind = Index
	}
	if u.RawQuery != "" {
		return Ref{}, cured(errors.New("it has a query"), forms)
	}
	if ref.Want != "" || ref.Path != "" {
		return Ref{}, cured(errors.New("only a repository has a branch, a tag or a commit"), "write https://HOST/REPO.git#"+ref.Want)
	}
	ref.URL = text
	return ref, nil
}

func checkHost(u *url.URL) error {
	switch {
	case u.User != nil:
		return cured(errors.New("a URL with a user name or a password would be stored"), "leave them out: git's credential helper knows them")
	case !hostPattern().MatchString(u.Host):
		return cured(fmt.Errorf("%q is not the name of a host", u.Host), forms)
	}
	return nil
}

// checkGit fills in the URL of a repository.
func checkGit(text string, ref Ref) (Ref, error) {
	u, err := url.Parse(text)
	if err != nil || u.RawQuery != "" || strings.ContainsFunc(text, outside) {
		return Ref{}, cured(errors.New("it is not the URL of a repository"), forms)
	}
	u.Scheme = strings.ToLower(u.Scheme)
	switch u.Scheme {
	case "file":
		if u.Host != "" || u.Path == "" || u.User != nil {
			return Ref{}, cured(errors.New("a file URL has three slashes and an absolute path"), "write file:///path/to/repo")
		}
	case "ssh":
		if err := checkSSH(u); err != nil {
			return Ref{}, err
		}
	default:
		if err := checkHost(u); err != nil {
			return Ref{}, err
		}
	}
	if strings.Trim(u.Path, "/") == "" {
		return Ref{}, cured(errors.New("it names no repository"), forms)
	}
	ref.Kind, ref.URL = Git, u.String()
	return ref, nil
}

func checkSSH(u *url.URL) error {
	if _, secret := u.User.Password(); secret {
		return cured(errors.New("a URL with a password would be stored"), "leave it out: ssh has keys")
	}
	if u.User != nil && !userPattern().MatchString(u.User.Username()) {
		return cured(fmt.Errorf("%q is not the name of a user", u.User.Username()), forms)
	}
	if !hostPattern().MatchString(u.Host) {
		return cured(fmt.Errorf("%q is not the name of a host", u.Host), forms)
	}
	if strings.HasPrefix(strings.TrimPrefix(u.Path, "/"), "-") {
		return cured(errors.New("a path that begins with a dash would be read as an option"), forms)
	}
	return nil
}

var (
	repositoryPattern = lazyregexp.New(`^[a-z0-9]+(?:[._-]+[a-z0-9]+)*(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*$`)
	tagPattern        = lazyregexp.New(`^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$`)
	digestPattern     = lazyregexp.New(`^sha256:[0-9a-f]{64}$`)
)

// artifact reads "registry/repository", and that with ":tag" or "@sha256:...".
func artifact(text, after string) (Ref, error) {
	ref := Ref{Kind: OCI}
	if after != "" {
		return Ref{}, cured(errors.New("an artifact has a tag or a digest, not a \"#\""), "write oci://registry/repository:tag")
	}
	place, digest, byDigest := strings.Cut(text, "@")
	host, repository, _ := strings.Cut(place, "/")
	repository, tag, tagged := strings.Cut(repository, ":")
	switch {
	case !hostPattern().MatchString(host) || !repositoryPattern().MatchString(repository):
		return Ref{}, cured(errors.New("it names no repository of a registry"), "write oci://registry/repository:tag")
	case byDigest && !digestPattern().MatchString(digest):
		return Ref{}, cured(fmt.Errorf("%q is no digest", digest), "write @sha256: and 64 hexadecimal digits")
	case tagged && !tagPattern().MatchString(tag):
		return Ref{}, cured(fmt.Errorf("%q is no tag", tag), "")
	}
	ref.URL, ref.Want, ref.Type = host+"/"+repository, tag, "tag"
	if byDigest {
		ref.Want, ref.Type = digest, "commit"
	}
	if ref.Want == "" {
		ref.Type = ""
	}
	return ref, nil
}

// public returns a text without the password of a URL in it.
func public(text string) string {
	scheme, rest, ok := strings.Cut(text, "://")
	if !ok {
		return text
	}
	host, path, slash := strings.Cut(rest, "/")
	if i := strings.LastIndex(host, "@"); i >= 0 {
		host = host[i+1:]
	}
	if slash {
		host += "/"
	}
	return scheme + "://" + host + path
}
