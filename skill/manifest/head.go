package manifest

import "bytes"

// HeadEnd returns the length of the front matter with both its lines "---", 0 when the second is
// not certain to be there. Whether the text before it is front matter at all is Parse's to say.
func HeadEnd(b []byte) int {
	first := bytes.Index(b, []byte("---"))
	if first < 0 {
		return 0
	}
	for at := first + 3; ; {
		i := bytes.Index(b[at:], []byte("---"))
		if i < 0 {
			return 0
		}
		start, end := at+i, at+i+3
		for end < len(b) && (b[end] == ' ' || b[end] == '\t') {
			end++
		}
		if c := b[start-1]; (c == '\n' || c == '\r') && end < len(b) && (b[end] == '\n' || b[end] == '\r') {
			if bytes.HasPrefix(b[end:], []byte("\r\n")) {
				return end + 2
			}
			return end + 1
		}
		at += i + 1
	}
}
