"""./dev's command line and its set-up, in a folder of its own with stand-ins for dpkg-query, apt-get, id and sudo."""
import os
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


class DevCommand(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(f'{self.root}/tools')
        os.makedirs(f'{self.root}/bin')
        shutil.copy(f'{ROOT}/dev', self.root)
        shutil.copy(f'{ROOT}/tools/debian_packages.txt', f'{self.root}/tools')
        with open(f'{self.root}/tools/debian_packages.txt', encoding='utf-8') as file:
            self.packages = [line.split()[1] for line in file if not line.startswith('#')]
        self.stand_in('id', 'echo "${FAKE_UID:-0}"')
        self.stand_in('node', 'true')
        self.stand_in('apt-get', APT_GET)
        self.installed(self.packages)

    def stand_in(self, name, script):
        path = f'{self.root}/bin/{name}'
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
        self.assertEqual(commands, ['setup', 'build', 'test', 'demo', 'bench', 'fuzz', 'arm64', 'lint', 'aar'])
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


if __name__ == '__main__':
    unittest.main()
