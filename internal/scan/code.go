package scan

import "errors"

// Code returns the code of the problem that an error of reading a manifest is.
func Code(err error) string {
	switch {
	case errors.Is(err, ErrNotRegular):
		return "manifest-irregular"
	case errors.Is(err, ErrTooBig):
		return "file-size"
	case errors.Is(err, ErrLeaves), errors.Is(err, ErrDenied):
		return "manifest-link"
	}
	return "file-unreadable"
}
