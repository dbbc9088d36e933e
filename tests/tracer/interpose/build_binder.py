#!/usr/bin/env python3
"""Builds AOSP's own libbinder (Android 10), from Debian's source package, as OUT/libbinder.so.

Debian has no such library, but the source of it in android-platform-frameworks-native: this fetches the package (3.7 MB) with
apt, into folders of its own, and compiles what transactions need against Debian's libutils. Made once. Exit status 77, and a
line that says why, where the source is not to be had.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, '../..'))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import debian_source  # pylint: disable=wrong-import-position

PACKAGE = 'android-platform-frameworks-native'
SOURCES = ['binder/' + name for name in ('Binder', 'BpBinder', 'BufferedTextOutput', 'Debug', 'IInterface', 'IPCThreadState', 'IPermissionController',
                                         'IResultReceiver', 'IShellCallback', 'Parcel', 'PersistableBundle', 'ProcessState', 'Static', 'Status',
                                         'TextOutput', 'Value')] + ['binderthreadstate/IPCThreadStateBase']
# What libc++'s headers bring, and libstdc++'s do not.
FLAGS = ['-std=gnu++23', '-w', '-fpermissive', '-fPIC', '-O1', '-DNDEBUG', '-DSIZE_T_MAX=SIZE_MAX', '-include', 'memory', '-include', 'string', '-include', 'cstring',
         '-include', 'limits']


def wanted(name):
    folder, _, path = name.partition('libs/')
    known = path.startswith(('binder/', 'binderthreadstate/')) and path.endswith(('.cpp', '.h'))
    return path if known and '/' not in folder.rstrip('/') else None


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{" ".join(command)}\n{done.stderr[-3000:]}')
    return done.stdout.strip()


def build(sources, options):
    objects = []
    include = [f'-I{HERE}/binder_shim', f'-I{sources}/binder/include', f'-I{sources}/binderthreadstate/include', '-isystem/usr/include/android']
    for source in [*(f'{sources}/{name}.cpp' for name in SOURCES), f'{HERE}/binder_caller.cc']:
        objects.append(f'{options.out}/{os.path.basename(source)}.o')
        device = ['-D__ANDROID__'] if 'IPCThreadState.cpp' in source else []  # on hosts it does not call its driver
        run(options.cxx, *FLAGS, *device, *include, '-c', source, '-o', objects[-1])
    android = f'/usr/lib/{run(options.cxx, "-print-multiarch")}/android'
    run(options.cxx, '-shared', *objects, '-o', f'{options.out}/libbinder.so.new', f'-L{android}', '-lutils', '-lcutils', '-llog', '-lbase',
        f'-Wl,-rpath,{android}', '-Wl,--no-undefined')
    os.rename(f'{options.out}/libbinder.so.new', f'{options.out}/libbinder.so')


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ('cache', 'out', 'cxx'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    library = f'{options.out}/libbinder.so'
    with debian_source.locked(options.cache):
        sources = debian_source.fetch(options.cache, PACKAGE, 'libbinder', wanted)
        if not os.path.exists(library) or os.path.getmtime(library) < max(map(os.path.getmtime, (__file__, f'{HERE}/binder_caller.cc'))):
            build(sources, options)


if __name__ == '__main__':
    main()
