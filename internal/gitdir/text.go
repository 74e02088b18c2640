package gitdir

import "strings"

// Text writes settings so that git reads the same. Each has a section of its own.
func Text(list []Setting) []byte {
	var b strings.Builder
	for _, s := range list {
		b.WriteString("[" + s.Section)
		if s.Sub != "" {
			b.WriteString(` "` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s.Sub) + `"`)
		}
		b.WriteString("]\n\t" + s.Key)
		if !s.Bare {
			b.WriteString(` = "` + quote.Replace(s.Value) + `"`)
		}
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

var quote = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`, "\b", `\b`)
