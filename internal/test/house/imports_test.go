package house_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agent-base/agent-base/internal/test/deptest"
)

// everything stands for all packages of the module.
const everything = "*"

// allowed lists the packages of this module that a package may import. Tests may import more. A new package needs a row.
var allowed = map[string][]string{
	"cmd/agent":                       {"cmd/agent/internal/cli", "cmd/agent/internal/protect"},
	"cmd/agent/internal/cli":          {"internal/document", "agent/permit", "cmd/agent/internal/acp", "cmd/agent/internal/app", "cmd/agent/internal/chat", "cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/fleet", "cmd/agent/internal/grants", "cmd/agent/internal/hosts", "cmd/agent/internal/lock", "cmd/agent/internal/models", "cmd/agent/internal/oauth", "cmd/agent/internal/observe", "cmd/agent/internal/output", "cmd/agent/internal/sandbox", "cmd/agent/internal/saved", "cmd/agent/internal/scaffold", "cmd/agent/internal/scanner", "cmd/agent/internal/serve", "cmd/agent/internal/setup", "cmd/agent/internal/toolkit", "cmd/agent/internal/trial", "cmd/agent/internal/ui", "cmd/agent/internal/worker", "disclose", "install", "install/oci", "install/oms", "install/registry", "install/source", "internal/diff", "internal/dirhash", "internal/language", "internal/lockfile", "internal/near", "internal/obeyed", "internal/pack", "internal/paths", "internal/program", "internal/toolrule", "internal/undo", "internal/unpack", "internal/variable", "internal/walk", "llm", "mcphost", "mcpserve", "policy", "script", "script/runner", "internal/survey", "session/allow", "skill", "skill/check", "skill/manifest", "skill/scan", "skill/scan/export", "skill/scan/rule", "skill/watch", "skilltool", "tool", "toolset", "trace", "trace/audit", "trust", "want", "cmd/agent/internal/consent", "cmd/agent/internal/library", "cmd/agent/internal/packages", "cmd/agent/internal/servers", "cmd/agent/internal/replica", "internal/fleet/dispatch", "internal/fleet/node"},
	"cmd/agent/internal/app":          {"agent/permit", "cmd/agent/internal/models", "cmd/agent/internal/ui", "internal/lockfile", "cmd/agent/internal/replay", "cmd/agent/internal/output", "cmd/agent/internal/observe", "cmd/agent/internal/sandbox", "cmd/agent/internal/setup", "cmd/agent/internal/grants", "cmd/agent/internal/scanner", "cmd/agent/internal/toolkit", "cmd/agent/internal/consent", "cmd/agent/internal/library", "cmd/agent/internal/packages", "cmd/agent/internal/servers"},
	"cmd/agent/internal/failure":      {"cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/lock", "cmd/agent/internal/models", "cmd/agent/internal/replay", "install", "install/fetch", "install/oci", "install/registry", "internal/lockfile", "internal/store", "llm", "mcphost", "policy", "script", "skill", "skill/manifest", "tool"},
	"cmd/agent/internal/output":       {"cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/ui", "disclose", "internal/dirhash", "internal/lazyregexp", "skill", "skill/manifest", "trace"},
	"cmd/agent/internal/setup":        {"internal/variable", "internal/store", "agent/permit", "cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/models", "cmd/agent/internal/output", "cmd/agent/internal/projectrules", "cmd/agent/internal/saved", "install/oms", "install/registry", "internal/gitdir", "internal/hostname", "internal/lazyregexp", "internal/near", "internal/program", "internal/redact", "internal/undo", "policy", "script", "script/runner", "internal/survey", "session/allow", "skill", "skill/manifest", "want", "cmd/agent/internal/replica", "internal/fleet/node", "internal/lockfile", "trace"},
	"cmd/agent/internal/observe":      {"cmd/agent/internal/failure", "cmd/agent/internal/output", "cmd/agent/internal/setup", "internal/redact", "script/runner", "telemetry", "trace", "trace/audit"},
	"cmd/agent/internal/sandbox":      {"cmd/agent/internal/models", "cmd/agent/internal/setup", "internal/egress", "policy", "script/confine", "script/runner"},
	"cmd/agent/internal/acp":          {"internal/media", "agent", "agent/permit", "cmd/agent/internal/app", "cmd/agent/internal/chat", "cmd/agent/internal/config", "cmd/agent/internal/failure", "cmd/agent/internal/saved", "cmd/agent/internal/setup", "cmd/agent/internal/stream", "cmd/agent/internal/todo", "cmd/agent/internal/ui", "cmd/agent/internal/worker", "disclose", "llm", "mcphost", "tool"},
	"cmd/agent/internal/grants":       {"internal/store", "internal/lockfile", "cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/observe", "cmd/agent/internal/output", "cmd/agent/internal/setup", "internal/dirhash", "internal/paths", "policy", "script", "script/runner", "skill", "skill/manifest", "trust", "want"},
	"cmd/agent/internal/scanner":      {"cmd/agent/internal/failure", "cmd/agent/internal/output", "cmd/agent/internal/sandbox", "cmd/agent/internal/setup", "install/registry", "install/source", "internal/dirhash", "internal/hostname", "internal/lockfile", "internal/paths", "policy", "script", "script/runner", "internal/survey", "skill", "skill/manifest", "skill/scan", "skill/scan/rule", "want"},
	"cmd/agent/internal/toolkit":      {"internal/place", "cmd/agent/internal/cure", "cmd/agent/internal/grants", "cmd/agent/internal/models", "cmd/agent/internal/observe", "cmd/agent/internal/output", "cmd/agent/internal/sandbox", "cmd/agent/internal/scanner", "cmd/agent/internal/setup", "disclose", "internal/fleet/content", "internal/fleet/order", "internal/lockfile", "internal/store", "script", "script/runner", "session", "skill", "skilltool", "tool", "toolset", "want"},
	"cmd/agent/internal/servers":      {"agent/permit", "cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/grants", "cmd/agent/internal/models", "cmd/agent/internal/oauth", "cmd/agent/internal/observe", "cmd/agent/internal/projectrules", "cmd/agent/internal/sandbox", "cmd/agent/internal/setup", "cmd/agent/internal/ui", "install", "internal/dirhash", "internal/hostname", "internal/lockfile", "internal/near", "internal/paths", "internal/proc", "internal/program", "internal/redact", "internal/variable", "mcphost", "mcphost/skillsource", "policy", "script", "script/runner", "skill", "skill/manifest", "trace", "want", "internal/ondisk"},
	"cmd/agent/internal/library":      {"cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/grants", "cmd/agent/internal/hosts", "cmd/agent/internal/observe", "cmd/agent/internal/output", "cmd/agent/internal/scanner", "cmd/agent/internal/servers", "cmd/agent/internal/setup", "install", "internal/lockfile", "internal/paths", "internal/store", "skill", "skill/manifest", "skills", "trace"},
	"cmd/agent/internal/packages":     {"cmd/agent/internal/config", "cmd/agent/internal/cure", "cmd/agent/internal/failure", "cmd/agent/internal/hosts", "cmd/agent/internal/library", "cmd/agent/internal/lock", "cmd/agent/internal/models", "cmd/agent/internal/observe", "cmd/agent/internal/output", "cmd/agent/internal/scanner", "cmd/agent/internal/servers", "cmd/agent/internal/setup", "cmd/agent/internal/ui", "install", "install/fetch", "install/oci", "install/oms", "install/registry", "install/source", "internal/paths", "internal/proc", "internal/store", "policy", "script", "skill", "skill/check", "skill/manifest", "toolset", "trace", "want", "internal/ondisk"},
	"cmd/agent/internal/consent":      {"cmd/agent/internal/failure", "cmd/agent/internal/grants", "cmd/agent/internal/output", "cmd/agent/internal/packages", "cmd/agent/internal/sandbox", "cmd/agent/internal/scanner", "cmd/agent/internal/setup", "cmd/agent/internal/toolkit", "cmd/agent/internal/ui", "install", "install/oms", "install/source", "internal/diff", "internal/dirhash", "internal/hostname", "internal/near", "policy", "script", "script/runner", "skill", "skill/manifest", "skill/scan", "skill/scan/rule", "trust", "want"},
	"internal/ondisk":                 {},
	"internal/place":                  {},
	"cmd/agent/internal/replica":      {"internal/document", "internal/fleet/content", "install/registry", "install/source", "internal/fleet/node", "internal/fleet/state", "internal/place", "internal/store", "skill", "trace", "trace/audit", "trust"},
	"cmd/agent/internal/web":          {"cmd/agent/internal/surroundings", "internal/hostname"},
	"cmd/agent/internal/surroundings": {"disclose", "internal/content", "internal/filename", "skill/manifest"},
	"cmd/agent/internal/worker":       {"internal/media", "cmd/agent/internal/markup", "cmd/agent/internal/todo", "policy", "mcphost", "internal/lazyregexp", "cmd/agent/internal/web", "cmd/agent/internal/surroundings", "internal/hostname", "want", "cmd/agent/internal/cure", "agent", "internal/hook", "internal/hosttool", "agent/permit", "cmd/agent/internal/saved", "cmd/agent/internal/stream", "internal/undo", "internal/diff", "cmd/agent/internal/app", "cmd/agent/internal/chat", "cmd/agent/internal/config", "cmd/agent/internal/models", "cmd/agent/internal/ui", "disclose", "internal/git", "internal/gitdir", "internal/keyagent", "internal/lockfile", "internal/near", "internal/paths", "internal/proc", "llm", "script", "script/runner", "internal/survey", "session", "session/allow", "skill", "skill/manifest", "skill/watch", "skilltool", "tool", "toolset", "trace", "cmd/agent/internal/trial", "cmd/agent/internal/failure", "cmd/agent/internal/output", "cmd/agent/internal/setup", "cmd/agent/internal/toolkit", "cmd/agent/internal/consent", "cmd/agent/internal/library", "cmd/agent/internal/servers", "internal/ondisk"},
	"cmd/agent/internal/projectrules": {"want", "internal/gitdir", "internal/lockfile", "internal/paths"},
	"cmd/agent/internal/scaffold":     {"internal/content", "internal/draft", "internal/language"},
	"cmd/agent/internal/fleet":        {"internal/fleet/content", "internal/fleet/dispatch", "internal/fleet/kube", "internal/fleet/node", "internal/fleet/order", "internal/fleet/relay", "internal/lockfile", "internal/proc", "script", "skill"},
	"cmd/agent/internal/serve":        {"cmd/agent/internal/replica", "internal/fleet/kube", "internal/fleet/dispatch", "internal/fleet/node", "telemetry", "cmd/agent/internal/fleet", "cmd/agent/internal/ui", "internal/lockfile", "cmd/agent/internal/app", "cmd/agent/internal/config", "mcpserve", "script", "session", "skill", "skill/watch", "skilltool", "toolset", "trace", "cmd/agent/internal/setup"},
	"cmd/agent/internal/cure":         {"tool", "agent/permit", "internal/program", "policy", "script", "internal/nodeenv", "internal/pyenv", "skill", "skill/manifest", "skilltool", "toolset", "trust", "want"},

	"fleet":                    {}, // tests alone
	"internal/fleet/cause":     {"internal/lockfile", "internal/nodeenv", "internal/program", "internal/pyenv", "mcphost", "script", "script/runner", "skill", "toolset", "want"},
	"internal/fleet/relay":     {"internal/fleet/cause", "internal/fleet/content", "internal/fleet/dispatch", "internal/fleet/flow", "internal/fleet/order", "script", "skill", "want"},
	"internal/fleet/node":      {"internal/fleet/patience", "internal/lockfile"},
	"internal/fleet/patience":  {},
	"internal/fleet/subject":   {},
	"internal/fleet/dispatch":  {"internal/fleet/patience", "internal/fleet/subject"},
	"internal/fleet/state":     {"internal/document", "internal/fleet/patience", "internal/fleet/subject", "skill/manifest", "trace"},
	"internal/fleet/kube":      {},
	"internal/fleet/flow":      {"internal/fleet/order"},
	"internal/fleet/content":   {"internal/proc", "internal/store", "internal/unpack", "skill"},
	"internal/fleet/order":     {"internal/media", "tool", "toolset", "internal/fleet/cause", "script", "script/runner", "session/allow", "skill", "skill/manifest", "trace", "want"},
	"internal/skilluri":        {"internal/yamlnode"},
	"internal/hooklist":        {"internal/yamlnode"},
	"mcphost":                  {"internal/media", "internal/lazyregexp", "internal/lockfile", "tool", "trace"},
	"cmd/agent/internal/oauth": {"internal/lockfile"},
	"mcpserve":                 {"internal/content", "internal/filename", "internal/media", "internal/skilluri", "skill/manifest", "disclose", "session", "skill", "skilltool", "tool", "trace"},
	"toolset":                  {"mcphost", "internal/variable", "internal/placeholder", "want", "toolset/internal/host", "tool", "skill", "skill/manifest", "script", "script/runner", "internal/survey", "trace", "internal/lazyregexp", "internal/lockfile", "internal/redact"},
	"toolset/internal/host":    {},

	"cmd/agent/internal/trial":    {"internal/content", "want", "disclose", "script", "script/runner", "internal/survey", "internal/lazyregexp", "skill", "skill/check", "skill/manifest", "tool", "toolset"},
	"skilltool":                   {"agent/permit", "policy", "internal/content", "internal/media", "tool", "skill", "skill/manifest", "disclose", "session", "session/allow", "internal/hook", "script", "script/runner", "internal/survey", "trace"},
	"session":                     {"session/allow", "internal/hook", "skill", "skill/manifest", "trace"},
	"script":                      {"internal/paths", "internal/program", "internal/redact", "internal/variable", "script/internal/envs", "script/internal/explain", "script/internal/fail", "script/internal/interpreter", "script/internal/output", "script/internal/places", "script/internal/plan", "script/internal/run", "script/runner", "internal/survey", "skill", "skill/manifest", "trace", "want"},
	"script/internal/explain":     {"internal/place", "internal/hostname", "internal/lazyregexp", "internal/paths", "internal/variable", "script/internal/fail", "script/internal/output", "internal/pyenv", "script/runner", "internal/survey", "skill", "skill/manifest", "want"},
	"script/internal/envs":        {"internal/envstore", "internal/nodeenv", "internal/paths", "internal/pyenv", "script/internal/fail", "script/internal/plan", "script/runner", "internal/survey", "skill", "want", "internal/ondisk"},
	"script/internal/fail":        {"internal/pyenv", "script/internal/output", "script/runner", "want"},
	"script/internal/layer":       {"internal/content", "internal/filename", "internal/lazyregexp", "internal/paths", "internal/proc", "internal/survey", "skill", "internal/ondisk"},
	"script/internal/output":      {"internal/lazyregexp", "script/runner"},
	"script/internal/interpreter": {"internal/language", "internal/program", "internal/pyenv", "script/internal/envs", "script/internal/fail", "script/internal/output", "script/internal/plan", "script/runner", "internal/survey"},
	"script/internal/run":         {"internal/content", "internal/gitdir", "internal/keyagent", "internal/paths", "internal/proc", "internal/redact", "script/internal/envs", "script/internal/explain", "script/internal/fail", "script/internal/interpreter", "script/internal/layer", "script/internal/output", "script/internal/places", "script/internal/plan", "script/runner", "internal/survey", "skill", "skill/manifest", "trace", "want", "internal/ondisk"},
	"script/internal/places":      {"internal/place", "internal/envstore", "internal/lockfile", "internal/paths", "internal/proc", "script/internal/fail", "script/internal/plan", "script/runner", "skill", "internal/ondisk"},
	"script/internal/plan":        {"internal/keyagent", "internal/language", "internal/paths", "internal/program", "internal/redact", "internal/variable", "script/internal/fail", "script/runner", "internal/survey", "skill", "skill/manifest", "want"},
	"disclose":                    {"internal/language", "internal/lazyregexp", "internal/placeholder", "skill", "skill/manifest", "disclose/internal/rank", "disclose/internal/words"},
	"disclose/internal/rank":      {"disclose/internal/words"},
	"disclose/internal/words":     {},
	"want":                        {"internal/hostname"},
	"policy":                      {"agent/permit", "internal/content", "internal/glob", "internal/hostname", "internal/lazyregexp", "internal/naming", "internal/near", "internal/paths", "internal/program", "internal/yamlnode", "script/runner", "session/allow", "want"},
	"trust":                       {"internal/place", "internal/document", "internal/dirhash", "internal/content", "skill", "skill/manifest", "want", "internal/toolrule", "internal/lockfile", "internal/paths", "internal/unknown", "trace"},
	"skill":                       {"internal/place", "internal/naming", "internal/content", "skill/manifest", "internal/walk", "internal/dirhash", "internal/filename", "internal/near", "internal/glob"},
	"tool":                        {"internal/near", "trace", "want"},
	"trace":                       {},
	"telemetry":                   {"trace", "internal/redact"},
	"trace/audit":                 {"trace", "internal/lockfile", "internal/redact"},

	"script/confine":  {"internal/listing", "script/runner", "internal/paths", "script/confine/internal/stage", "internal/proc"},
	"script/runner":   {"internal/listing", "internal/content", "internal/gitdir", "internal/filename", "internal/obeyed", "internal/paths", "internal/proc", "internal/program"},
	"internal/egress": {"internal/address", "internal/hostname", "script/runner"}, // the proxy compares hosts as the manifest and the grants name them

	"internal/hook":             {"internal/toolrule", "session/allow", "tool"},
	"session/allow":             {"internal/naming", "internal/placeholder", "internal/language", "internal/obeyed", "internal/near", "internal/glob", "internal/toolrule", "tool"},
	"internal/survey":           {"internal/naming", "internal/markdown", "internal/shellsyntax", "internal/filename", "internal/content", "skill/manifest", "internal/glob", "internal/language", "internal/lazyregexp", "internal/near"},
	"internal/nodeenv":          {"internal/envstore", "internal/language", "internal/lockfile", "internal/lazyregexp", "internal/program", "internal/yamlnode", "internal/ondisk"},
	"internal/pyenv":            {"internal/hostname", "internal/envstore", "internal/lockfile", "internal/lazyregexp", "internal/program", "internal/ondisk"},
	"skill/manifest":            {"want", "internal/draft", "internal/hooklist", "internal/yamlnode", "internal/naming", "internal/filename", "internal/near", "internal/lazyregexp", "internal/glob", "internal/hostname", "internal/toolrule", "internal/variable"},
	"skill/check":               {"internal/draft", "internal/hidden", "internal/placeholder", "internal/content", "internal/language", "internal/filename", "skill/manifest", "internal/survey", "session/allow", "internal/hook", "internal/walk", "internal/lazyregexp", "internal/markdown"},
	"llm":                       {"internal/media"},
	"llm/anthropic":             {"llm", "internal/wire"},
	"llm/openai":                {"llm", "internal/wire", "internal/lazyregexp"},
	"llm/gemini":                {"llm", "internal/wire"},
	"cmd/agent/internal/replay": {"llm", "internal/wire"},
	"agent":                     {"internal/media", "llm", "tool", "trace"},
	"cmd/agent/internal/todo":   {"tool"},
	"cmd/agent/internal/stream": {"cmd/agent/internal/todo", "agent", "llm", "tool", "want"},
	"internal/hosttool":         {"internal/media", "internal/filename", "internal/obeyed", "internal/paths", "agent/permit", "internal/undo", "internal/diff", "tool", "trace", "want", "internal/glob"},
	"agent/permit":              {"session/allow"},
	"internal/undo":             {"internal/lockfile"},
	"cmd/agent/internal/saved":  {"internal/lockfile", "internal/media", "llm"},
	"skill/watch":               {"internal/content", "internal/walk", "skill", "skill/manifest", "trace"},

	"skill/scan":                   {"skill/scan/internal/fact", "skill/scan/internal/code", "internal/language", "internal/lazyregexp", "internal/markdown", "internal/obeyed", "internal/yamlnode", "skill/manifest", "skill/scan/internal/flow", "skill/scan/internal/shell", "skill/scan/internal/python", "skill/scan/internal/js", "skill/scan/internal/loose", "skill/scan/internal/popular", "skill/scan/internal/text"},
	"skill/scan/internal/flow":     {"internal/lazyregexp", "internal/hostname", "internal/variable", "skill/scan/internal/code", "skill/scan/internal/fact", "skill/scan/internal/shell"},
	"skill/scan/internal/shell":    {"internal/shellsyntax", "skill/scan/internal/code"},
	"skill/scan/internal/loose":    {"internal/lazyregexp", "skill/scan/internal/code"},
	"internal/markdown":            {},
	"internal/shellsyntax":         {},
	"skill/scan/internal/fact":     {},
	"skill/scan/internal/code":     {},
	"skill/scan/internal/js":       {"skill/scan/internal/code", "skill/scan/internal/js/strip", "internal/survey", "internal/language", "internal/lazyregexp"},
	"skill/scan/internal/js/strip": {},
	"skill/scan/internal/python":   {"skill/scan/internal/code", "internal/survey", "internal/language"},
	"skill/scan/rule":              {"internal/hostname", "internal/obeyed", "internal/yamlnode", "skill/scan"},
	"skill/scan/export":            {"skill/scan", "skill/scan/rule"},

	"skills":    {},
	"skilltest": {"internal/test/scratch", "skill", "skill/manifest", "script", "trace"},

	"script/confine/internal/stage": {},

	"skill/scan/internal/text":    {"internal/content", "internal/hidden", "internal/hostname", "internal/language", "internal/naming", "internal/obeyed", "internal/lazyregexp", "internal/markdown", "internal/redact", "skill/scan/internal/fact"},
	"skill/scan/internal/popular": {"internal/lazyregexp", "internal/near"},
	"internal/hidden":             {},

	"mcphost/skillsource": {"mcphost", "internal/content", "internal/dirhash", "internal/lockfile", "internal/skilluri", "skill", "skill/manifest"},

	"internal/test/kalshi": {},
	"skilltest/fakemodel":  {},

	"internal/test/attack":               {},
	"internal/test/attack/measure":       {},
	"cmd/agent/internal/markup":          {"cmd/agent/internal/ui", "internal/markdown"},
	"cmd/agent/internal/chat":            {"cmd/agent/internal/markup", "cmd/agent/internal/todo", "internal/naming", "agent", "llm", "tool", "cmd/agent/internal/ui", "internal/lockfile"},
	"cmd/agent/internal/config":          {"internal/hook", "internal/hooklist", "mcphost", "policy", "want", "install/source", "internal/lazyregexp", "internal/variable", "skill", "skill/manifest", "internal/yamlnode", "internal/lockfile", "internal/near", "internal/glob", "internal/hostname", "internal/toolrule"},
	"internal/test/deptest":              {},
	"internal/test/documenttest":         {"internal/document", "trace"},
	"internal/diff":                      {},
	"internal/content":                   {"internal/filename"},
	"internal/dirhash":                   {"internal/content"},
	"cmd/agent/internal/docgen":          {"cmd/agent/internal/ui", "cmd/agent/internal/cli", "cmd/agent/internal/config", "cmd/agent/internal/models", "skill", "skill/manifest"},
	"internal/envstore":                  {"internal/lockfile", "internal/ondisk"},
	"internal/git":                       {"internal/filename", "internal/lazyregexp", "internal/proc", "internal/program", "internal/variable"},
	"internal/gitdir":                    {"internal/content", "internal/paths"},
	"internal/keyagent":                  {"internal/lockfile", "internal/paths", "want"},
	"internal/glob":                      {},
	"internal/listing":                   {},
	"internal/proc":                      {},
	"internal/filename":                  {},
	"internal/address":                   {},
	"internal/hostname":                  {},
	"internal/variable":                  {"internal/language", "internal/lazyregexp"},
	"internal/language":                  {"internal/lazyregexp"},
	"internal/redact":                    {"internal/lazyregexp"},
	"internal/paths":                     {},
	"internal/obeyed":                    {"internal/content", "internal/filename"},
	"internal/program":                   {"internal/content", "internal/lazyregexp", "internal/paths", "internal/ondisk", "internal/variable"},
	"internal/test/house":                {},
	"internal/media":                     {},
	"internal/lazyregexp":                {},
	"internal/toolrule":                  {},
	"internal/lockfile":                  {"internal/document", "trace"},
	"internal/document":                  {"trace"},
	"internal/naming":                    {"internal/filename"},
	"internal/near":                      {},
	"internal/draft":                     {},
	"internal/placeholder":               {"internal/naming"},
	"internal/walk":                      {"internal/filename", "internal/obeyed"},
	"cmd/agent/internal/models":          {"internal/media", "llm", "llm/anthropic", "llm/openai", "llm/gemini", "cmd/agent/internal/replay"},
	"cmd/agent/internal/models/genfacts": {},
	"internal/test/parity":               {everything},
	"cmd/agent/internal/protect":         {},
	"cmd/agent/internal/ui":              {},
	"cmd/agent/internal/screentest":      {"cmd/agent/internal/ui"},
	"internal/wire":                      {"llm"},
	"internal/unpack":                    {"internal/filename"},

	"install":                  {"internal/place", "internal/filename", "internal/content", "install/oms", "install/registry", "install/source", "internal/store", "internal/dirhash", "internal/near", "internal/walk", "internal/unpack", "skill", "skill/manifest"},
	"install/source":           {"internal/lazyregexp"},
	"install/oms":              {"internal/content"},
	"cmd/agent/internal/hosts": {"internal/content", "internal/obeyed", "internal/dirhash", "internal/filename", "internal/lazyregexp", "internal/unpack", "skill/manifest"},
	"install/oci":              {"install", "internal/pack", "install/source", "internal/unpack"},

	"internal/yamlnode": {"internal/lazyregexp"},

	"internal/test/gittest":         {},
	"internal/test/kubetest":        {},
	"internal/test/mcptry":          {"mcphost", "tool"},
	"internal/test/npmtest":         {},
	"internal/test/ordered":         {"internal/fleet/content", "internal/fleet/dispatch", "internal/fleet/node", "internal/fleet/relay", "internal/fleet/order", "internal/store", "internal/test/scratch", "script", "skill"},
	"internal/test/ocitest":         {},
	"internal/test/omstest":         {},
	"internal/test/probe":           {"skill"},
	"internal/test/pythontest":      {},
	"internal/test/requirements":    {},
	"internal/test/scratch":         {},
	"cmd/agent/internal/streamtest": {"cmd/agent/internal/stream"},
	"internal/test/summary":         {},
	"internal/test/systems":         {},
	"internal/test/tokentest":       {},
	"internal/test/untidy":          {},
	"internal/test/untidy/on":       {"internal/test/untidy"},
	"internal/test/wiretest":        {"llm"},

	"internal/test/fault": {},
	"internal/unknown":    {},

	"install/fetch":           {"internal/content", "install", "install/source", "internal/address", "internal/filename", "internal/git", "internal/hostname", "internal/lazyregexp", "internal/walk", "internal/unpack", "skill/manifest"},
	"cmd/agent/internal/lock": {"internal/naming", "install/source", "internal/dirhash", "internal/lockfile"},
	"internal/pack":           {"internal/content", "internal/filename", "internal/lazyregexp", "internal/unpack"},
	"install/registry":        {"internal/place", "internal/document", "install/source", "internal/lockfile", "internal/unknown", "skill/manifest", "trace"},
	"internal/store":          {"internal/place", "internal/dirhash", "internal/lockfile", "skill/manifest", "internal/ondisk"},

	"examples/embed": {"disclose", "script", "script/confine", "session", "skill", "skills", "skilltool", "tool"},

	"internal/test/kalshi/standin": {"internal/test/kalshi"},
}

// testPackages are the packages outside internal/test that only tests and benchmarks may import.
var testPackages = []string{"cmd/agent/internal/streamtest", "skilltest", "internal/test/kalshi", "internal/test/kalshi/standin", "skilltest/fakemodel"}

// forTests reports whether only tests may import the package dir.
func forTests(dir string) bool {
	return strings.HasPrefix(dir, "internal/test/") || slices.Contains(testPackages, dir)
}

// importers lists for each foreign module the packages that may import it. A new dependency needs a row here and one in
// RATIONALE.md.
var importers = map[string][]string{
	"go.yaml.in/yaml/v4":              {"internal/yamlnode"},
	"github.com/spf13/cobra":          {"cmd/agent/internal/cli"},
	"github.com/spf13/pflag":          {"cmd/agent/internal/cli"},
	"golang.org/x/term":               {"cmd/agent/internal/ui"},
	"github.com/mattn/go-runewidth":   {"cmd/agent/internal/ui"},
	"github.com/BurntSushi/toml":      {"internal/pyenv", "cmd/agent/internal/hosts", "skill/scan"},
	"golang.org/x/mod":                {"internal/nodeenv", "skill/manifest"},
	"mvdan.cc/sh/v3":                  {"session/allow", "internal/shellsyntax", "internal/survey", "skill/scan/internal/shell"},
	"github.com/tdewolff/parse":       {"skill/scan/internal/js"},
	"github.com/bmatcuk/doublestar":   {"internal/glob"},
	"golang.org/x/text":               {"internal/naming", "skill/manifest", "internal/filename", "disclose/internal/words", "script", "internal/walk", "skill/check", "cmd/agent/internal/lock"},
	"golang.org/x/sys":                {"skill", "script/runner", "script/confine", "script/confine/internal/stage", "internal/walk", "internal/gitdir", "internal/listing", "internal/lockfile", "cmd/agent/internal/cli", "cmd/agent/internal/ui", "internal/store", "internal/test/fault", "internal/proc", "policy"},
	"golang.org/x/net":                {"cmd/agent/internal/models", "cmd/agent/internal/web"}, // the nodes of html-to-markdown
	"github.com/fsnotify/fsnotify":    {"skill/watch"},
	"github.com/JohannesKaufmann":     {"cmd/agent/internal/web"},
	"charm.land":                      {"cmd/agent/internal/chat"},
	"github.com/charmbracelet":        {"cmd/agent/internal/chat", "cmd/agent/internal/ui"},
	"github.com/muesli/cancelreader":  {"cmd/agent/internal/chat"},
	"github.com/google/go-cmp":        {"skilltest"},
	"github.com/google/jsonschema-go": {"cmd/agent/internal/streamtest", "tool"},
	"github.com/rogpeppe/go-internal": {"skilltest", "internal/diff"},
	"github.com/tiktoken-go":          {"internal/test/tokentest"}, // 13.5 MB of tables
	"go.opentelemetry.io/otel":        {"telemetry"},
	"go.uber.org/goleak":              {},
	"oras.land/oras-go/v2":            {"install/oci"},
	"github.com/nats-io/nats-server":  {"internal/fleet/node"},
	"github.com/nats-io/nats.go":      {"cmd/agent/internal/fleet", "internal/fleet/node", "internal/fleet/dispatch", "internal/fleet/flow", "internal/fleet/patience", "internal/fleet/relay", "internal/fleet/state"},
	"github.com/nats-io/nkeys":        {"internal/fleet/node"},
	"github.com/nats-io/jwt":          {"internal/fleet/node"},
	"github.com/tailscale/hujson":     {"cmd/agent/internal/hosts"}, // changes JSON and keeps its comments
	"github.com/modelcontextprotocol": {"mcphost", "cmd/agent/internal/oauth", "mcpserve"},
	"github.com/coder/acp-go-sdk":     {"cmd/agent/internal/acp"},
	"golang.org/x/oauth2":             {"cmd/agent/internal/oauth"},
	"github.com/go-jose/go-jose":      {"cmd/agent/internal/serve"},
	"github.com/opencontainers":       {"install/oci"},                // the types of oras-go
	"github.com/anishathalye":         {"internal/test/documenttest"}, // checks histories of concurrent calls
	"pgregory.net/rapid":              {},
}

// core lists the packages that an embedder imports, and lightModules the only foreign modules that they may need.
var (
	core         = []string{"skill", "skill/manifest", "skill/check", "disclose", "disclose/internal/rank", "disclose/internal/words", "session", "script", "internal/survey", "internal/pyenv", "internal/nodeenv", "script/runner", "script/confine", "session/allow", "internal/hook", "tool", "skilltool"}
	lightModules = []string{
		"go.yaml.in/yaml/v4",
		"mvdan.cc/sh/v3",
		"golang.org/x/text",
		"golang.org/x/sys",
		"golang.org/x/mod",
		"github.com/BurntSushi/toml", "github.com/google/jsonschema-go", // neither needs another module
		"github.com/bmatcuk/doublestar/v4", // globs with **; it has no dependencies
	}
)

// never lists packages that a package must not import, directly or indirectly, with the reason.
var never = []struct{ from, to, why string }{
	{"install", "script", "installing cannot execute"},
	{"install", "toolset", "installing cannot execute"},
	{"install/oms", "os/exec", "a signature is checked by reading"},
	{"cmd/agent/internal/hosts", "os/exec", "other agents are given files; none is started"},
	{"install/oci", "os/exec", "no program is asked for a password"},
	{"install/oms", "net/http", "a signature is checked without a network"},
	{"session", "os/exec", "a session decides; it runs nothing"},
	{"session", "script", "a session decides; it runs nothing"},
	{"disclose", "os/exec", "describing skills to a model runs nothing"},
	{"skill", "os/exec", "a skill is data until someone runs it"},
	{"skill/manifest", "os/exec", "a skill is data until someone runs it"},
	{"skill/check", "os/exec", "a skill is data until someone runs it"},
	{"skill/check", "net", "what only reads is not linked with a resolver"},
	{"disclose", "net", "what only reads is not linked with a resolver"},
	{"session", "net", "what only reads is not linked with a resolver"},
	{"trust", "net", "what only reads is not linked with a resolver"},
	{"agent", "skill", "the loop does not depend on skills"},
	{"agent", "os/exec", "the loop runs nothing but tools"},
	{"script", "net/http", "packages are fetched by the programs that install them"},
	{"script", "session", "script never asks about permission"},
	{"script", "trust", "script never asks about permission"},
	{"script/runner", "skill", "starting a process needs no skill"},
	{"script/confine", "skill", "the sandbox confines commands, whoever starts them"},
	{"internal/survey", "os/exec", "what a skill's files are is said without executing anything"},
	{"internal/pyenv", "os/exec", "the caller supplies the function that runs a command"},
	{"internal/nodeenv", "os/exec", "the caller supplies the function that runs a command"},
	{"script/confine/internal/stage", "time", "a stage begins before most packages are initialised"},
	{"script/confine/internal/stage", "unicode", "a stage begins before most packages are initialised"},
	{"internal/program", "os/exec", "the caller supplies the function that starts a program"},
}

func TestImports(t *testing.T) {
	report(t, checkImports(module(t)))
}

func TestImportsFindsBreaches(t *testing.T) {
	checkBroken(t, map[string]string{
		"tool/a.go":                  "package tool\nimport (\n_ \"example.org/m/trace\"\n_ \"example.org/m/skill\"\n_ \"go.yaml.in/yaml/v4\"\n)",
		"tool/a_test.go":             "package tool\nimport _ \"example.org/m/skilltest\"",
		"trace/a_windows.go":         "package trace\nimport _ \"example.org/unknown\"",
		"skill/a.go":                 "package skill\nimport _ \"example.org/m/internal/test/deptest\"",
		"session/a.go":               "package session\nimport _ \"example.org/m/disclose\"",
		"disclose/a.go":              "package disclose\nimport _ \"os/exec\"",
		"newroom/a.go":               "package newroom",
		"internal/test/deptest/a.go": "package deptest",
		"skilltest/a.go":             "package skilltest",
	}, checkImports, []string{
		"disclose must not reach os/exec: describing skills to a model runs nothing (disclose → os/exec)",
		"newroom: no row in the table of allowed imports: add one according to ARCHITECTURE.md",
		"session must not reach os/exec: a session decides; it runs nothing (session → disclose → os/exec)",
		"session/a.go:2: session must not import disclose",
		"skill/a.go:2: internal/test/deptest is for tests only",
		"skill/a.go:2: skill must not import internal/test/deptest",
		"tool/a.go:4: tool must not import skill",
		"tool/a.go:5: tool must not import go.yaml.in/yaml/v4: only internal/yamlnode may",
		"trace/a_windows.go:2: example.org/unknown no row in the table of importers: add one, and the reason to RATIONALE.md",
	})
}

func checkImports(m *deptest.Module) []string {
	var breaches []string
	for _, p := range m.Packages {
		own, known := allowed[p.Dir]
		if !known {
			breaches = append(breaches, p.Dir+": no row in the table of allowed imports: add one according to ARCHITECTURE.md")
			continue
		}
		for _, f := range p.Code() {
			for _, i := range f.Imports() {
				for _, breach := range judge(m, p.Dir, own, i.Path) {
					breaches = append(breaches, m.Position(i.Pos)+": "+breach)
				}
			}
		}
	}
	breaches = append(breaches, checkNever(m)...)
	slices.Sort(breaches)
	return breaches
}

// judge returns what is wrong with a package importing a path.
func judge(m *deptest.Module, from string, own []string, importPath string) []string {
	dir, isOwn := m.Own(importPath)
	if !isOwn {
		return judgeForeign(from, importPath)
	}
	var breaches []string
	if forTests(dir) && !forTests(from) {
		breaches = append(breaches, dir+" is for tests only")
	}
	if !slices.Contains(own, dir) && !slices.Contains(own, everything) {
		breaches = append(breaches, fmt.Sprintf("%s must not import %s", from, dir))
	}
	return breaches
}

func judgeForeign(from, importPath string) []string {
	if first, _, _ := strings.Cut(importPath, "/"); !strings.Contains(first, ".") {
		return nil // the standard library
	}
	for prefix, users := range importers {
		if importPath != prefix && !strings.HasPrefix(importPath, prefix+"/") {
			continue
		}
		if slices.Contains(users, from) {
			return nil
		}
		who := strings.Join(users, ", ")
		if who == "" {
			who = "tests"
		}
		return []string{fmt.Sprintf("%s must not import %s: only %s may", from, importPath, who)}
	}
	return []string{importPath + " no row in the table of importers: add one, and the reason to RATIONALE.md"}
}

func checkNever(m *deptest.Module) []string {
	var breaches []string
	for _, rule := range never {
		if way := route(m, rule.from, rule.to, map[string]bool{}); way != nil {
			breaches = append(breaches, fmt.Sprintf("%s must not reach %s: %s (%s)",
				rule.from, rule.to, rule.why, strings.Join(way, " → ")))
		}
	}
	return breaches
}

// route returns the chain of imports from one package of the module to another or to a foreign path, or nil.
func route(m *deptest.Module, from, to string, seen map[string]bool) []string {
	p := m.Package(from)
	if p == nil || seen[from] {
		return nil
	}
	seen[from] = true
	for _, f := range p.Code() {
		for _, i := range f.Imports() {
			next := i.Path
			if dir, ok := m.Own(next); ok {
				next = dir
			}
			if next == to {
				return []string{from, to}
			}
			if rest := route(m, next, to, seen); rest != nil {
				return append([]string{from}, rest...)
			}
		}
	}
	return nil
}

// The packages that an embedder imports need only light modules.
func TestCoreStaysLight(t *testing.T) {
	m := module(t)
	var present []string
	for _, dir := range core {
		if p := m.Package(dir); p != nil && len(p.Code()) > 0 {
			present = append(present, dir)
		}
	}
	got, err := m.Modules(t.Context(), present...)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range got {
		if !slices.Contains(lightModules, path) {
			t.Errorf("%s together need %s; allowed are %s",
				strings.Join(present, ", "), path, strings.Join(lightModules, ", "))
		}
	}
}

// write creates a module example.org/m with the files and loads it.
func write(t *testing.T, files map[string]string) *deptest.Module {
	t.Helper()
	root := t.TempDir()
	files["go.mod"] = "module example.org/m\n"
	for name, content := range files {
		full := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	m, err := deptest.Load(root)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
