package scan

// opaque says what a file that is no text is.
func (r *reader) opaque(at int, content []byte) {
	r.r.Files[at].Kind = "bytes"
	r.partly(at, "it is no text")
}
