# Short names for the scripts, which work without make: see CONTRIBUTING.md.
.PHONY: build try test lint kube fuzz faults race untidy sixty chaos soak e2e docs bench

build:
	CGO_ENABLED=0 go build -trimpath -o bin/agent ./cmd/agent
try:
	sh scripts/try.sh
test:
	sh scripts/test.sh
lint:
	sh scripts/test.sh format vet lint
kube: # the Jobs of a fleet, by Kubernetes' own code, and by the API server of AGENT_TEST_KUBE
	sh scripts/test.sh kube
fuzz:
	sh scripts/test.sh fuzz
faults: # the tests of failing calls, kills and power failures in their long form
	sh scripts/test.sh faults
race: # the tests that CI mostly runs without the race detector, with it
	sh scripts/test.sh race
untidy: # the tests of commands and the sandbox with homes, projects and programs below links
	sh scripts/test.sh untidy
sixty: # a conversation of 60 turns on each wire, killed and continued
	sh scripts/test.sh sixty
chaos: # a fleet of three nodes with killed processes, full disks, cut networks and wrong clocks, with 20,000 runs
	sh scripts/test.sh chaos
soak: # agent serve over HTTP with 64 clients, changes and kills, for three minutes
	sh scripts/test.sh soak
e2e: # agent serve with agents, verifying clients, the Inspector and the conformance suite of other people
	sh scripts/e2e.sh
	sh scripts/e2e_host.sh
docs:
	go generate ./...
bench:
	sh bench/run.sh
