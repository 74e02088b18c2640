//go:build !linux || !(amd64 || arm64)

package walk

import "errors"

func openFast(string) (backend, error) { return nil, errors.ErrUnsupported }

func openFS(string) (FS, error) { return nil, errors.ErrUnsupported }
