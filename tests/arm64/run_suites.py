#!/usr/bin/env python3
"""Runs the unit tests of an arm64 build under qemu-user: run_suites.py [--native BUILD] BUILD [SUITE...].

Every suite of BUILD/bin, or those that are named. What cannot run under an emulator stands in skipped_tests.tsv, each with its
reason; any other test must pass. With --native, a suite must hold the same tests as that of a build for this machine.
"""
import argparse
import concurrent.futures
import fnmatch
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, '../..'))
EMULATOR = ['qemu-aarch64', '-cpu', 'max', '-L', os.path.join(ROOT, 'build/cross/arm64')]
TIMEOUT_SECONDS = 900


def skipped_patterns():
    """(suite, pattern, reason) of each line."""
    with open(os.path.join(HERE, 'skipped_tests.tsv'), encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file if line.strip() and not line.startswith('#')]


def list_tests(command):
    run = subprocess.run([*command, '--gtest_list_tests'], capture_output=True, text=True, check=True, timeout=120)
    names, group = [], ''
    for line in run.stdout.splitlines():
        name = line.split('#')[0].rstrip()
        if not name.startswith(' '):
            group = name
        elif group.endswith('.'):
            names.append(group + name.strip())
    return names


def run_suite(program, native, patterns):
    """(name, tests that passed, (test, reason) that did not run, what went wrong)."""
    name = os.path.basename(program)
    tests = list_tests([*EMULATOR, program])
    skipped = {}
    for suite, pattern, reason in patterns:
        if suite == name:
            skipped.update({test: reason for test in tests if fnmatch.fnmatchcase(test, pattern)})
    errors = []
    native_program = os.path.join(native, 'bin', name) if native else ''
    if os.path.exists(native_program):
        native_tests = list_tests([native_program])
        reasons = [(pattern, reason) for suite, pattern, reason in patterns if suite == name]
        for test in sorted(set(tests) ^ set(native_tests)):
            reason = next((reason for pattern, reason in reasons if fnmatch.fnmatchcase(test, pattern)), None)
            if reason is None:
                errors.append(f'{name}: {test} is not in both builds')
            else:
                skipped[test] = reason
    with tempfile.TemporaryDirectory() as folder:
        output = os.path.join(folder, 'result.json')
        command = [*EMULATOR, program, f'--gtest_filter=-{":".join(skipped)}', f'--gtest_output=json:{output}']
        try:
            run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_SECONDS, check=False)
            text, code = run.stdout.decode(errors='replace'), run.returncode
        except subprocess.TimeoutExpired as late:
            text, code = (late.stdout or b'').decode(errors='replace'), 'after its time'
        passed = 0
        if os.path.exists(output):
            with open(output, encoding='utf-8') as file:
                result = json.load(file)
            for group in result['testsuites']:
                for test in group['testsuite']:
                    full = f'{group["name"]}.{test["name"]}'
                    if test.get('result') == 'SKIPPED':
                        skipped[full] = test.get('skipped', [{}])[0].get('message', 'it skips itself').strip().splitlines()[-1]
                    elif test.get('result') == 'COMPLETED' and 'failures' not in test:
                        passed += 1
                    elif 'failures' in test:
                        errors.append(f'{name}: {full} failed')
        if code != 0:
            tail = '\n'.join('  | ' + line for line in text.splitlines()[-60:])
            errors.append(f'{name} ended with {code}:\n{tail}')
    return name, passed, skipped, errors


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--native')
    parser.add_argument('suites', nargs='*')
    options = parser.parse_args()
    programs = sorted(glob.glob(os.path.join(options.build, 'bin', '*_test')))
    if options.suites:
        programs = [os.path.join(options.build, 'bin', name) for name in options.suites]
    if not programs:
        sys.exit(f'{options.build}/bin has no suites')
    patterns = skipped_patterns()
    failed = total = left_out = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, passed, skipped, errors in pool.map(lambda program: run_suite(program, options.native, patterns), programs):
            print(f'{name}: {passed} passed, {len(skipped)} skipped, {len(errors)} errors')
            for test, reason in sorted(skipped.items()):
                print(f'  skipped: {test}: {reason}')
            for error in errors:
                print(error)
            total, left_out, failed = total + passed, left_out + len(skipped), failed + len(errors)
    print(f'arm64 under qemu: {total} passed, {left_out} skipped, {failed} errors')
    sys.exit(1 if failed else 0)


if __name__ == '__main__':
    main()
