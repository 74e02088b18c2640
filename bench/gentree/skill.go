package main

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
)

// skill is one generated skill. It depends only on its number.
type skill struct {
	name     string
	keywords []string // five trigger phrases
	files    []file   // SKILL.md first
}

type file struct {
	path    string // below the skill's directory
	content string
	mode    fs.FileMode
}

// writer picks words with one random source. The order of the picks determines the bytes of a skill.
type writer struct {
	*rand.Rand
}

func newSkill(number int) skill {
	w := writer{rand.New(rand.NewPCG(uint64(number), 0x5ca1ab1e))}
	domain, other, verb, adjective := w.pick(domains), w.pick(domains), w.pick(verbs), w.pick(adjectives)
	name := fmt.Sprintf("%s-%s-%s-%05d", adjective, domain, verb, number)
	s := skill{name: name[:min(len(name), 64)]}
	description := w.description(domain, other, verb, adjective)
	s.keywords = []string{
		verb + " " + domain, domain + " " + other, other + " " + w.pick(fillers), adjective + " " + domain,
		fmt.Sprintf("%s%d", domain, number%997),
	}
	manifest := w.frontMatter(s.name, domain, description)
	u := w.Float64() // squared: most bodies are small
	manifest += w.markdown(s.name, 2048+int(u*u*10240))
	s.files = append([]file{{"SKILL.md", manifest, 0o644}}, w.resources()...)
	return s
}

// description returns 200 to 400 characters, the average of public skills.
func (w writer) description(domain, other, verb, adjective string) string {
	target := 200 + w.IntN(201)
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s and %s files for the %s team.", capital(verb), domain, other, adjective)
	for b.Len() < target-60 {
		b.WriteString(" " + w.sentence(7+w.IntN(6)))
	}
	fmt.Fprintf(&b, " Use when the user mentions %s, %s or .%s files.", domain, other, domain)
	return b.String()
}

// resources returns the files next to SKILL.md: every third skill has scripts, nearly as many have references.
func (w writer) resources() []file {
	var files []file
	if w.chance(35) {
		for j, n := 0, 1+w.IntN(3); j < n; j++ {
			path := fmt.Sprintf("scripts/%s_%d.py", w.pick(verbs), j)
			files = append(files, file{path, w.python(), 0o755})
		}
	}
	if w.chance(30) {
		for j, n := 0, 1+w.IntN(3); j < n; j++ {
			path := fmt.Sprintf("references/%s_%d.md", w.pick(domains), j)
			files = append(files, file{path, w.markdown("Reference", 1500+w.IntN(5000)), 0o644})
		}
	}
	if w.chance(10) {
		files = append(files, file{"assets/template.txt", w.sentence(200), 0o644})
	}
	return files
}

// markdown returns a page of at least size bytes.
func (w writer) markdown(title string, size int) string {
	var b strings.Builder
	b.Grow(size + 400)
	b.WriteString("\n# " + title + "\n\n")
	for b.Len() < size {
		switch w.IntN(5) {
		case 0:
			b.WriteString("## " + w.sentence(4) + "\n\n")
		case 1:
			for range 4 {
				b.WriteString("- **" + w.pick(domains) + "**: " + w.sentence(9) + "\n")
			}
			b.WriteByte('\n')
		case 2:
			fmt.Fprintf(&b, "```bash\npython scripts/%s.py --input %s.json --out result\n```\n\n", w.pick(verbs), w.pick(domains))
		default:
			for range 4 {
				b.WriteString(w.sentence(8+w.IntN(10)) + " ")
			}
			b.WriteString("\n\n")
		}
	}
	return b.String()
}

// python returns a script with an inline dependency block.
func (w writer) python() string {
	return fmt.Sprintf(`# /// script
# requires-python = ">=3.11"
# dependencies = ["httpx>=0.27", "click>=8"]
# ///
"""%s"""
import json
import sys


def main() -> None:
    # %s
    json.dump({"ok": True, "argv": sys.argv[1:]}, sys.stdout)


if __name__ == "__main__":
    main()
%s`, w.sentence(10), w.sentence(12), strings.Repeat("# "+w.sentence(14)+"\n", 5+w.IntN(20)))
}

func (w writer) sentence(words int) string {
	var b strings.Builder
	for i := range words {
		word := w.pick(fillers)
		if i%5 == 2 {
			word = w.pick(domains)
		}
		if i == 0 {
			word = capital(word)
		} else {
			b.WriteByte(' ')
		}
		b.WriteString(word)
	}
	b.WriteByte('.')
	return b.String()
}

func (w writer) pick(words []string) string {
	return words[w.IntN(len(words))]
}

func (w writer) chance(percent int) bool {
	return w.IntN(100) < percent
}

func capital(word string) string {
	return strings.ToUpper(word[:1]) + word[1:]
}

// query returns a sentence that a user might send, for searches and triggers.
func (w writer) query() string {
	return fmt.Sprintf("please %s %s %s and then %s the %s %s for me %s", w.pick(verbs), w.pick(domains), w.pick(domains),
		w.pick(verbs), w.pick(adjectives), w.pick(domains), strings.ToLower(w.sentence(6)))
}
