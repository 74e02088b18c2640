package skill

// Profile says how strictly manifests are read: the severity of each rule.
type Profile struct {
	Name string
}

// DefaultProfile reads leniently: whatever can be repaired is, with a warning.
func DefaultProfile() *Profile { return &Profile{Name: "default"} }
