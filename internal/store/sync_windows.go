package store

import "os"

// syncFlag opens a file whose content is to be written to the disk.
const syncFlag = os.O_RDWR

// syncDir does nothing: Windows cannot flush a folder, and its journal keeps renames.
func syncDir(string) error { return nil }

// syncIn does nothing either.
func syncIn(*os.Root, string) error { return nil }
