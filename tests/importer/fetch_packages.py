#!/usr/bin/env python3
"""Installs the npm packages of package-lock.json into a folder: fetch_packages.py FOLDER

npm checks each package against the hash in the lock file and runs no script of it. All presets share FOLDER; it is filled again
when the lock file changes. Without npm, or if its registry cannot be reached, it prints the reason and exits with 77.
"""
import contextlib
import fcntl
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
LISTS = ('package.json', 'package-lock.json')
SKIPPED = 77
# npm's codes for a registry that did not answer, and for a proxy that does not let it. Any other failure is one of the test.
UNREACHABLE = re.compile(r'^npm (?:ERR!|error) code (E403|E407|E5\d\d|EAI_AGAIN|ECONN\w+|EHOSTUNREACH|ENETUNREACH|ENETDOWN|ENOTFOUND|'
                         r'ERR_SOCKET_TIMEOUT|ETIMEDOUT|FETCH_ERROR|\w*CERT\w*)', re.MULTILINE)


class Unreachable(Exception):
    pass


def text_of(path):
    with contextlib.suppress(FileNotFoundError), open(path, encoding='utf-8') as file:
        return file.read()
    return None


def is_complete(folder):
    return all(text_of(f'{folder}/{name}') == text_of(f'{HERE}/{name}') for name in LISTS)


def install(folder):
    if not shutil.which('npm'):
        raise Unreachable('npm is not installed: ./dev setup')
    partial = f'{folder}.partial'
    shutil.rmtree(partial, ignore_errors=True)
    os.makedirs(partial)
    for name in LISTS:
        shutil.copy(f'{HERE}/{name}', partial)
    command = ['npm', 'ci', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1', '--fetch-retry-mintimeout=1000',
               '--fetch-timeout=60000']
    done = subprocess.run(command, cwd=partial, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        code = UNREACHABLE.search(done.stderr)
        if code:
            raise Unreachable(f"npm's registry cannot be reached: {code.group(1)}")
        sys.exit(f'npm ci failed:\n{done.stdout}{done.stderr}')
    shutil.rmtree(folder, ignore_errors=True)
    os.rename(partial, folder)


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with open(f'{folder}.lock', 'w', encoding='utf-8') as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            if not is_complete(folder):
                install(folder)
        except Unreachable as why:
            print(f'skipped: {why}')
            sys.exit(SKIPPED)


if __name__ == '__main__':
    main()
