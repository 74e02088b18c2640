package survey

import (
	"fmt"
	"slices"
	"strings"
)

// keepDeclared keeps the scripts that the manifest lists, as "status", "status.py", "scripts/status.py" or by another path,
// and reports the others that it lists. others are the entries of scripts/ that are not scripts.
func (s *Set) keepDeclared(others []other) {
	strange := map[string]other{}
	for _, o := range slices.Backward(others) { // the first of a name wins
		strange[Fold(stem(o.name))] = o
	}
	for _, o := range slices.Backward(others) {
		strange[Fold(o.name)] = o
	}
	keep := map[string]bool{}
	for _, want := range s.m.Scripts {
		if file := s.declared(want); file != "" {
			keep[file] = true
			continue
		}
		base := strings.TrimPrefix(strings.TrimPrefix(want, "./"), Dir+"/")
		o, there := strange[Fold(base)]
		switch {
		case s.rule == Direct && strings.Contains(base, "/"):
			s.reportField("scripts-value", "scripts", fmt.Sprintf("script %q is not directly in %s/", want, Dir), "move the file to "+Dir+"/ and list its name")
		case there && o.link:
			s.reportLink(Dir + "/" + o.name)
		case there && o.bad:
			s.reportName(Dir + "/" + o.name)
		case there:
			s.reportField("script-kind", "scripts", fmt.Sprintf("%q is listed as a script, but nothing is known that runs it", want), "give it "+Kinds(s.rule))
		default:
			s.reportField("script-missing", "scripts", fmt.Sprintf("script %q is listed but not there", want), "add the file, or remove it from the list")
		}
	}
	files := slices.Clone(s.files)
	s.files = s.files[:0]
	for _, index := range []map[string][]int{s.stems, s.bases, s.baseStems} {
		clear(index)
	}
	clear(s.paths)
	for _, file := range files {
		if keep[file] {
			s.add(file)
		}
	}
}

// declared returns the file that an entry of the manifest's list means, the first if there are several, or "".
func (s *Set) declared(want string) string {
	for _, t := range targets(want, s.m) {
		if at := s.at(t); len(at) > 0 {
			return s.files[at[0]]
		}
	}
	return ""
}
