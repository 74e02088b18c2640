package pyenv

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"
)

// LargeDownload is the packed size of packages, in bytes, above which PrepareOptions.Large is asked.
const LargeDownload = 200_000_000

// Download is what making an environment would download, as far as the index says it. uv's cache may have some of it.
type Download struct {
	Script   string   // the script that needs it
	Packages []string // their names, largest first
	Bytes    int64    // packed; 0 if the index gives no sizes
}

// String returns a text such as "torch and 14 others: 2.3 GB".
func (d *Download) String() string {
	text := "nothing"
	if len(d.Packages) > 0 {
		text = d.Packages[0]
	}
	if n := len(d.Packages) - 1; n == 1 {
		text += " and 1 other"
	} else if n > 1 {
		text += fmt.Sprintf(" and %d others", n)
	}
	if d.Bytes > 0 {
		text += ": " + size(d.Bytes)
	}
	return text
}

// mostAsked is how many of the packages that a script asks for are named while they are prepared.
const mostAsked = 4

// asked names the packages that a script asks for: "pandas, pydantic>=2" or "a, b, c, d and 3 more".
func asked(needs []string) string {
	if n := len(needs) - mostAsked; n > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(needs[:mostAsked], ", "), n)
	}
	return strings.Join(needs, ", ")
}

// asked is asked with what all of it costs: "pydantic>=2 (29 packages, 12.3 MB)".
func (d *Download) asked(needs []string) string {
	text := fmt.Sprintf("%s (%d packages", asked(needs), len(d.Packages))
	if len(d.Packages) == 1 {
		text = asked(needs) + " (1 package"
	}
	if d.Bytes > 0 {
		text += ", " + size(d.Bytes)
	}
	return text + ")"
}

// download returns what this system would download. Of each package it counts the largest wheel for this system, so the
// Python version makes a small difference.
func (l *locked) download() Download {
	sizes := map[string]int64{}
	for _, p := range l.Package {
		for _, w := range p.Wheels {
			if forSystem(w.file(), runtime.GOOS, runtime.GOARCH) {
				sizes[p.Name] = max(sizes[p.Name], w.Size)
			}
		}
	}
	var d Download
	known := true
	for name, n := range sizes {
		d.Packages = append(d.Packages, name)
		d.Bytes += n
		known = known && n > 0
	}
	if !known {
		d.Bytes = 0
	}
	slices.SortFunc(d.Packages, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[b], sizes[a]), cmp.Compare(a, b)) })
	return d
}

// file returns the name of a wheel's file.
func (w *lockedWheel) file() string {
	name, _, _ := strings.Cut(cmp.Or(w.URL, w.Path), "?")
	name, _, _ = strings.Cut(name, "#")
	return path.Base(strings.ReplaceAll(name, `\`, "/"))
}

// wheelSystems are the systems and processors of Go as the names of wheels spell them.
var (
	wheelSystems    = map[string]string{"linux": "linux", "darwin": "macosx", "windows": "win"}
	wheelProcessors = map[string][]string{
		"amd64": {"x86_64", "amd64", "universal2", "intel"}, "arm64": {"aarch64", "arm64", "universal2"},
		"386": {"i686", "win32"}, "arm": {"armv7l", "armv6l"},
	}
)

// forSystem reports whether a wheel can be meant for a system. The last part of its name says for which it is.
func forSystem(file, goos, goarch string) bool {
	name := strings.TrimSuffix(file, ".whl")
	platform := name[strings.LastIndexByte(name, '-')+1:]
	if platform == "any" {
		return true
	}
	if system, ok := wheelSystems[goos]; !ok || !strings.Contains(platform, system) || goos == "darwin" && strings.HasPrefix(platform, "linux") {
		return false
	}
	names, ok := wheelProcessors[goarch]
	if !ok {
		names = []string{goarch}
	}
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(platform, n) })
}

// mayDownload asks about a large download.
func (w *workshop) mayDownload(ctx context.Context, d Download, ask func(context.Context, Download) (bool, error)) error {
	if d.Bytes <= LargeDownload {
		return nil
	}
	allowed := false
	if ask != nil {
		d.Script = w.e.sc.Name
		var err error
		if allowed, err = ask(ctx, d); err != nil {
			return w.e.unavailable(err, "%v", err)
		}
	}
	if !allowed {
		return &Error{Reason: ReasonDependencies, Err: ErrLargeDownload,
			Message: fmt.Sprintf("Dependencies of script %s are a large download, which nobody has allowed (%s)", w.e.sc.Name, &d)}
	}
	w.cap.bytes = max(w.cap.bytes, unpacking*d.Bytes)
	return nil
}

// unpacking is how much larger packages become: unpacked, once in uv's cache and once in the environment.
const unpacking = 8

// size writes a number of bytes as "850 bytes", "12.3 MB" or "4.0 GB".
func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d bytes", n)
	case n < 1_000_000:
		return fmt.Sprintf("%.1f KB", float64(n)/1e3)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}
