package config

import "testing"

func BenchmarkLoad(b *testing.B) {
	w := &world{home: b.TempDir(), env: map[string]string{}}
	w.project = w.home + "/p"
	for b.Loop() {
		w.load()
	}
}
