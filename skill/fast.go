package skill

// plain is what a catalogue keeps of a manifest that has nothing but the open standard's fields.
type plain struct{ description, version []byte }

func skim(head []byte, base string) (plain, bool) { return plain{}, false }
