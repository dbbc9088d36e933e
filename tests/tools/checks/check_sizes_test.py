"""tools/checks/check_sizes on small trees: what it must find, and what it must let pass."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools/checks/check_sizes')


def check(tree):
    """The exit status and the messages for a tree given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        run = subprocess.run([sys.executable, '-B', CHECK, root], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout + run.stderr


def lines(count, text='  Call();\n'):
    return text * count


class CheckSizes(unittest.TestCase):
    def assert_refused(self, tree, message):
        status, output = check(tree)
        self.assertEqual(status, 1, output)
        self.assertIn(message, output)
        self.assertIn(' 1 errors', output)

    def assert_passes(self, tree):
        status, output = check(tree)
        self.assertEqual(status, 0, output)

    def assert_counts_60(self, head, tail='}\n'):
        """A function of exactly 60 lines passes, one more does not, at the line where its head starts."""
        room = 60 - (head + tail).count('\n')
        before = '#include <x>\n\nint g_x;\n\n'
        self.assert_passes({'base/a.cc': before + head + lines(room) + tail})
        self.assert_refused({'base/a.cc': before + head + lines(room + 1) + tail}, 'base/a.cc:5: error: a function of 61 lines')

    def test_length_of_functions_of_every_form(self):
        for head in ('void F() {\n', 'void Class::F(int a,\n              int b) const {\n', 'Class::Class() : a_{1}, b_(2) {\n',
                     'template <typename T>\nauto F(T x) -> std::vector<T> {\n', 'struct tm F(struct tm* x) {\n',
                     'TEST_F(Subject, Situation) {\n', '__attribute__((constructor)) void F() noexcept {\n',
                     'Class::Class(int a)\n    : a_(a),\n      b_{a} {\n'):
            with self.subTest(head):
                self.assert_counts_60(head)

    def test_braces_of_text_do_not_count(self):
        self.assert_counts_60('void F() {\n  Say("}}}{", \'}\', 1\'000);  // }\n  /* } */ Say(R"(}\n})");\n')

    def test_member_function_of_a_class(self):
        body = '  void F() {\n' + lines(58, '    Call();\n') + '  }\n'
        self.assert_passes({'base/a.h': 'namespace n {\nclass alignas(64) C {\n' + body + body + '};\n}\n'})
        longer = body.replace('{\n', '{\n    Call();\n')
        self.assert_refused({'base/a.h': 'namespace n {\nclass alignas(64) C {\n' + longer + '};\n}\n'}, 'base/a.h:3: error: a function')

    def test_tables_are_no_functions(self):
        self.assert_passes({'base/a.cc': 'constexpr Row kRows[] = {\n' + lines(80, '    {Call(), 1},\n') + '};\n'
                                         'enum class E : decltype(F()) {\n' + lines(80, '  kA,\n') + '};\n'})

    def test_neighbours_do_not_add_up(self):
        self.assert_passes({'base/a.cc': ('void F() {\n' + lines(50) + '}\n\n') * 5})

    def test_python_function(self):
        self.assert_passes({'tools/a': '#!/usr/bin/env python3\ndef f():\n' + lines(59, '    g()\n')})
        self.assert_refused({'tools/a': '#!/usr/bin/env python3\ndef f():\n' + lines(60, '    g()\n')}, 'tools/a:2: error')

    def test_folder_of_more_than_50_files(self):
        tree = {f'base/a{number}.h': '' for number in range(50)}
        self.assert_passes({**tree, 'base/sub/b.h': ''})
        self.assert_refused({**tree, 'base/b.h': ''}, 'base: error: 51 files')

    def test_file_of_more_than_500_lines(self):
        self.assert_passes({'base/a.cc': lines(500, 'int x;\n')})
        self.assert_refused({'base/a.cc': lines(501, 'int x;\n')}, 'base/a.cc: error: 501 lines')


if __name__ == '__main__':
    unittest.main()
