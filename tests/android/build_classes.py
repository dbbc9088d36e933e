#!/usr/bin/env python3
"""Compiles AOSP's own Looper and what it needs, our Java shim and the scenarios of the tests into OUT/classes.

The Java sources of AOSP come from Debian's source package android-platform-frameworks-base (Android 10; 45 MB, of which 0.3 MB
stay); what they refer to and Debian's JDK lacks stands in stubs/. Exit status 77, and a line that says why, where the
sources are not to be had.
"""
import argparse
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, '../..'))
sys.path.insert(0, os.path.join(ROOT, 'tests'))
import debian_source  # pylint: disable=wrong-import-position

PACKAGE = 'android-platform-frameworks-base'
SOURCES = 'core/java/'
# Compiled as they are.
REAL = ['os/Handler', 'os/HandlerThread', 'os/Looper', 'os/Message', 'os/MessageQueue', 'os/Trace', 'util/Printer',
        'view/Choreographer', *(f'annotation/{name}' for name in ('IntDef', 'NonNull', 'Nullable', 'TestApi', 'UnsupportedAppUsage'))]


def real_sources(cache):
    wanted = {f'{SOURCES}android/{name}.java': f'android/{name}.java' for name in REAL}
    folder = debian_source.fetch(cache, PACKAGE, 'frameworks_base', wanted.get)
    return [f'{folder}/{path}' for path in wanted.values()]


def java_files(*folders):
    return [path for folder in folders for path in sorted(glob.glob(f'{folder}/**/*.java', recursive=True))]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ('cache', 'javac', 'out'):
        parser.add_argument('--' + name, required=True)
    options = parser.parse_args()
    with debian_source.locked(options.cache):
        sources = real_sources(options.cache)
        ours = java_files(f'{HERE}/stubs/api', f'{HERE}/stubs/hidden', f'{HERE}/java', f'{ROOT}/sdk/android')
        classes = f'{options.out}/classes'
        newest = max(map(os.path.getmtime, [__file__, *ours, *sources]))
        if os.path.isdir(classes) and os.path.getmtime(classes) > newest:
            return
        partial = f'{options.out}/partial'
        for folder in (partial, classes):
            shutil.rmtree(folder, ignore_errors=True)
        # stubs/jdk: java.io.FileDescriptor as Android's libcore has it, to compile against alone.
        command = [options.javac, '-nowarn', '-Xlint:-options', '-implicit:none', '--patch-module', f'java.base={HERE}/stubs/jdk',
                   '-d', partial, *sources, *ours]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f'javac: {run.stderr}')
        os.rename(partial, classes)


if __name__ == '__main__':
    main()
