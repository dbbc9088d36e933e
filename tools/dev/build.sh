# ./dev build, and the presets of CMakePresets.json.
# shellcheck shell=bash

# build PRESET [TARGET...]
build() {
  local preset=$1 log=build/$1.log targets=()
  shift
  [ $# = 0 ] || targets=(--target "$@")
  mkdir -p build
  have cmake ninja || fail "no cmake or no ninja here: run ./dev setup first"
  : >"$log"
  stage "configure $preset" "$log" cmake --preset "$preset" &&
    stage "build $preset" "$log" cmake --build "build/$preset" -j "$(nproc)" ${targets[@]+"${targets[@]}"}
}

# The presets of CMakePresets.json, on one line.
presets() {
  sed -nE 's/.*"configurePreset": "([^"]+)".*/\1/p' CMakePresets.json | tr '\n' ' ' | sed 's/ $//'
}

command_build() {
  [ $# -le 1 ] || fail "build takes one preset" 2
  case " $(presets) " in *" ${1:-release} "*) ;; *) fail "there is no preset $1; presets: $(presets)" 2 ;; esac
  build "${1:-release}"
}
