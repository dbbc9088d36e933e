#!/usr/bin/env python3
"""usage: write_manual.py JANKBOX COLLECTOR FOLDER

Writes into FOLDER what a package installs beside the programs: a manual page for each command, by help2man from its --help, and
the completion script for bash.
"""
import os
import re
import subprocess
import sys


def write_page(command, folder):
    """`command` is a program's path, and perhaps a word that it takes."""
    name = '-'.join([os.path.basename(command[0]), *command[1:]])
    help_text = subprocess.run([*command, '--help'], check=True, capture_output=True, text=True).stdout
    summary = help_text.partition('\n')[0].removeprefix('Jankbox: ').strip().rstrip('.')
    version = subprocess.run([command[0], '--version'], check=True, capture_output=True, text=True).stdout.split()[-1]
    path = os.path.join(folder, name + '.1')
    subprocess.run(['help2man', '--no-info', '--no-discard-stderr', '--section=1', f'--version-string={version}', f'--name={summary}',
                    f'--output={path}', ' '.join(command)], check=True, env=dict(os.environ, NO_COLOR='1', COLUMNS='80'))
    with open(path, encoding='utf-8') as page:
        text = page.read()
    with open(path, 'w', encoding='utf-8') as page:  # a line of an example stays a line
        page.write(re.sub(r'(\.SH EXAMPLES\n)(.*?)(?=\.SH|\Z)', r'\1.nf\n\2.fi\n', text, flags=re.DOTALL))


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    jankbox, collector, folder = sys.argv[1:]
    os.makedirs(folder, exist_ok=True)
    help_text = subprocess.run([jankbox, '--help'], check=True, capture_output=True, text=True).stdout
    commands = re.findall(r'^  ([a-z]+) ', help_text.partition('Subcommands:')[2].partition('\n\n')[0], re.MULTILINE)
    if not commands:
        sys.exit('write_manual.py: jankbox --help lists no commands')
    for command in [[jankbox], [collector], *([jankbox, word] for word in commands)]:
        write_page(command, folder)
    with open(os.path.join(folder, 'jankbox'), 'wb') as script:
        script.write(subprocess.run([jankbox, 'completion'], check=True, capture_output=True).stdout)


if __name__ == '__main__':
    main()
