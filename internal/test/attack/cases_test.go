package attack

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// proofs names for each case of the attack catalogue that this build answers for the tests that prove it, as
// "file:Test". Beside each such test, or in it, stands the number of the case. A case without a row here fails
// TestEveryCaseIsProved, and so does a row whose test is gone.
var proofs = map[string][]string{
	"2.1 #1":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #2":  {"internal/test/attack/manifest_test.go:TestEndlessManifest", "internal/scan/special_unix_test.go:TestSparse"},
	"2.1 #4":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #5":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #6":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #8":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #9":  {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #10": {"internal/test/attack/manifest_test.go:TestScalarsStayText", "skill/manifest/parse_security_test.go:TestParseSourceText"},
	"2.1 #12": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #13": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #14": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseDelimiters"},
	"2.1 #16": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseManyKeys"},
	"2.1 #17": {"internal/test/attack/manifest_test.go:TestHostileManifest", "internal/test/attack/trust_test.go:TestStolenName"},
	"2.1 #18": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseLongDescription"},
	"2.1 #20": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseBodyVerbatim"},
	"2.1 #21": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.1 #22": {"internal/test/attack/scripts_test.go:TestHostileBlocks"},

	"2.2 #24": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/resource_test.go:TestReadRefuses"},
	"2.2 #25": {"internal/test/attack/files_test.go:TestNamesThatFold", "script/list_test.go:TestFind"},
	"2.2 #26": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/manifest/parse_security_test.go:TestParseHostile"},
	"2.2 #28": {"internal/test/attack/trust_test.go:TestStolenName"},
	"2.2 #29": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/resource_test.go:TestReadRefuses"},
	"2.2 #30": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/catalog_test.go:TestMountsAndGlobs"},

	"2.3 #32": {"internal/test/attack/files_test.go:TestNothingOutsideIsRead", "skill/resource_test.go:TestReadRefuses"},
	"2.3 #33": {"internal/test/attack/files_test.go:TestSwapsWhileReading", "skill/resource_test.go:TestSwappedForLink"},
	"2.3 #34": {"internal/test/attack/files_test.go:TestSwapsWhileReading", "skill/resource_test.go:TestSwappedFolder"},
	"2.3 #36": {"internal/test/attack/files_test.go:TestSpecialFiles", "skill/special_unix_test.go:TestSpecialFiles"},
	"2.3 #37": {"internal/test/attack/files_test.go:TestSpecialFiles", "skill/special_unix_test.go:TestSpecialFiles"},
	"2.3 #38": {"internal/test/attack/files_test.go:TestNothingOutsideIsRead", "skill/catalog_test.go:TestDiscovery"},
	"2.3 #40": {"internal/test/attack/files_test.go:TestOddResources", "skill/resource_test.go:TestReadBounded"},
	"2.3 #41": {"skill/resource_test.go:TestReadBounded"},
	"2.3 #42": {"internal/test/attack/files_test.go:TestLinkedFolders", "internal/test/attack/trust_test.go:TestTrustedRootHoldsItsOwn"},
	"2.3 #44": {"internal/test/attack/trust_test.go:TestSwapsBeforeRunning", "skill/seal_test.go:TestSeal"},

	"2.4 #45": {"internal/test/attack/files_test.go:TestNothingOutsideIsRead", "skilltool/read_test.go:TestReadRefusesDisguises"},
	"2.4 #46": {"internal/test/attack/files_test.go:TestNothingOutsideIsRead", "skilltool/read_test.go:TestScriptsAreNotRead"},
	"2.4 #48": {"internal/test/attack/files_test.go:TestOddResources", "skill/resource_test.go:TestReadBinary"},
	"2.4 #49": {"internal/test/attack/files_test.go:TestOddResources", "skill/resource_test.go:TestReadBinary"},
	"2.4 #50": {"internal/test/attack/terminal_test.go:TestFramesHold", "skilltool/read_test.go:TestReadResource"},

	"2.5 #52": {"internal/test/attack/scripts_test.go:TestArgumentsAreNoShell"},
	"2.5 #53": {"internal/test/attack/scripts_test.go:TestArgumentLimits", "script/list_test.go:TestCheckArgs"},
	"2.5 #54": {"internal/test/attack/scripts_test.go:TestArgumentsAreNoShell"},
	"2.5 #56": {"internal/test/attack/scripts_test.go:TestEnvironmentIsClean"},
	"2.5 #57": {"internal/test/attack/scripts_test.go:TestEnvironmentIsClean"},
	"2.5 #60": {"internal/test/attack/scripts_test.go:TestHostileOutput", "script/exec_linux_test.go:TestExecInterleaved"},
	"2.5 #61": {"internal/test/attack/scripts_test.go:TestHostileOutput", "script/exec_linux_test.go:TestExecTimeout"},
	"2.5 #62": {"internal/test/attack/scripts_test.go:TestHostileOutput"},
	"2.5 #64": {"internal/test/attack/scripts_test.go:TestHostileOutput", "script/exec_linux_test.go:TestExecClosedOutput"},
	"2.5 #69": {"internal/test/attack/scripts_test.go:TestHostileOutput", "script/exec_linux_test.go:TestExecTimeout"},
	"2.5 #84": {"internal/test/attack/scripts_test.go:TestHostileOutput"},
	"2.5 #86": {"internal/test/attack/scripts_test.go:TestRunsAreApart"},
	"2.5 #88": {"internal/test/attack/scripts_test.go:TestUnrunnable"},
	"2.5 #89": {"internal/test/attack/scripts_test.go:TestHostileBlocks", "script/pyenv/pep_test.go:TestCheckDependency"},
	"2.5 #90": {"internal/test/attack/scripts_test.go:TestPlantedConfiguration"},

	"2.14 #184": {"internal/test/attack/terminal_test.go:TestNothingIsObeyed"},
	"2.14 #185": {"internal/test/attack/trust_test.go:TestNothingTrustsItself", "internal/test/attack/trust_test.go:TestNobodyThereToAsk"},

	"UV1":  {"script/uv_cases_test.go:TestUV1NothingForeignRuns"},
	"UV2":  {"script/pyenv/pep_test.go:TestParseBlock", "script/uv_cases_test.go:TestUV2RefusedBeforeUVStarts", "internal/test/attack/scripts_test.go:TestHostileBlocks"},
	"UV3":  {"script/pyenv/pep_test.go:TestParseBlock", "script/uv_cases_test.go:TestUV2RefusedBeforeUVStarts", "internal/test/attack/scripts_test.go:TestHostileBlocks"},
	"UV5":  {"script/uv_cases_test.go:TestUV2RefusedBeforeUVStarts"},
	"UV6":  {"script/pyenv/pep_test.go:TestCheckDependency", "script/uv_cases_test.go:TestUV2RefusedBeforeUVStarts", "internal/test/attack/scripts_test.go:TestHostileBlocks"},
	"UV7":  {"script/uv_cases_test.go:TestUV7NoSharedFiles"},
	"UV9":  {"script/prepare_test.go:TestPrepareLeavesNothing"},
	"UV10": {"script/uv_cases_test.go:TestUV10PlantedConfiguration"},
	"UV11": {"script/uv_cases_test.go:TestUV11PlantedBytecode"},
	"UV13": {"script/uv_cases_test.go:TestUV13CacheOfCredentials"},
	"UV14": {"script/uv_cases_test.go:TestUVEnvironment"},
	"UV15": {"script/uv_cases_test.go:TestUV15HeldLocks"},
	"UV17": {"script/pyenv/pep_test.go:TestParseBlock", "script/uv_cases_test.go:TestUV2RefusedBeforeUVStarts", "internal/test/attack/scripts_test.go:TestHostileBlocks"},
	"UV18": {"script/uv_cases_test.go:TestUV1NothingForeignRuns", "script/uv_cases_test.go:TestUV18NameOfPython"},

	"IX1": {"internal/test/attack/files_test.go:TestSpecialFiles", "internal/scan/special_unix_test.go:TestSpecialFiles"},
	"IX2": {"internal/test/attack/manifest_test.go:TestHostileManifest", "skill/catalog_test.go:TestDiscovery"},
	"IX3": {"internal/test/attack/manifest_test.go:TestHostileManifest"},
}

// wanted lists the cases by section. The catalogue has gaps in its numbers; those of a sandbox, of installing and of an
// index on disk belong to builds that have them.
var wanted = map[string][]int{
	"2.1 #": {1, 2, 4, 5, 6, 8, 9, 10, 12, 13, 14, 16, 17, 18, 20, 21, 22}, "2.2 #": {24, 25, 26, 28, 29, 30},
	"2.3 #": {32, 33, 34, 36, 37, 38, 40, 41, 42, 44}, "2.4 #": {45, 46, 48, 49, 50},
	"2.5 #": {52, 53, 54, 56, 57, 60, 61, 62, 64, 69, 84, 86, 88, 89, 90}, "2.14 #": {184, 185},
	"UV": {1, 2, 3, 5, 6, 7, 9, 10, 11, 13, 14, 15, 17, 18}, "IX": {1, 2, 3},
}

func TestEveryCaseIsProved(t *testing.T) {
	known := map[string]bool{}
	for section, numbers := range wanted {
		for _, n := range numbers {
			known[fmt.Sprint(section, n)] = true
			if len(proofs[fmt.Sprint(section, n)]) == 0 {
				t.Errorf("%s%d has no proof", section, n)
			}
		}
	}
	for name, tests := range proofs {
		if !known[name] {
			t.Errorf("%s is no case", name)
		}
		for _, test := range tests {
			if err := proves(test, name); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// proves looks for the test, and for the number of the case in it or in the comment before it.
func proves(test, name string) error {
	file, function, _ := strings.Cut(test, ":")
	src, err := os.ReadFile(filepath.Join("..", "..", "..", filepath.FromSlash(file)))
	if err != nil {
		return err
	}
	blocks := strings.Split(string(src), "\n}\n") // a function ends in the first column, and what follows belongs to the next
	i := slices.IndexFunc(blocks, func(b string) bool { return strings.Contains(b, "\nfunc "+function+"(") })
	if i < 0 {
		return fmt.Errorf("%s has no %s", file, function)
	}
	number := name[strings.IndexAny(name, "#UI"):]
	if !regexp.MustCompile(regexp.QuoteMeta(number) + `\b`).MatchString(blocks[i]) {
		return fmt.Errorf("%s does not name %s", test, number)
	}
	return nil
}
