# ./dev setup: the packages of tools/debian_packages.txt.
# shellcheck shell=bash

# Packages of these groups that are not installed.
missing_packages() {
  local groups=" $* " group package wanted=() installed
  while read -r group package; do
    case "$groups" in *" $group "*) wanted+=("$package") ;; esac
  done < <(grep -v '^#' tools/debian_packages.txt)
  case "$groups" in *" test "*)
    have node || wanted+=(nodejs)
    have npm || wanted+=(npm)
    ;;
  esac
  installed=" $(dpkg-query -W -f '${Package}=${db:Status-Status} ' "${wanted[@]}" 2>/dev/null || true)"
  for package in "${wanted[@]}"; do
    case "$installed" in *" $package=installed "*) ;; *) printf '%s\n' "$package" ;; esac
  done
}

# One process with root's rights does all of it, so that a password is asked for once.
install_packages() {
  local become=()
  [ "$(id -u)" = 0 ] || become=(sudo)
  # shellcheck disable=SC2016
  "${become[@]}" env DEBIAN_FRONTEND=noninteractive bash -c '
    install=(apt-get -o DPkg::Lock::Timeout=120 install -y --no-install-recommends "$@")
    "${install[@]}" || { echo "--- again, with fresh package lists"; apt-get update && "${install[@]}"; }' _ "$@"
}

# setup GROUPS...
setup() {
  local missing
  mkdir -p build
  have dpkg-query apt-get ||
    fail "the set-up knows Debian 12 only (no apt-get here): install what docs/dependencies.md lists, then set JANKBOX_SKIP_SETUP=1"
  mapfile -t missing < <(missing_packages "$@")
  if [ "${#missing[@]}" = 0 ]; then
    printf '%-34s %sok%s\n' "set-up: all packages are there" "$GREEN" "$PLAIN"
    return 0
  fi
  if [ "$(id -u)" != 0 ]; then
    have sudo ||
      fail "${#missing[@]} packages are missing and there is no sudo; as root: apt-get install --no-install-recommends ${missing[*]}"
    printf 'These packages are missing, root is asked for to install them: %s\n' "${missing[*]}"
    sudo -n true 2>/dev/null || sudo -v || fail "root was not given, nothing was installed"
  fi
  : >build/setup.log
  stage "set-up: ${#missing[@]} packages" build/setup.log install_packages "${missing[@]}"
}

setup_unless_skipped() { [ -n "${JANKBOX_SKIP_SETUP:-}" ] || setup "$@"; }

command_setup() {
  [ $# = 0 ] || fail "setup takes no arguments" 2
  setup build demo test
}
