// Package check validates a skill's folder: its manifest, its files and the references between them.
//
// [Folder] reads the manifest as manifest.Parse does and then looks at the folder: whether it has the scripts and files
// that the manifest and the instructions name, whether links stay inside it, whether file names work on every system, and
// whether sizes are within what the engine reads. It returns every problem and runs nothing of the skill.
//
// The instructions name a file in the target of a link, and in code with a path such as scripts/x.py: in a code span, and
// in a command of a code block. Paths in sentences that give an example, or say what to create, are not checked.
//
// The example "All" of Folder validates a folder of skills.
//
// Folder takes any fs.FS that is confined to the folder, such as the one of an [os.Root]. A file system with a method
// ReadManifest(name string) ([]byte, error) decides itself how its manifest is read.
package check
