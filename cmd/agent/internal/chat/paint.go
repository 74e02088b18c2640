package chat

// paint colours text if the user wants colours; otherwise it returns the text unchanged. It uses only the sixteen colours
// of the terminal's own palette, which fit its background.
type paint bool

func (p paint) sgr(code, s string) string {
	if !p || s == "" || code == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p paint) bold(s string) string   { return p.sgr("1", s) }
func (p paint) dim(s string) string    { return p.sgr("2", s) }
func (p paint) red(s string) string    { return p.sgr("31", s) }
func (p paint) green(s string) string  { return p.sgr("32", s) }
func (p paint) yellow(s string) string { return p.sgr("33", s) }
func (p paint) cyan(s string) string   { return p.sgr("36", s) }
