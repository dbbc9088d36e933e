#!/usr/bin/env python3
"""Puts libraries as Android apps and programs carry them into a folder, from npm: libjsc.so of jsc-android (BSD-2-Clause) for four
machines, and the add-on of @rollup/rollup-android-arm64 (MIT), which Rust's tools linked.

usage: fetch_android_libraries.py FOLDER

Leaves FOLDER/<abi>/libjsc.so and FOLDER/arm64-v8a/rollup.node. Does nothing where they are there; exits with 77 (skipped) without
npm or its registry.
"""
import glob
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

JSC = 'jsc-android@294992.0.0'
ROLLUP = '@rollup/rollup-android-arm64@4.24.0'
ABIS = ['arm64-v8a', 'armeabi-v7a', 'x86', 'x86_64']
SKIPPED = 77


def library(folder, abi):
    return os.path.join(folder, abi, 'libjsc.so')


def rollup(folder):
    return os.path.join(folder, 'arm64-v8a', 'rollup.node')


def npm(place, *arguments):
    done = subprocess.run(['npm', *arguments], cwd=place, capture_output=True, text=True, timeout=100, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
    return done.returncode == 0


def fetch_jsc(folder, place):
    if not npm(place, 'install', '--prefix', place, '--no-audit', '--no-fund', '--ignore-scripts', JSC):
        return False
    archives = [os.path.join(at, name) for at, _, names in os.walk(place) for name in names if name.endswith('.aar')]
    for archive in archives:
        with zipfile.ZipFile(archive) as content:
            for abi in ABIS:
                unpacked = content.extract(f'jni/{abi}/libjsc.so', place)
                os.makedirs(os.path.join(folder, abi), exist_ok=True)
                shutil.move(unpacked, library(folder, abi))
    return True


def fetch_rollup(folder, place):
    """By `npm pack`: `npm install` refuses what is for another machine."""
    if not npm(place, 'pack', ROLLUP):
        return False
    os.makedirs(os.path.dirname(rollup(folder)), exist_ok=True)
    with tarfile.open(glob.glob(f'{place}/rollup-*.tgz')[0]) as archive:
        member = next(member for member in archive if member.name.endswith('.node'))
        with open(rollup(folder), 'wb') as file:
            shutil.copyfileobj(archive.extractfile(member), file)
    return True


def fetch(folder):
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as place:
        return ((all(os.path.exists(library(folder, abi)) for abi in ABIS) or fetch_jsc(folder, place)) and
                (os.path.exists(rollup(folder)) or fetch_rollup(folder, place)))


def main():
    folder = os.path.abspath(sys.argv[1])
    os.makedirs(folder, exist_ok=True)
    try:
        fetched = shutil.which('npm') is not None and fetch(folder)
    except subprocess.TimeoutExpired:
        fetched = False
    if not fetched:
        print(f'skipped: {JSC} and {ROLLUP} cannot be had from npm here')
    return 0 if fetched else SKIPPED


if __name__ == '__main__':
    sys.exit(main())
