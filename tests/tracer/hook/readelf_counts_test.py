#!/usr/bin/env python3
"""Slots that the import scan finds against the relocations that readelf prints: readelf_counts_test.py IMPORT_SLOTS FOLDER...

Compared for every function that a library imports, over all libraries (*.so, *.node) of the folders. binutils' readelf does not
know Android's packed tables: those of NAME_android[_relr].so are counted by llvm-readelf where there is one, and in NAME_none.so,
which the same linker made of the same object, where there is none.
"""
import collections
import glob
import os
import re
import shutil
import subprocess
import sys

CALLS = re.compile(r'R_(X86_64_(JUMP_SLOT|GLOB_DAT|64)|AARCH64_(JUMP_SLOT|GLOB_DAT|ABS64)|386_(JUMP_SLOT|JUMP_SLO|JMP_SLOT|GLOB_DAT|32)|'
                   r'ARM_(JUMP_SLOT|GLOB_DAT|ABS32))$')
LLVM = shutil.which('llvm-readelf') or shutil.which('llvm-readelf-14')


def is_packed(path):
    return '_android' in os.path.basename(path)


def relocations(path):
    """Slots of each function by readelf, and the program that counted them."""
    program, counted = 'readelf', path
    if is_packed(path):
        program = LLVM or 'readelf'
        counted = path if LLVM else re.sub(r'_android(_relr)?\.so$', '_none.so', path)
    printed = subprocess.run([program, '-rW', counted], check=True, capture_output=True, text=True).stdout
    counts = collections.Counter()
    for line in printed.splitlines():
        # Offset, info, type, the symbol's value and name, and the addend where the table has them.
        fields = line.split()
        if len(fields) < 5 or not CALLS.match(fields[2]) or fields[5:6] == ['-'] or (fields[5:6] == ['+'] and int(fields[6], 16) != 0):
            continue
        counts[fields[4].split('@')[0]] += 1
    return counts, os.path.basename(program) + ('' if counted == path else ' of ' + os.path.basename(counted))


def scanned(import_slots, path, names):
    run = subprocess.run([import_slots, path], input='\n'.join(names), check=True, capture_output=True, text=True)
    return {name: int(count) for name, count in (line.split() for line in run.stdout.splitlines())}


def main():
    import_slots, *folders = map(os.path.abspath, sys.argv[1:])
    paths = sorted(path for folder in folders for path in glob.glob(f'{folder}/**/*', recursive=True)
                   if path.endswith(('.so', '.node')))
    failed = not paths
    for path in paths:
        expected, program = relocations(path)
        found = scanned(import_slots, path, sorted(expected))
        wrong = [name for name in expected if found[name] != expected[name]]
        print(f'{os.path.join(*path.split(os.sep)[-2:])}: {sum(found.values())} slots of {len(found)} functions, '
              f'{sum(expected.values())} by {program}')
        for name in wrong:
            print(f'  {name}: {found[name]} found, {expected[name]} expected')
        failed = failed or bool(wrong) or not expected
    print(f'{len(paths)} libraries')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
