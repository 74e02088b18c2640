package skill

import (
	"testing"
	"testing/synctest"
)

// However many readers there are, no more of them make trees of YAML at once than there are slots.
func TestReadingWaitsForASlot(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots := make(chan struct{}, 1)
		slots <- struct{}{}
		rd := &reading{part: &part{layer: &Layer{}}, slots: slots}
		done := 0
		go func() {
			rd.parse(&Found{Path: "a", File: "SKILL.md", Head: []byte(skillText("a", ""))}, "a")
			done++
		}()
		synctest.Wait()
		if done != 0 {
			t.Error("a manifest was read without a slot")
		}
		<-slots
		synctest.Wait()
		if done != 1 || len(slots) != 0 {
			t.Errorf("read %d times, %d slots are still held", done, len(slots))
		}
	})
}
