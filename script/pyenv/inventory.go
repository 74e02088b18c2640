package pyenv

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/agent-base/agent-base/internal/program"
)

// inventory is a digest of every path below a folder and of what the file system says of it: it differs when anything was
// changed. It looks at each file once, without reading any: 2 ms for some hundred files.
func inventory(folder string) (string, error) {
	h := sha256.New()
	err := filepath.WalkDir(folder, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintf(h, "%d:%s %s\n", len(p), p, program.Facts(info))
		return nil
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
