"""The files that the checks read: those that git tracks, or without git all files of the tree."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def source_files(*suffixes, root=ROOT):
    """Paths from `root`, sorted, of the files that end with one of `suffixes`."""
    try:
        tracked = subprocess.run(['git', '-C', root, 'ls-files', '-z'], check=True, capture_output=True, text=True)
        paths = tracked.stdout.split('\0')
    except (OSError, subprocess.CalledProcessError):
        paths = []
        for folder, names, files in os.walk(root):
            names[:] = [name for name in names if name not in ('build', 'node_modules') and not name.startswith('.')]
            paths += [os.path.relpath(os.path.join(folder, name), root) for name in files]
    return sorted(path for path in paths if path.endswith(suffixes) and os.path.isfile(os.path.join(root, path)))
