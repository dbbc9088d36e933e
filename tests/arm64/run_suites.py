#!/usr/bin/env python3
"""Runs the unit tests of an arm64 build under qemu-user: run_suites.py [--native BUILD] BUILD [SUITE...].

Every suite of BUILD/bin, or those that are named; of their tests all, or those that --filter (a pattern with * and ?) names. What
cannot run under an emulator stands in skipped_tests.tsv, each with its reason; any other test must pass. A test that hangs or takes
its suite down is told by name, and the rest of the suite runs on without it. With --native, a suite must hold the same tests as that
of a build for this machine.
"""
import argparse
import concurrent.futures
import dataclasses
import fnmatch
import glob
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.normpath(os.path.join(HERE, '../..'))
EMULATOR = ['qemu-aarch64', '-cpu', 'max', '-L', os.path.join(ROOT, 'build/cross/arm64')]
# The first is for tests/emulator.h. Without the second, children of the emulator wait for ever for the allocator of GLib < 2.75, which
# another thread held when they were forked (gitlab.com/qemu-project/qemu/-/issues/285).
ENVIRONMENT = {'JANKBOX_TEST_EMULATED': '1', 'G_SLICE': 'always-malloc'}
TEST_SECONDS = 180
TAIL_LINES = 40
LINE = re.compile(r'\[ +(RUN|OK|FAILED|SKIPPED) +\] ([^\s,]+)')


@dataclasses.dataclass
class Suite:
    """What came out of one."""
    name: str
    passed: list = dataclasses.field(default_factory=list)
    skipped: dict = dataclasses.field(default_factory=dict)  # test: reason
    errors: list = dataclasses.field(default_factory=list)
    seconds: float = 0

    def ended(self):
        return [*self.passed, *self.skipped, *(test for test, _ in self.errors)]


class Output:
    """Follows what GoogleTest prints: the test that runs, and what came out of those before."""

    def __init__(self, suite):
        self.suite, self.test, self.lines, self.began = suite, '', [], time.monotonic()

    def take(self, line):
        """One line of the program."""
        found = LINE.search(line)
        if found is None or (found[1] != 'RUN' and found[2] != self.test):
            self.lines.append(line.rstrip())
            return
        if found[1] == 'OK':
            self.suite.passed.append(self.test)
        elif found[1] == 'SKIPPED':
            self.suite.skipped[self.test] = next((text for text in reversed(self.lines) if text), 'it skips itself')
        elif found[1] == 'FAILED':
            self.fail('failed')
        self.test, self.lines, self.began = found[2] if found[1] == 'RUN' else '', [], time.monotonic()

    def fail(self, what):
        self.suite.errors.append((self.test or 'no test ran', f'{what}{"".join(f"{chr(10)}  | {line}" for line in self.lines[-TAIL_LINES:])}'))


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


def run_once(program, tests, suite, test_seconds):
    """Runs tests of a suite until all have ended or one of them ends the program, which is then told."""
    errors = len(suite.errors)
    with tempfile.NamedTemporaryFile('w', suffix='.flags') as flags:
        flags.write(f'--gtest_filter={":".join(tests)}\n--gtest_color=no\n')
        flags.flush()
        process = subprocess.Popen([*EMULATOR, program, f'--gtest_flagfile={flags.name}'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True, env={**os.environ, **ENVIRONMENT})
        output, late, over = Output(suite), threading.Event(), threading.Event()

        def watch():
            while not over.wait(0.5):
                if time.monotonic() - output.began > test_seconds:
                    late.set()
                    os.killpg(process.pid, signal.SIGKILL)
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            for line in process.stdout:
                output.take(line.decode(errors='replace'))
            code = process.wait()
        finally:
            over.set()
            watcher.join()
    if late.is_set():
        output.fail(f'did not end within {test_seconds} s')
    elif output.test:
        output.fail(f'ended the program with {code}')
    elif len(suite.errors) == errors and (code != 0 or set(tests) - set(suite.ended())):
        output.fail(f'the program ended with {code}')


def run_suite(program, options, patterns):
    suite, began = Suite(os.path.basename(program)), time.monotonic()
    reasons = [(pattern, reason) for name, pattern, reason in patterns if name == suite.name]

    def reason_of(test):
        return next((reason for pattern, reason in reasons if fnmatch.fnmatchcase(test, pattern)), None)

    tests = list_tests([*EMULATOR, program])
    native = os.path.join(options.native, 'bin', suite.name) if options.native else ''
    missing = set(tests) ^ set(list_tests([native])) if os.path.exists(native) else set()
    for test in sorted({*tests, *missing}):
        if not fnmatch.fnmatchcase(test, options.filter):
            tests = [other for other in tests if other != test]
        elif reason_of(test) is not None:
            suite.skipped[test] = reason_of(test)
        elif test in missing:
            suite.errors.append((test, 'is not in both builds'))
    left = [test for test in tests if test not in suite.skipped]
    while left:
        run_once(program, left, suite, options.timeout)
        ended = set(suite.ended())
        if not ended.intersection(left):
            break  # the program does not even begin
        left = [test for test in left if test not in ended]
    suite.seconds = time.monotonic() - began
    return suite


def tell(suite):
    print(f'{suite.name}: {len(suite.passed)} passed, {len(suite.skipped)} skipped, {len(suite.errors)} errors, {suite.seconds:.0f} s')
    for test, reason in sorted(suite.skipped.items()):
        print(f'  skipped: {test}: {reason}')
    for test, what in suite.errors:
        print(f'  failed: {test}: {what}')
    sys.stdout.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('build')
    parser.add_argument('--native', default='')
    parser.add_argument('--filter', default='*', help='of the tests, only those that this pattern fits')
    parser.add_argument('--timeout', type=float, default=TEST_SECONDS, help='seconds that one test may take')
    parser.add_argument('suites', nargs='*')
    options = parser.parse_args()
    programs = sorted(glob.glob(os.path.join(options.build, 'bin', '*_test')))
    if options.suites:
        programs = [os.path.join(options.build, 'bin', name) for name in options.suites]
    if not programs:
        sys.exit(f'{options.build}/bin has no suites')
    patterns = skipped_patterns()
    suites = []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_suite, program, options, patterns) for program in programs]):
            suites.append(done.result())
            tell(suites[-1])
    failed = sum(len(suite.errors) for suite in suites)
    passed, skipped = sum(len(suite.passed) for suite in suites), sum(len(suite.skipped) for suite in suites)
    print(f'arm64 under qemu: {passed} passed, {skipped} skipped, {failed} errors')
    sys.exit(1 if failed or passed + skipped == 0 else 0)


if __name__ == '__main__':
    main()
