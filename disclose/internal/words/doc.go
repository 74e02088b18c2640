// Package words reads texts word by word for a search, in any language: it folds case, cuts endings of English words, and has the English
// of common words of other languages.
package words
