package script

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"
)

// surveyed is what a walk over an environment found.
type surveyed struct {
	files  int
	bytes  int64
	digest string // of every file's path and facts: it tells whether anything was changed
}

// survey looks at every file and folder once, without reading any (lstat): 2 ms for some hundred files.
func survey(folder string) (surveyed, error) {
	var s surveyed
	h := sha256.New()
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		s.files++
		if info.Mode().IsRegular() {
			s.bytes += info.Size()
		}
		fmt.Fprintf(h, "%d:%s %s\n", len(p), p, facts(info))
		return nil
	})
	s.digest = hex.EncodeToString(h.Sum(nil))
	return s, err
}
