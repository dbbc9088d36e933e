"""tools/checks/check_words: the examples of its glossary, and the texts that it reads of each kind of file."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

CHECKS = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../../tools/checks')


def check(tree):
    """The exit status and the output for a tree given as {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in tree.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), 'w', encoding='utf-8') as file:
                file.write(text)
        run = subprocess.run([sys.executable, os.path.join(CHECKS, 'check_words'), root], capture_output=True, text=True,
                             check=False)
    return run.returncode, run.stdout + run.stderr


def glossary():
    with open(os.path.join(CHECKS, 'glossary.tsv'), encoding='utf-8') as file:
        return [line.rstrip('\n').split('\t') for line in file if not line.startswith('#')]


class CheckWords(unittest.TestCase):
    def assert_found(self, tree, *messages):
        status, output = check(tree)
        self.assertEqual(status, 1, output)
        for message in messages:
            self.assertIn(message, output)
        return output

    def assert_passes(self, tree):
        status, output = check(tree)
        self.assertEqual(status, 0, output)

    def test_each_line_rejects_its_example_and_names_the_plain_words(self):
        self.assertGreater(len(glossary()), 20)
        bad = {f'docs/{number}.md': f'A page.\n\n{row[3]}\n' for number, row in enumerate(glossary())}
        output = self.assert_found(bad)
        for number, (pattern, _, instead, _, _) in enumerate(glossary()):
            self.assertRegex(output, rf'(?m)^docs/{number}\.md:3: ".*": write {re.escape(instead)}$', pattern)
        self.assert_passes({f'docs/{number}.md': f'{row[4]}\n' for number, row in enumerate(glossary())})

    def test_markdown_without_code_and_links(self):
        self.assert_passes({'README.md': 'Run `jankbox told`, see [the page](docs/where.md).\n\n```\nwhere it is\n```\n'})
        self.assert_found({'README.md': 'A lock,\nwhere there is one.\n'}, 'README.md:2: "where": write if, when')

    def test_public_header_by_its_comments(self):
        code = '/* Frames of the host. */\nint told(int behind);  // returns at once\nconst char kText[] = "anew";\n'
        self.assert_passes({'sdk/include/jankbox/a.h': code})
        self.assert_found({'sdk/include/jankbox/a.h': code + '/* Called\n * anew. */\n'}, 'a.h:5: "anew": write again')

    def test_command_line_by_its_literals(self):
        self.assert_passes({'tools/run/a.cc': '// told anew\nint told = 1;\nPrint("reported");\n'})
        self.assert_found({'tools/run/a.cc': 'Print("if the file "\n      "is told: ");\n'}, 'a.cc:2: "told"')

    def test_words_of_one_literal_on_two_lines(self):
        self.assert_found({'tools/a.cc': 'Add("takes a "\n    "look");\n'}, 'tools/a.cc:1: "a look": write poll, check')
        self.assert_passes({'tools/a.cc': 'Add("a", "look");\n'})

    def test_sql_is_not_text(self):
        self.assert_passes({'collector/store.cc': 'Query("SELECT id FROM reports where told = 1");\n'})

    def test_page_of_the_collector(self):
        self.assert_found({'collector/page/index.html': '<p class="told">It is told.</p>\n'}, 'index.html:1: "told"')
        self.assert_found({'collector/page/app.js': "// told\nnode.append(`told ${told}`);\n"}, 'app.js:2: "told"')

    def test_shell_texts(self):
        self.assert_found({'dev': '#!/bin/sh\necho "nobody"\n'}, 'dev:2: "nobody": write name the actor')

    def test_python_by_its_strings_and_comments(self):
        self.assert_passes({'tools/checks/check_a': 'told = 1\nprint(f"{told} s", told)\n'})
        self.assert_found({'tools/checks/check_a': 'told = 1\nprint("told")  # anew\n'}, 'check_a:2: "told"', 'check_a:2: "anew"')

    def test_a_question_may_start_with_what(self):
        self.assert_passes({'docs/a.md': 'Fine. What is the cost? It is small.\n'})

    def test_a_tree_without_texts_does_not_pass(self):
        status, output = check({'tests/a.cc': 'int a;\n'})
        self.assertEqual(status, 1, output)


if __name__ == '__main__':
    unittest.main()
