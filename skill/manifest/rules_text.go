package manifest

import "fmt"

// words returns the text that the source of a profile prescribes for a problem, or "". name and dir are the names of
// the skill and its directory.
func (p *Profile) words(pr *Problem, name, dir string) string {
	if p == nil {
		return ""
	}
	switch p.Name {
	case "wink":
		return winkWords(pr.Code, name, dir)
	case "omniforge":
		return omniforgeWords(pr, name)
	}
	return ""
}

func winkWords(code, name, dir string) string {
	switch code {
	case "frontmatter-missing", "frontmatter-leading", "frontmatter-preamble":
		return "SKILL.md must start with YAML frontmatter"
	case "frontmatter-unclosed":
		return "SKILL.md frontmatter not terminated"
	case "name-length":
		return "Skill name must be 1-64 chars: " + name
	case "name-invalid", "name-case", "name-underscore", "name-edge":
		return "Invalid skill name format: " + name
	case "name-double":
		return "Consecutive hyphens not allowed: " + name
	case "name-directory":
		return fmt.Sprintf("Skill name '%s' must match directory name '%s'", name, dir)
	}
	return ""
}

func omniforgeWords(pr *Problem, name string) string {
	switch pr.Code {
	case "frontmatter-missing", "frontmatter-leading", "frontmatter-preamble", "frontmatter-unclosed", "frontmatter-eof":
		return fmt.Sprintf(`No valid YAML frontmatter found in %s. Expected format: ---\n<yaml>\n---\n<content>`, pr.File)
	case "name-invalid", "name-case", "name-underscore", "name-letter":
		return fmt.Sprintf("Skill name '%s' must be kebab-case (lowercase letters, numbers, hyphens, starting with letter)", name)
	case "yaml-syntax", "yaml-anchor", "yaml-tag", "yaml-depth", "yaml-document", "yaml-key", "frontmatter-mapping":
		return fmt.Sprintf("Invalid YAML in frontmatter of %s: %s", pr.File, pr.Message)
	case "fields-missing", "field-type", "field-value":
		return fmt.Sprintf("Invalid skill metadata in %s: %s", pr.File, pr.Message)
	case "file-unreadable", "file-missing", "file-size", "file-utf8", "file-utf16", "file-nul":
		return fmt.Sprintf("Failed to read skill file %s: %s", pr.File, pr.Message)
	}
	return ""
}
