// Package rank orders documents by how well they fit a request, by their words: BM25, with phrases, names and other languages.
package rank
