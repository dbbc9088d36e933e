"""tools/checks/check_exports on libraries built wrong on purpose, and on the same ones built right."""
import importlib.machinery
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools/checks')
CHECK = os.path.join(TOOLS, 'check_exports')
sys.path.insert(0, TOOLS)
checks = importlib.machinery.SourceFileLoader('check_exports', CHECK).load_module()



class CheckExports(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.sdk = checks.declared_names() | checks.INSTRUMENT_HOOKS
        self.agent = checks.mapped_names(os.path.join(checks.ROOT, 'sdk/linux/agent.map'))

    def build(self, name, functions, *flags):
        source = ''.join(f'void {function}(void) {{}}\n' for function in sorted(functions))
        subprocess.run(['gcc', '-shared', '-fPIC', '-w', '-x', 'c', '-', '-o', os.path.join(self.folder, name), *flags],
                       input=source, text=True, check=True)

    def check(self):
        run = subprocess.run([sys.executable, CHECK, self.folder], capture_output=True, text=True, check=False)
        return run.returncode, run.stdout + run.stderr

    def assert_refused(self, message):
        status, output = self.check()
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)

    def test_the_surface_is_read_from_the_headers(self):
        self.assertLessEqual({'jankbox_start', 'jankbox_stop', 'jankbox_begin', 'jankbox_frame', 'jankbox_last_error', 'jankbox_gate_v1', 'jankbox_cursor_v1'}, self.sdk)
        self.assertLessEqual({'poll', 'epoll_wait', 'select'}, self.agent)

    def test_exact_exports_pass(self):
        self.build('libjankbox.so', self.sdk)
        self.build('libjankbox_agent.so', self.agent)
        status, output = self.check()
        self.assertEqual(status, 0, output)

    def test_one_export_too_many(self):
        self.build('libjankbox.so', self.sdk | {'jankbox_inner'})
        self.build('libjankbox_agent.so', self.agent)
        self.assert_refused('libjankbox.so: exports jankbox_inner')

    def test_one_export_too_few(self):
        self.build('libjankbox.so', self.sdk)
        self.build('libjankbox_agent.so', self.agent - {'poll'})
        self.assert_refused('libjankbox_agent.so: does not export poll')

    def test_small_pages_on_android(self):
        os.mkdir(os.path.join(self.folder, 'bionic'))
        self.build('bionic/libc.so', {'malloc'}, '-nostdlib', '-Wl,-soname,libc.so')
        bionic = ['-nostdlib', '-Wl,--no-as-needed,' + os.path.join(self.folder, 'bionic/libc.so')]
        self.build('libjankbox_agent.so', self.agent)
        self.build('libjankbox.so', self.sdk, *bionic, '-Wl,-z,max-page-size=4096')
        self.assert_refused('libjankbox.so: has a segment aligned to 0x1000')
        self.build('libjankbox.so', self.sdk, *bionic, '-Wl,-z,max-page-size=16384')
        self.assertEqual(self.check()[0], 0)

    def test_executable_stack(self):
        self.build('libjankbox.so', self.sdk, '-Wl,-z,execstack')
        self.build('libjankbox_agent.so', self.agent)
        self.assert_refused('libjankbox.so: wants an executable stack')

    def test_link_to_a_library_that_clashes(self):
        self.build('libjankbox.so', self.sdk, '-Wl,--no-as-needed', '-lcurl')
        self.build('libjankbox_agent.so', self.agent)
        self.assert_refused('libjankbox.so: is linked with libcurl')


if __name__ == '__main__':
    unittest.main()
