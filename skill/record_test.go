package skill

import (
	"testing"
	"testing/synctest"

	"github.com/agent-base/agent-base/internal/scan"
)

// However many workers there are, no more of them read manifests at once than there are readings.
func TestVisitWaitsForAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := &visit{s: &dirSource{abs: "/"}, level: make([]*record, 1), free: make(chan *reading, 1)}
		go v.Visit(0, 0, &scan.Item{Dir: "a", File: "SKILL.md", Data: []byte(skillText("a", ""))})
		synctest.Wait()
		if v.level[0] != nil {
			t.Error("a manifest was read without a reading")
		}
		v.free <- &reading{part: &part{layer: &Layer{}}}
		synctest.Wait()
		if v.level[0] == nil || len(v.free) != 1 {
			t.Errorf("read %v, %d readings are free", v.level[0], len(v.free))
		}
	})
}
