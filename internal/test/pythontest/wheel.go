package pythontest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Wheel writes the wheel of a package to dir: its files, by slash path, and the metadata that make it one. INFO/ at the
// beginning of a path stands for the folder of the metadata.
func Wheel(dir, name, version string, files map[string]string) error {
	info := name + "-" + version + ".dist-info/"
	all := map[string]string{
		info + "METADATA": fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version),
		info + "WHEEL":    "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
	}
	for file, content := range files {
		all[strings.ReplaceAll(file, "INFO/", info)] = content
	}
	var record strings.Builder
	for file, content := range all {
		sum := sha256.Sum256([]byte(content))
		fmt.Fprintf(&record, "%s,sha256=%s,%d\n", file, base64.RawURLEncoding.EncodeToString(sum[:]), len(content))
	}
	all[info+"RECORD"] = record.String() + info + "RECORD,,\n"
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for file, content := range all {
		f, err := z.Create(file)
		if err == nil {
			_, err = f.Write([]byte(content))
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(z.Close(), os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%s-py3-none-any.whl", name, version)), b.Bytes(), 0o644))
}
