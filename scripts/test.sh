#!/bin/sh
# Runs every check of the project: sh scripts/test.sh [STEP...]
# Without STEP it runs them all: format vet docs, then test, and beside it systems lint vuln kube.
# The steps fuzz, faults, untidy, sixty, chaos, soak and race take long; their short forms, which always do the same, are part of test.
# A failing step does not stop the later ones. The exit code is 1 if any step failed.
#   FUZZ_SECONDS  time for each fuzz target, without building it (30)
#   FUZZ_ONLY     pattern of the targets to fuzz, such as '^./internal/nodeenv '; without it all
#   COVER_MIN     minimum coverage of each core package by its own tests, in percent (85)
#   CHAOS_RUNS    how many runs the step chaos has (20000)
#   FLAKY_DIR     folder with what earlier runs found of each commit (a folder next to Go's test cache)
set -u
cd "$(dirname "$0")/.." || exit 1
. scripts/tools.sh

# Packages whose coverage counts, those that take long first.
CORE='script/internal/envs script/internal/explain script/internal/fail script/internal/layer script/internal/output skilltool internal/hosttool internal/pyenv internal/nodeenv toolset install/registry mcpserve internal/store skill skill/scan install/fetch install skill/manifest internal/pack
	mcphost disclose internal/survey script/runner cmd/agent/internal/saved cmd/agent/internal/oauth mcphost/skillsource want policy skill/check skill/watch session session/allow
	internal/hook tool cmd/agent/internal/trial trust trace trace/audit agent agent/permit internal/undo cmd/agent/internal/stream toolset/internal/host cmd/agent/internal/hosts cmd/agent/internal/lock install/oci install/oms install/source'
# Likewise, each together with its internal packages that are not in CORE.
WHOLE='script skill/scan/rule skill/scan/export'

# Packages whose tests compute, read source or start processes again and again: under the race detector they take several times as long.
# It sees the tests of PARTLY that RACED names, and those of HEAVY only in the step race. The packages of the fleet are there because the NATS
# server, which runs in their tests, has a race between two of its own goroutines, about once in twenty runs.
HEAVY='./internal/test/attack ./internal/test/house ./skills ./skilltool ./install/registry ./internal/fleet/node ./internal/fleet/dispatch ./internal/fleet/relay ./fleet'
PARTLY='./cmd/agent/internal/cli ./script/confine ./internal/hosttool ./script ./internal/pyenv ./internal/nodeenv ./install ./skill ./disclose'
RACED='TestScripts$/^(agent_.*|install_life|script|toolset|validate_many)$|Parallel|Overlapping|Conversation|Daemon|Hosts|Proxy|Keep|Concurrent|Together|Race$|Share|Live$|Cancelled$|Progress$|Indexes|HotReload|AtOnce|Once$|InUse$|TwoUpdates|LosesToAnother'

# What a package has in its code or its tests that does several things at once. The others run without the race detector: it has nothing to see.
AT_ONCE='^[[:space:]]*go [a-zA-Z_.]+\(|\.Go\(|\.Parallel\(|"sync'

step_format() {
	unformatted=$(find . -path './.?*' -prune -o -name '*.go' -exec gofmt -l {} +)
	[ -z "$unformatted" ] && return
	printf 'gofmt -w would change:\n%s\n' "$unformatted"
	return 1
}

# The measurements are a module of their own: after a change of go.mod, run "go mod tidy" there, too.
step_vet() { go vet ./... && (cd bench && go vet ./... && go test ./...); }

# Checks the code as other systems compile it. Compiling it would take minutes for each.
step_systems() {
	go run ./internal/test/systems linux/arm64 darwin/arm64 windows/amd64
}

# Asks Kubernetes' own code about the objects that a fleet makes. That code is a dependency of this step alone.
step_kube() {
	(cd internal/test/kube && retry "downloading the modules of Kubernetes" go list -deps -test ./... >/dev/null && go vet ./... && go test -count=1 ./...) || return # the manifests are outside of its module
	[ -z "${AGENT_TEST_KUBE:-}" ] || go test -count=1 -run Live ./internal/fleet/kube
}

step_lint() {
	if ! bin=$(go_tool staticcheck honnef.co/go/tools/cmd/staticcheck "$STATICCHECK"); then
		echo "staticcheck $STATICCHECK did not run: it could not be fetched and built"
		[ -z "${CI:-}" ] # in CI every check must run
		return
	fi
	"$bin" ./... && (cd bench && "$bin" ./...)
}

# Runs `go generate`, and fails if a generated page was out of date.
step_docs() {
	before=$(cat ./*.md docs/* 2>/dev/null | cksum)
	go generate ./... || return
	[ "$before" = "$(cat ./*.md docs/* 2>/dev/null | cksum)" ] && return
	echo "generated pages were out of date and have been regenerated: review git diff and commit"
	return 1
}

step_vuln() {
	# Building it and loading the program take a minute, for nothing without the database.
	if command -v curl >/dev/null && ! curl -sfo "$TOOLS/vuln.json" --max-time 20 "${GOVULNDB:-https://vuln.go.dev}/index/db.json"; then
		echo "govulncheck did not run: its database could not be reached"
		return 0
	fi
	if ! bin=$(go_tool govulncheck golang.org/x/vuln/cmd/govulncheck "$GOVULNCHECK"); then
		echo "govulncheck $GOVULNCHECK did not run: it could not be fetched and built"
		return 0
	fi
	report=$("$bin" ./... 2>&1)
	code=$?
	case $report in
	*"fetching vulnerabilities"*)
		echo "govulncheck did not run: its database could not be reached"
		return 0
		;;
	esac
	echo "$report"
	return $code
}

# Searches for inputs that break a target, each in turn. Without -fuzz every test run has the seeds and the inputs of testdata.
step_fuzz() {
	targets=$(grep -rlE --include='*_test.go' --exclude-dir='.?*' '^func Fuzz' . | sort | while read -r file; do
		sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(.*/\1/p' "$file" | while read -r name; do
			echo "$(dirname "$file") $name"
		done
	done | grep -E "${FUZZ_ONLY:-.}")
	[ -n "$targets" ] || { echo "no fuzz target matches FUZZ_ONLY"; return 1; }
	echo "$targets" | {
		failed=0
		built=
		while read -r dir name; do
			if [ "$dir" != "$built" ]; then
				go test -c -fuzz=Fuzz -o "$TOOLS/fuzz.test" "$dir" </dev/null || return
				built=$dir
			fi
			if ! (cd "$dir" && "$TOOLS/fuzz.test" -test.run='^$' -test.fuzz="^$name\$" -test.fuzztime="${FUZZ_SECONDS:-30}s" \
				-test.fuzzminimizetime=10x -test.fuzzcachedir="$TOOLS/fuzz/$dir") >"$TOOLS/fuzz.log" 2>&1 </dev/null && ! out_of_time "$TOOLS/fuzz.log"; then
				failed=1
				cat "$TOOLS/fuzz.log"
			fi
			echo "$dir $name: $(grep -o 'execs: [0-9]*' "$TOOLS/fuzz.log" | tail -1)"
		done
		return $failed
	}
}

# The tests of faults in their long form: thousands of kills and failing calls. It takes some minutes, and is not part of "every check".
step_faults() {
	AGENT_FAULTS=full go test -count=1 -timeout 30m -v -run 'EveryCall|PowerFailure|Killed|Linearizable' ./install ./install/registry ./internal/store
}

# out_of_time reports whether fuzzing only ended while an input was running, which the go command reports as a failure.
out_of_time() {
	grep -q 'context deadline exceeded' "$1" && ! grep -q 'Failing input' "$1"
}

# The tests of commands, scripts and the sandbox on an untidy machine: as this user, as a user without rights, and without namespaces. The
# step test has a short form of it.
step_untidy() {
	ensure_uv
	ensure_node
	ensure_zod
	ensure_managers
	on="$TOOLS/on"
	go build -o "$on" ./internal/test/untidy/on || return
	failed=0
	untidy() { # OPTIONS
		echo "untidy $1"
		# shellcheck disable=SC2086 # an empty value must not become an argument
		go test -count=1 -timeout 20m -exec "$on $1" -run 'TestScripts$' ./cmd/agent/internal/cli || failed=1
	}
	untidy ""
	if [ "$(id -u)" = 0 ]; then
		untidy -user
		untidy "-user -tier B"
	fi
	if unshare -U --map-current-user --keep-caps true 2>/dev/null; then
		untidy "-tier B"
	else
		echo "not without namespaces: this machine lets nobody make one without them"
	fi
	return $failed
}

# A conversation of 60 turns on each wire, killed and continued, in a terminal and driven by the Python client. The step test has a short form of it.
step_sixty() {
	AGENT_TEST_SIXTY=1 go test -count=1 -timeout 20m -v -run 'TestSixtyTurns' ./cmd/agent/internal/cli
}

# A fleet of three nodes, four workers and two replicas with 20,000 runs, in namespaces: processes are killed and stopped, disks are full,
# networks cut and slow, and clocks jump. For the clocks the program gets a time.Now that a file changes. The step test has a short form of it.
step_chaos() {
	for program in ip tc nsenter; do
		command -v "$program" >/dev/null || { echo "chaos did not run: $program is not on PATH (packages iproute2 and util-linux)"; return 1; }
	done
	time=$(go env GOROOT)/src/time
	sed 's/^\tsec, nsec, mono := runtimeNow()$/&\n\tsec += clockOffset.Load()/' "$time/time.go" >"$TOOLS/time.go"
	printf '{"Replace": {"%s": "%s", "%s": "%s"}}\n' "$time/time.go" "$TOOLS/time.go" "$time/clock.go" "$PWD/fleet/testdata/clock/clock.go" >"$TOOLS/clock.json"
	go test -count=1 -timeout 3h -v -overlay "$TOOLS/clock.json" -run 'TestChaos' ./fleet -namespaces -clock -runs "${CHAOS_RUNS:-20000}"
}

# agent serve over HTTP with 64 clients of two tenants, changes on disk and kills, for three minutes. The step test has a short form of it.
step_soak() {
	AGENT_TEST_SOAK=1 go test -count=1 -timeout 20m -v -run 'TestSoak' ./cmd/agent/internal/serve
}

# All tests of HEAVY and PARTLY with the race detector.
step_race() {
	ensure_uv
	ensure_node
	ensure_zod
	ensure_managers
	# shellcheck disable=SC2086
	go test -race -vet=off -count=1 -timeout 30m $PARTLY $HEAVY
}

# Two rows of tests run at once, as many of them wait for processes; in each those that take longest come first. Each test runs once, but
# for those of RACED.
step_test() {
	[ -n "$race" ] || echo "without -race: the race detector needs cgo and a C compiler"
	ensure_uv
	ensure_node
	ensure_zod
	ensure_managers
	export GORACE="atexit_sleep_ms=0 ${GORACE:-}" # else every process of a -race run waits a second at its end
	module=$(go list -m)
	core=$(for name in $CORE; do echo "$module/$name"; done)
	whole=$(for name in $WHOLE; do echo "$module/$name"; done)
	# shellcheck disable=SC2086
	heavy=$(go list $PARTLY $HEAVY)
	all=$(go list ./...)
	rest=$(but "$heavy
$core
$whole" "$all")
	at_once=$(grep -rlE --include='*.go' --exclude-dir='.?*' "$AT_ONCE" . | sed "s|^\.|$module|; s|/[^/]*\$||" | sort -u | grep -vxF "$heavy")
	go build -o "$TOOLS/summary" ./internal/test/summary || return
	rm -f "$TOOLS/test.failed"
	# shellcheck disable=SC2046,SC2086 # one argument each; an empty value must not become one
	{
		{
			go_test $race -p 2 -cover $(of "$at_once" "$core")
			[ -z "$race" ] || go_test $race -p 2 -run "$RACED" $PARTLY
			go_test $race -p 2 $(of "$at_once" "$rest")
		} >"$TOOLS/test.json" &
		for package in $whole; do go_test -coverpkg="$(but "$core" "$(go list "$package" "$package/internal/..." 2>/dev/null)" | paste -sd,)" "$package"; done >"$TOOLS/whole.json" &
		go_test -p 2 $(but "$core
$whole" "$heavy") $(but "$at_once" "$rest")
		go_test -p 2 -cover $(but "$at_once" "$core")
		wait
		cat "$TOOLS/test.json" "$TOOLS/whole.json"
	} | "$TOOLS/summary" -core "$(echo $core $whole)" -least "${COVER_MIN:-85}" -again "$TOOLS/test.again" || {
		again
		return
	}
	[ ! -e "$TOOLS/test.failed" ] # where nothing could be tested, no test failed
}

# of prints the lines of LIST that are in SET, but those that are not: of SET LIST.
of() { echo "$2" | grep -xF "$1"; }
but() { echo "$2" | grep -vxF "$1"; }

# go_test prints what go test -json prints, without vet, which is a step of its own. In CI the tests themselves have the usual GOGC.
go_test() { go test -json -vet=off -parallel 4 -timeout 15m ${CI:+-exec} ${CI:+"env -u GOGC"} "$@" 2>&1 || : >"$TOOLS/test.failed"; }

# again runs the tests that failed once more, each package alone, and writes the names of those that pass to flaky. There are none
# where chance is no excuse: after a data race, a panic or a timeout, if something did not build, and if more than three tests failed.
# RATIONALE.md has the reasons.
again() {
	[ -s "$TOOLS/test.again" ] || return 1
	while read -r package names; do
		echo "flaky? $package: $names failed, see above; once more, alone"
		# shellcheck disable=SC2086 # an empty value must not become an argument
		go test $race -vet=off -count=1 -timeout 5m -run "$names" "$package" </dev/null || return 1
		echo "$package: $names" >>"$TOOLS/flaky"
	done <"$TOOLS/test.again"
}

# excused reports whether the tests that failed once may pass for now: no earlier run of the same commit had such tests. It notes them
# for the next run. Changes that are not committed have no next run.
excused() {
	commit=$(git rev-parse --verify -q HEAD) && [ -z "$(git status --porcelain)" ] || return 0
	seen=${FLAKY_DIR:-$(go env GOCACHE)/flaky}/$commit
	if [ -s "$seen" ]; then
		echo "and these in an earlier run of this commit, so this is not chance:"
		cat "$seen"
		return 1
	fi
	mkdir -p "$(dirname "$seen")" && cp "$TOOLS/flaky" "$seen"
}

need go "install Go 1.26 or newer: https://go.dev/dl/"
race=-race
if [ "$(go env CGO_ENABLED)" != 1 ] || ! command -v "$(go env CC)" >/dev/null; then
	race=
fi
[ -z "${CI:-}" ] || export GOGC=400 # where nothing was compiled before, this saves a tenth of the time
mkdir -p "$TOOLS"
for dir in "${TMPDIR:-/tmp}" "$(go env GOCACHE)" "$TOOLS"; do
	mkdir -p "$dir"
	if [ "$(df -Pk "$dir" | awk 'NR == 2 { print $4 }')" -lt 3000000 ]; then
		echo "little room: every check needs about 3 GB, and $dir has" "$(df -Ph "$dir" | awk 'NR == 2 { print $4 }')"
	fi
done
: >"$TOOLS/flaky"
: >"$TOOLS/failed"
[ -z "${CI:-}" ] || retry "downloading the modules" go list -deps -test ./... >/dev/null

run() { # STEP...
	for step; do
		command -v "step_$step" >/dev/null || { echo "$0: no step \"$step\"" >&2; exit 2; }
		start=$(date +%s)
		"step_$step" || echo "$step" >>"$TOOLS/failed"
		echo "-- $step: $(($(date +%s) - start)) s"
	done
}

if [ $# -gt 0 ]; then
	run "$@"
else
	run format vet docs
	run systems lint vuln kube >"$TOOLS/beside" 2>&1 &
	run test
	wait
	cat "$TOOLS/beside"
fi
if [ -s "$TOOLS/flaky" ]; then
	echo "THESE TESTS FAILED ONCE AND PASSED ALONE. Each is a bug, of the test or of the program, and must be mended:"
	cat "$TOOLS/flaky"
	excused || echo flaky-tests >>"$TOOLS/failed"
fi
[ ! -s "$TOOLS/failed" ] || { echo "failed:" $(cat "$TOOLS/failed"); exit 1; }
