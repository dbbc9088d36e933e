#!/usr/bin/env python3
"""Builds AOSP's own atrace library, the one that runs on devices, from Debian's source package.

Debian's libcutils.so.0 has the host's empty marker functions. Its source package has the device's too (trace-dev.cpp):
this fetches the package with apt, into folders of its own, takes libcutils out of it and compiles that against
cutils_shim/. Made once: OUT/write/libcutils.so imports write, OUT/write_chk/libcutils.so imports __write_chk, as the
libraries of Android do. Exit status 77, and a line that says why, where the source is not to be had.
"""
import argparse
import glob
import os
import subprocess
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..'))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import debian_source  # pylint: disable=wrong-import-position

PACKAGE = 'android-platform-tools'
WANTED = '/system/core/libcutils/'


def fetch(cache):
    """The folder of libcutils' sources."""
    def wanted(name):
        if WANTED in name and name.endswith(('.h', '.cpp', '.inc')):
            return name.split(WANTED, 1)[1]
        return None
    return debian_source.fetch(cache, PACKAGE, 'libcutils', wanted)


def build(sources, library, flags, options):
    """Compiles one library."""
    folder = os.path.dirname(library)
    os.makedirs(folder, exist_ok=True)
    include = [f'-I{options.shim}', f'-I{ROOT}', f'-I{sources}/include', '-isystem/usr/include/android', '-fPIC', '-g1', '-O2', '-w']
    cxx = [options.cxx, '-std=gnu++23', *include]
    android = '/usr/lib/' + subprocess.run([options.cc, '-print-multiarch'], capture_output=True, text=True,
                                           check=True).stdout.strip() + '/android'
    objects = [f'{folder}/{name}.o' for name in ('trace', 'properties', 'shim')]
    for command in (
            [*cxx, '-D__BIONIC__', '-DATRACE_SHMEM=1', *flags, '-c', f'{sources}/trace-dev.cpp', '-o', objects[0]],
            [*cxx, '-c', f'{sources}/properties.cpp', '-o', objects[1]],
            [options.cc, *include, '-c', f'{options.shim}/system_properties.c', '-o', objects[2]],
            [options.cxx, '-shared', *objects, '-o', f'{library}.new', f'-L{android}', '-llog', f'-Wl,-rpath,{android}',
             *([options.write_chk, f'-Wl,-rpath,{os.path.dirname(options.write_chk)}'] if flags else [])]):
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f'{" ".join(command)}\n{run.stderr}')
    os.rename(f'{library}.new', library)


def is_built(library, shim):
    """Whether it is there, and younger than what of it is ours."""
    ours = [__file__, *glob.glob(f'{shim}/**/*.[hc]', recursive=True)]
    return os.path.exists(library) and os.path.getmtime(library) > max(map(os.path.getmtime, ours))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ('cache', 'shim', 'write-chk', 'out', 'cc', 'cxx'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    with debian_source.locked(options.cache):
        sources = fetch(options.cache)
        for name, flags in (('write', []), ('write_chk', ['-include', f'{options.shim}/write_chk.h'])):
            library = f'{options.out}/{name}/libcutils.so'
            if not is_built(library, options.shim):
                build(sources, library, flags, options)


if __name__ == '__main__':
    main()
