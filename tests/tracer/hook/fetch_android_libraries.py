#!/usr/bin/env python3
"""Puts libraries as Android apps carry them into a folder: libjsc.so of npm's jsc-android (BSD-2-Clause), four machines.

usage: fetch_android_libraries.py FOLDER

Leaves FOLDER/<abi>/libjsc.so. Does nothing where they are there; exits with 77 (skipped) without npm or its registry.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile

PACKAGE = 'jsc-android@294992.0.0'
ABIS = ['arm64-v8a', 'armeabi-v7a', 'x86', 'x86_64']
SKIPPED = 77


def library(folder, abi):
    return os.path.join(folder, abi, 'libjsc.so')


def fetch(folder):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as place:
        command = ['npm', 'install', '--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', PACKAGE]
        done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
        if done.returncode != 0:
            sys.stderr.write(done.stderr)
            return False
        archives = [os.path.join(at, name) for at, _, names in os.walk(place) for name in names if name.endswith('.aar')]
        for archive in archives:
            with zipfile.ZipFile(archive) as content:
                for abi in ABIS:
                    unpacked = content.extract(f'jni/{abi}/libjsc.so', place)
                    os.makedirs(os.path.join(folder, abi), exist_ok=True)
                    shutil.move(unpacked, library(folder, abi))
        return True


def main():
    folder = os.path.abspath(sys.argv[1])
    if all(os.path.exists(library(folder, abi)) for abi in ABIS):
        return 0
    os.makedirs(folder, exist_ok=True)
    try:
        fetched = shutil.which('npm') is not None and fetch(folder)
    except subprocess.TimeoutExpired:
        fetched = False
    if not fetched:
        print(f'skipped: {PACKAGE} cannot be had from npm here')
    return 0 if fetched else SKIPPED


if __name__ == '__main__':
    sys.exit(main())
