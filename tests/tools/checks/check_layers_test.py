"""tools/checks/check_layers on small trees: what it must find, and what it must let pass."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools/checks/check_layers')


def check(tree):
    """The exit status and the messages for a tree given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        run = subprocess.run([sys.executable, CHECK, root], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def including(*names):
    return ''.join(f'#include "{name}"\n' for name in names)


class CheckLayers(unittest.TestCase):
    def assert_refused(self, tree, *messages):
        status, output = check(tree)
        self.assertEqual(status, 1, output)
        for message in messages:
            self.assertIn(message, output)

    def assert_passes(self, tree):
        status, output = check(tree)
        self.assertEqual(status, 0, output)

    def test_what_the_table_allows_passes(self):
        self.assert_passes({
            'base/status.h': '#include <string>\n',
            'tracer/ring/recorder.h': including('base/status.h'),
            'monitors/incident/sink.h': including('tracer/ring/recorder.h'),
            'monitors/looper/watch.h': including('monitors/incident/sink.h', 'tracer/ring/recorder.h'),
            'monitors/looper/watch.cc': including('monitors/looper/watch.h'),
            'sdk/include/jankbox/jankbox.h': '#include <stdint.h>\n',
            'sdk/api/start.cc': including('jankbox/jankbox.h', 'monitors/looper/watch.h'),
            'sample/main.cc': including('jankbox/jankbox.h') + '#include <utils/Looper.h>\n',
            'tests/base/status_test.cc': including('base/status.h'),
        })

    def test_lower_layer_includes_higher_one(self):
        self.assert_refused({'base/clock.cc': including('base/clock.h', 'tracer/ring.h'), 'base/clock.h': '',
                             'tracer/ring.h': ''}, 'base/clock.cc:2: base must not include tracer/ring.h')

    def test_tracer_and_uploader_never_meet(self):
        self.assert_refused({'tracer/a.h': including('uploader/b.h'), 'uploader/b.h': '',
                             'tracer/c.h': '', 'uploader/d.h': including('tracer/c.h')},
                            'tracer/a.h:1: tracer must not include uploader/b.h',
                            'uploader/d.h:1: uploader must not include tracer/c.h')

    def test_monitors_do_not_include_each_other(self):
        self.assert_refused({'monitors/looper/a.h': including('monitors/frame/b.h'), 'monitors/frame/b.h': ''},
                            'monitors must not include monitors/frame/b.h')

    def test_monitors_do_not_write_traces(self):
        self.assert_refused({'monitors/anr/a.h': including('tracer/snapshot/b.h'), 'tracer/snapshot/b.h': ''},
                            'monitors must not include tracer/snapshot/b.h')

    def test_collector_sees_of_the_uploader_only_reports(self):
        self.assert_refused({'collector/a.cc': including('uploader/spool/b.h'), 'uploader/spool/b.h': ''},
                            'collector must not include uploader/spool/b.h')

    def test_public_header_includes_inner_one(self):
        self.assert_refused({'sdk/include/jankbox/a.h': including('base/b.h'), 'base/b.h': ''},
                            'sdk/include/jankbox must not include base/b.h')

    def test_sample_sees_public_headers_only(self):
        self.assert_refused({'sample/a.cc': including('sdk/api/b.h'), 'sdk/api/b.h': ''},
                            'sample must not include sdk/api/b.h')

    def test_angle_brackets_hide_nothing(self):
        self.assert_refused({'base/a.h': '#include <tracer/b.h>\n', 'tracer/b.h': ''}, 'base must not include tracer/b.h')

    def test_nobody_includes_tests(self):
        self.assert_refused({'tools/a.cc': including('tests/b.h'), 'tests/b.h': ''}, 'tools must not include tests/b.h')

    def test_path_not_from_the_root(self):
        self.assert_refused({'base/a.h': including('b.h'), 'base/b.h': ''}, 'base/a.h:1:', 'write "base/b.h"')

    def test_folder_without_a_layer(self):
        self.assert_refused({'attic/a.h': ''}, 'attic/ has no layer')

    def test_protobuf_stays_out_of_the_app_even_by_a_detour(self):
        tree = {'report/report.proto': '', 'report/report_file.h': including('report/report.pb.h'),
                'collector/a.cc': including('report/report_file.h')}
        self.assert_passes(tree)
        self.assert_passes({**tree, 'uploader/spool/a.cc': including('report/report.fields.h')})
        self.assert_refused({**tree, 'uploader/spool/a.cc': including('report/report_file.h')},
                            'uploader/spool/a.cc:1: reaches libprotobuf')

    def test_include_cycle(self):
        self.assert_refused({'base/a.h': including('base/b.h'), 'base/b.h': including('base/c.h'),
                             'base/c.h': including('base/a.h')}, 'include cycle base/a.h -> base/b.h -> base/c.h -> base/a.h')

    def test_module_cycle_through_sources(self):
        self.assert_refused({'base/a.h': '', 'base/a.cc': including('base/b.h'), 'base/b.h': '',
                             'base/b_linux.cc': including('base/a.h')}, 'module cycle base/a -> base/b -> base/a')

    def test_module_of_header_source_and_platforms_is_no_cycle(self):
        self.assert_passes({'base/a.h': '', 'base/a.cc': including('base/a.h'), 'base/a_linux.cc': including('base/a.h')})

    def test_ring_header_written_elsewhere(self):
        self.assert_refused({'sdk/a.cc': 'ring->mutable_header()->closed.store(1);\n'}, 'sdk/a.cc:1: writes a ring header')
        self.assert_passes({'tracer/ring/a.cc': 'ring->mutable_header()->closed.store(1);\n'})

    def test_an_empty_tree_does_not_pass(self):
        self.assert_refused({'docs/a.md': ''}, 'no sources')


if __name__ == '__main__':
    unittest.main()
