package attack

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// cases lists the kinds of attack that this build answers, each with the names of the tests that prove it. The tests are
// in this package and next to the code.
var cases = map[string][]string{
	// SKILL.md
	"front matter over 64 KiB, without an end or with very many keys": {"TestHostileManifest", "TestParseHostile"},
	"front matter of 5 KiB, which is valid":                           {"TestHostileManifest", "TestDiscovery"},
	"endless or sparse SKILL.md":                                      {"TestEndlessManifest", "TestSparse"},
	"aliases of quadratic size":                                       {"TestHostileManifest", "TestParseHostile"},
	"merge keys and aliases of themselves":                            {"TestHostileManifest", "TestParseHostile"},
	"deep nesting":                                                    {"TestHostileManifest", "TestParseHostile"},
	"two documents":                                                   {"TestHostileManifest", "TestParseHostile"},
	"tags":                                                            {"TestHostileManifest", "TestParseHostile"},
	"values that YAML would convert":                                  {"TestScalarsStayText", "TestParseSourceText"},
	"control characters in values":                                    {"TestHostileManifest", "TestParseHostile"},
	"invalid UTF-8, UTF-16, a byte order mark":                        {"TestHostileManifest", "TestParseHostile"},
	"line ends, tabs and odd delimiters":                              {"TestHostileManifest", "TestParseDelimiters"},
	"thousands of unknown keys":                                       {"TestHostileManifest", "TestParseManyKeys"},
	"invalid names, and names of other folders":                       {"TestHostileManifest", "TestStolenName"},
	"very long description":                                           {"TestHostileManifest", "TestParseLongDescription"},
	"instructions in a comment of the body":                           {"TestHostileManifest", "TestParseBodyVerbatim"},
	"front matter in JSON or TOML":                                    {"TestHostileManifest", "TestParseHostile"},
	"malformed inline dependencies":                                   {"TestHostileBlocks"},

	// Names
	"device names of Windows, alternate streams":         {"TestHostileManifest", "TestReadRefuses"},
	"two names that are equal on another file system":    {"TestNamesThatFold", "TestFind"},
	"names with look-alike letters":                      {"TestHostileManifest", "TestParseHostile"},
	"names of skills that are trusted or bundled":        {"TestStolenName"},
	"very long names and paths":                          {"TestHostileManifest", "TestReadRefuses"},
	"names with the special characters of globs":         {"TestHostileManifest", "TestMountsAndGlobs"},
	"names longer than the file system can store":        {"TestHostileManifest"},
	"texts that terminals interpret, in names and texts": {"TestNothingIsObeyed"},

	// Files
	"links out of a skill":                          {"TestNothingOutsideIsRead", "TestReadRefuses"},
	"folder replaced by a link during a read":       {"TestSwapsWhileReading", "TestSwappedForLink"},
	"skill replaced after it was loaded":            {"TestSwapsWhileReading", "TestSwappedFolder"},
	"pipes, devices and sockets":                    {"TestSpecialFiles"},
	"loops of links":                                {"TestNothingOutsideIsRead", "TestDiscovery"},
	"sparse file of a terabyte":                     {"TestOddResources", "TestReadBounded"},
	"file that grows during a read":                 {"TestReadBounded"},
	"linked skills in a clone":                      {"TestLinkedFolders", "TestTrustedRootHoldsItsOwn"},
	"script replaced between the check and the run": {"TestSwapsBeforeRunning", "TestSeal"},

	// Reading
	"disguised paths":                    {"TestNothingOutsideIsRead", "TestReadRefusesDisguises"},
	"reading the source of a script":     {"TestNothingOutsideIsRead", "TestScriptsAreNotRead"},
	"binary files":                       {"TestOddResources", "TestReadBinary"},
	"texts that imitate the frame's end": {"TestFramesHold", "TestReadResource"},

	// Scripts
	"arguments with the syntax of shells or flags":    {"TestArgumentsAreNoShell"},
	"too many or too long arguments":                  {"TestArgumentLimits", "TestCheckArgs"},
	"keys in the environment":                         {"TestEnvironmentIsClean"},
	"variables that load code":                        {"TestEnvironmentIsClean"},
	"endless output":                                  {"TestHostileOutput", "TestExecInterleaved"},
	"slow output":                                     {"TestHostileOutput", "TestExecTimeout"},
	"output that is not text":                         {"TestHostileOutput"},
	"closed output, output kept open by a child":      {"TestHostileOutput", "TestExecClosedOutput"},
	"scripts that never end":                          {"TestHostileOutput", "TestExecTimeout"},
	"exit code and output that contradict each other": {"TestHostileOutput"},
	"concurrent runs":                                 {"TestRunsAreApart"},
	"scripts that cannot run":                         {"TestUnrunnable"},
	"dependencies from other places":                  {"TestHostileBlocks", "TestCheckDependency"},
	"planted configuration files":                     {"TestPlantedConfiguration"},

	// Trust
	"skills and projects that approve themselves": {"TestNothingTrustsItself", "TestNobodyThereToAsk"},

	// Python environments
	"packages that run code during preparation":      {"TestUV1NothingForeignRuns"},
	"build options in a script":                      {"TestParseBlock", "TestUV2RefusedBeforeUVStarts", "TestHostileBlocks"},
	"indexes and proxies in a script":                {"TestParseBlock", "TestUV2RefusedBeforeUVStarts", "TestHostileBlocks"},
	"credentials of an index that a script names":    {"TestUV2RefusedBeforeUVStarts"},
	"direct address of a package":                    {"TestCheckDependency", "TestUV2RefusedBeforeUVStarts", "TestHostileBlocks"},
	"changed files of a package that skills share":   {"TestUV7NoSharedFiles"},
	"package that fails during preparation":          {"TestPrepareLeavesNothing"},
	"package that replaces pyvenv.cfg":               {"TestUV10PlantedConfiguration"},
	"planted bytecode":                               {"TestUV11PlantedBytecode"},
	"cache filled with credentials":                  {"TestUV13CacheOfCredentials"},
	"lock files held by another user":                {"TestUVEnvironment"},
	"lock of the environment held by a script":       {"TestUV15HeldLocks"},
	"two dependency blocks":                          {"TestParseBlock", "TestUV2RefusedBeforeUVStarts", "TestHostileBlocks"},
	"interpreter that is started under another name": {"TestUV1NothingForeignRuns", "TestUV18NameOfPython"},
}

// Every case of attack has tests, and they exist.
func TestEveryCaseIsProved(t *testing.T) {
	tests := testNames(t)
	for name, proofs := range cases {
		if len(proofs) == 0 {
			t.Errorf("%s: no test", name)
		}
		for _, proof := range proofs {
			if !tests[proof] {
				t.Errorf("%s: test %s does not exist", name, proof)
			}
		}
	}
}

// testNames returns the names of all tests of the module.
func testNames(t *testing.T) map[string]bool {
	t.Helper()
	header := regexp.MustCompile(`(?m)^func (Test[A-Z]\w*)\(`)
	names := map[string]bool{}
	err := filepath.WalkDir(filepath.Join("..", "..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && len(d.Name()) > 2 && d.Name()[0] == '.' {
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, found := range header.FindAllSubmatch(source, -1) {
			names[string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
