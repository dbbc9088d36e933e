"""./dev's command line, its set-up and the stages of its test command, in a temporary folder with stand-ins for dpkg-query,
apt-get, id and sudo, and for cmake, ctest and what they build."""
import os
import re
import shutil
import stat
import subprocess
import tempfile
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../..')

APT_GET = '''echo "apt-get $*" >>calls
case "$*" in
  update) touch updated ;;
  *" install "*) [ -n "$APT_WORKS" ] || [ -e updated ] || { echo "E: Unable to locate package"; exit 100; }
    [ -z "$APT_BREAKS" ] || { echo "E: no network here"; exit 100; } ;;
esac'''

CTEST = '''echo "ctest $*" >>calls
log=
while [ $# -gt 0 ]; do [ "$1" != --output-log ] || log=$2; shift; done
printf '%b\\n' "${CTEST_SAYS:-100% tests passed, 0 tests failed out of 12}" | tee "$log"
[ -z "$CTEST_SAYS" ] || exit 8'''

ONE_FAILED = ('      Start  5: ring_test/Ring.Breaks\\n 5/12 Test  #5: ring_test/Ring.Breaks ...***Failed    0.02 sec\\nexpected 1, got 2\\n'
              '      Start  6: ring_test/Ring.Works\\n 92% tests passed, 1 tests failed out of 12\\n\\n'
              'The following tests did not run:\\n\\t  7 - e2e/Needs.Root (Skipped)\\n\\n'
              'The following tests FAILED:\\n\\t  5 - ring_test/Ring.Breaks (Failed)\\n\\n')
RACE_SUITES = ('ring_test', 'ring_faults_test', 'hook_test', 'hook_storm_test', 'interpose_test', 'rename_race_test', 'fork_kinds_linked')


class TemporaryTree(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(f'{self.root}/tools')
        os.makedirs(f'{self.root}/bin')
        shutil.copy(f'{ROOT}/dev', self.root)
        shutil.copy(f'{ROOT}/CMakePresets.json', self.root)
        shutil.copy(f'{ROOT}/tools/debian_packages.txt', f'{self.root}/tools')
        shutil.copytree(f'{ROOT}/tools/dev', f'{self.root}/tools/dev')
        with open(f'{self.root}/tools/debian_packages.txt', encoding='utf-8') as file:
            self.packages = [line.split()[1] for line in file if not line.startswith('#')]
        self.stand_in('id', 'echo "${FAKE_UID:-0}"')
        self.stand_in('node', 'true')
        self.stand_in('npm', 'true')
        self.stand_in('apt-get', APT_GET)
        self.installed(self.packages)

    def stand_in(self, name, script, folder='bin'):
        path = f'{self.root}/{folder}/{name}'
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, 'w', encoding='utf-8') as file:
            file.write(f'#!/bin/bash\n{script}\n')
        os.chmod(path, os.stat(path).st_mode | stat.S_IXUSR)

    def installed(self, packages):
        self.stand_in('dpkg-query', f'printf "%s=installed " {" ".join(packages)}')

    def dev(self, *arguments, **environment):
        return subprocess.run(['./dev', *arguments], cwd=self.root, capture_output=True, text=True, check=False, timeout=60,
                              env={**os.environ, 'PATH': f'{self.root}/bin:{os.environ["PATH"]}', **environment})

    def calls(self):
        path = f'{self.root}/calls'
        if not os.path.exists(path):
            return []
        with open(path, encoding='utf-8') as file:
            return file.read().splitlines()


class DevCommand(TemporaryTree):
    def test_unknown_command_names_the_near_one(self):
        run = self.dev('biuld')
        self.assertEqual((run.returncode, run.stdout), (2, ''))
        self.assertIn('there is no command biuld', run.stderr)
        self.assertIn('Did you mean build?', run.stderr)

    def test_no_command_is_an_error_that_shows_the_usage(self):
        run = self.dev()
        self.assertEqual((run.returncode, run.stdout), (2, ''))
        self.assertIn('usage: ./dev COMMAND', run.stderr)

    def test_every_command_has_its_help(self):
        commands = [line.split()[0] for line in self.dev('--help').stdout.splitlines() if line.startswith('  ')]
        self.assertEqual(commands, ['setup', 'build', 'test', 'demo', 'bench', 'zoo', 'fuzz', 'arm64', 'lint', 'aar'])
        for command in commands:
            run = self.dev(command, '--help')
            self.assertEqual(run.returncode, 0)
            self.assertIn(f'usage: ./dev {command}', run.stdout)
        self.assertEqual(self.calls(), [])

    def test_wrong_arguments_are_refused(self):
        for arguments in (['build', 'fast'], ['build', 'dev', 'release'], ['fuzz', 'long'], ['bench', '--fast'], ['setup', 'all']):
            run = self.dev(*arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertIn('error:', run.stderr)

    def test_complete_machine_is_left_alone(self):
        run = self.dev('setup')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(self.calls(), [])

    def test_only_what_is_missing_is_installed(self):
        self.installed([package for package in self.packages if package not in ('cmake', 'xvfb')])
        run = self.dev('setup', APT_WORKS='1')
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual(len(self.calls()), 1)
        self.assertTrue(self.calls()[0].endswith('install -y --no-install-recommends cmake xvfb'), self.calls())

    def test_machine_without_node_gets_it_and_npm(self):
        os.makedirs(f'{self.root}/system')
        for program in ('bash', 'cat', 'dirname', 'env', 'grep', 'mkdir', 'tail', 'touch'):
            os.symlink(shutil.which(program), f'{self.root}/system/{program}')
        path = f'{self.root}/bin:{self.root}/system'
        self.assertEqual(self.dev('setup', PATH=path).returncode, 0)
        self.assertEqual(self.calls(), [])
        os.unlink(f'{self.root}/bin/npm')
        self.assertEqual(self.dev('setup', PATH=path, APT_WORKS='1').returncode, 0)
        self.assertTrue(self.calls()[-1].endswith('--no-install-recommends npm'), self.calls())
        os.unlink(f'{self.root}/bin/node')
        self.assertEqual(self.dev('setup', PATH=path, APT_WORKS='1').returncode, 0)
        self.assertTrue(self.calls()[-1].endswith('--no-install-recommends nodejs npm'), self.calls())

    def test_package_lists_are_fetched_only_where_the_first_try_fails(self):
        self.installed([])
        run = self.dev('setup')
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertEqual([' install ' in call for call in self.calls()], [True, False, True])
        self.assertEqual(self.calls()[1], 'apt-get update')

    def test_failure_shows_the_end_of_the_log(self):
        self.installed([])
        run = self.dev('setup', APT_BREAKS='1')
        self.assertEqual(run.returncode, 1)
        self.assertIn('E: no network here', run.stdout)
        self.assertIn('build/setup.log', run.stdout)

    def test_ordinary_user_asks_for_root_through_sudo(self):
        self.installed([])
        self.stand_in('sudo', 'echo "sudo $*" >>calls; case "$1" in -*) ;; *) exec "$@" ;; esac')
        run = self.dev('setup', FAKE_UID='1000', APT_WORKS='1')
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(len([call for call in self.calls() if call.startswith('sudo env')]), 1)

    def test_refused_root_installs_nothing(self):
        self.installed([])
        self.stand_in('sudo', 'exit 1')
        run = self.dev('setup', FAKE_UID='1000')
        self.assertEqual(run.returncode, 1)
        self.assertIn('nothing was installed', run.stderr)
        self.assertEqual(self.calls(), [])

    def test_output_that_is_no_terminal_has_no_colour(self):
        self.assertNotIn('\x1b', self.dev('setup').stdout)


class DevTest(TemporaryTree):
    """./dev test and ./dev lint: which stages run, and what is printed about them."""

    def setUp(self):
        super().setUp()
        self.stand_in('cmake', 'echo "cmake $*" >>calls; [ -z "$BUILD_BREAKS" ] || [ "$1" != --build ] || exit 1; mkdir -p build/release')
        self.stand_in('ninja', 'true')
        self.stand_in('ctest', CTEST)
        for check in ('check_layers', 'check_android', 'check_exports', 'check_format'):
            self.stand_in(check, f'echo "{check} $*" >>calls; echo "{check}: 0 errors"; [ "$BREAKS" != {check} ]', 'tools/checks')
        self.stand_in('cross_packages', 'echo cross_packages $* >>calls; exit 77', 'tools')
        self.stand_in('aarch64-linux-gnu-g++', 'true')
        self.stand_in('qemu-aarch64', 'true')
        for suite in RACE_SUITES:
            self.stand_in(suite, f'echo "tsan {suite}" >>calls; echo lost 0', 'build/tsan/bin')
        self.stand_in('package_test.py', 'echo package >>calls; exit ${PACKAGE:-0}', 'tests/tools/package')
        self.stand_in('ring_fuzzer', 'echo fuzzer >>calls', 'build/fuzz/bin')
        os.makedirs(f'{self.root}/build/release/lib')
        os.makedirs(f'{self.root}/build/asan-ubsan')
        self.stand_in('libjankbox.so', '', 'build/release/lib')

    def called(self, word):
        return [call for call in self.calls() if call.startswith(word)]

    def stage_names(self, output):
        """Of the summary: each line has the counts and the seconds of its stage."""
        return re.findall(r'^  (\S.*?) +\d+ passed, \d+ failed, \d+ skipped +\d+ s$', output, re.M)

    def test_plain_test_is_the_released_suite_and_lint(self):
        run = self.dev('test')
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(self.stage_names(run.stdout), ['release build', 'release', 'lint'])
        self.assertEqual(run.stdout.splitlines()[-1], '14 passed, 0 failed, 0 skipped')
        self.assertEqual(len(self.called('ctest')), 1)
        self.assertEqual(self.called('check_'), ['check_exports build/release/lib', 'check_format ', 'check_layers '])

    def test_all_runs_every_stage(self):
        run = self.dev('test', '--all')
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertEqual(self.stage_names(run.stdout), [
            'release build', 'release', 'lint', 'clang', 'asan-ubsan build', 'asan-ubsan', 'tsan', 'arm64', 'package', 'fuzz'])
        self.assertEqual(len(self.called('ctest')), 2)
        self.assertEqual(self.called('tsan'), [f'tsan {suite}' for suite in RACE_SUITES])
        self.assertEqual(self.called('fuzzer'), ['fuzzer'])
        self.assertIn('check_android ', self.calls())
        self.assertIn('  skipped: arm64: its packages cannot be had', run.stdout)

    def test_stage_that_cannot_be_tried_is_skipped_and_named(self):
        run = self.dev('test', '--all', PACKAGE='77')
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertRegex(run.stdout, r'(?m)^  package +0 passed, 0 failed, 1 skipped')
        self.assertIn('  skipped: package', run.stdout)

    def test_every_step_has_its_seconds(self):
        run = self.dev('test', '--all')
        for step in ('configure release', 'build release', 'build asan-ubsan', 'ring under TSan', 'check_format', 'fuzz ring_fuzzer'):
            self.assertRegex(run.stdout, rf'(?m)^{step} +ok +\d+ s')

    def test_failed_test_does_not_run_again(self):
        run = self.dev('test', CTEST_SAYS=ONE_FAILED)
        self.assertEqual(run.returncode, 1)
        self.assertEqual(len(self.called('ctest')), 1)
        self.assertNotIn('--rerun-failed', ' '.join(self.calls()))
        self.assertIn('  failed: release ring_test/Ring.Breaks', run.stdout)
        self.assertIn('  skipped: e2e/Needs.Root', run.stdout)
        self.assertIn('  | expected 1, got 2', run.stdout)
        self.assertEqual(run.stdout.splitlines()[-1], '12 passed, 1 failed, 1 skipped')

    def test_failed_build_runs_no_suite(self):
        run = self.dev('test', BUILD_BREAKS='1')
        self.assertEqual(run.returncode, 1)
        self.assertEqual(self.called('ctest'), [])
        self.assertIn('  failed: release build', run.stdout)

    def test_ctest_arguments_choose_tests_and_leave_the_rest_out(self):
        run = self.dev('test', '--all', '-R', 'Ring')
        self.assertEqual(self.stage_names(run.stdout), ['release build', 'release', 'asan-ubsan build', 'asan-ubsan'])
        self.assertTrue(all(call.endswith('-R Ring') for call in self.called('ctest')), self.calls())

    def test_soak_checks_every_abi(self):
        self.dev('test', '--all', '--soak')
        self.assertIn('check_android --abi all', self.calls())

    def test_failed_check_shows_its_output(self):
        run = self.dev('lint', BREAKS='check_layers')
        self.assertEqual(run.returncode, 1)
        self.assertIn('  | check_layers: 0 errors', run.stdout)
        self.assertRegex(run.stdout, r'(?m)^check_format +ok')

    def test_ci_runs_all(self):
        with open(f'{ROOT}/.ci/run', encoding='utf-8') as file:
            self.assertEqual(file.read().splitlines()[-1], 'exec ./dev test --all')


if __name__ == '__main__':
    unittest.main()
