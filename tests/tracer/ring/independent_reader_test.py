"""docs/formats/ring.md is complete: a reader that was written from it agrees with `jankbox ring dump` on rings of killed
programs and on one that was written from the page too. Arguments: the command, the program that is killed."""
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import independent_reader as page  # noqa: E402

COMMAND, VICTIM = '', ''
BASE = 5 << 36 | 10  # so low that moments before the base have other high bits


def word(kind, number, ticks):
    return (ticks & page.LOW36) << 28 | number << 4 | kind


def payload(*values):
    return [value << 4 | 15 for value in values]


def chunk(sequence, words, *, open_calls=(), index=0, words_before=0, serial=1, owner=0, checksum='right', committed=None):
    committed = (0 if owner else len(words)) if committed is None else committed
    body = b''.join(struct.pack('<QII', *call) for call in open_calls) + struct.pack(f'<{len(words)}Q', *words)
    head = struct.pack('<iQIIIIQQ16sIIQ', 77, serial, index, len(open_calls), 0, committed, BASE, 0 if owner else BASE + 900,
                       b'by hand', 0, 0, words_before)
    crc = page.crc32c(head + body)
    checksum = {'right': sequence << 32 | crc, 'wrong': sequence << 32 | crc ^ 1, 'stale': (sequence + 1) << 32 | crc, 'none': 0}[checksum]
    return (struct.pack('<Qi', sequence, owner) + head + struct.pack('<Q', checksum) + body).ljust(page.CHUNK, b'\0')


def ring_of(*chunks):
    header = bytearray(16384)
    struct.pack_into('<8sII6Q', header, 0, b'JBXRING1', 4, 0x4a420801, 0, 16384, 278528, 344064, 16384 | 16 << 32, 1 | 42 << 32)
    struct.pack_into('<4Q', header, 336, BASE, 1000, 2000, 3000)
    struct.pack_into('<4I', header, 384, 1, 1, len(chunks), 0)
    name = struct.pack('<IHH8s', 3, 0, 5, b'three')
    struct.pack_into('<Q', header, 400, len(name))
    return bytes(header) + name.ljust(262144 + 65536, b'\0') + b''.join(chunks)


class IndependentReader(unittest.TestCase):
    maxDiff = 2000

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir='/dev/shm')
        self.addCleanup(shutil.rmtree, self.folder)

    def dump(self, path):
        run = subprocess.run([COMMAND, 'ring', 'dump', path, '--json', '--events', '100000000'], capture_output=True, check=False)
        self.assertEqual(run.returncode, 0, run.stderr)
        return json.loads(run.stdout)

    def compare(self, path):
        with open(path, 'rb') as file:
            mine = page.read(file.read())
        theirs = self.dump(path)
        for key in ('process', 'window_ns', 'slow_threshold_ns', 'file_bytes', 'chunk_count', 'chunks_ready', 'modes', 'chunks'):
            self.assertEqual(mine[key], theirs[key], key)
        self.assertEqual(mine['clock_start'], theirs['clock']['start'])
        self.assertEqual(mine['clock_source'], theirs['clock']['source'])
        for key in ('dropped_events', 'names_dropped', 'corrupt_chunks'):
            self.assertEqual(mine[key], theirs['losses'][key], key)
        self.assertEqual(mine['watched_tids'], [watched['tid'] for watched in theirs['watched']])
        self.assertEqual(len(mine['threads']), len(theirs['threads']))
        for own, other in zip(mine['threads'], theirs['threads']):
            for n, (a, b) in enumerate(zip(own['events'], other['events'])):
                if a != b:
                    self.fail(f'thread {own["serial"]}, event {n}: {a} is not {b}')
            self.assertEqual(len(own['events']), len(other['events']))
            del own['events'], other['events']
            self.assertEqual(own, other)
        return theirs

    def test_rings_of_killed_programs(self):
        for _ in range(3):
            with subprocess.Popen([VICTIM, self.folder], stdout=subprocess.PIPE) as victim:
                self.assertEqual(victim.stdout.readline(), b'ready\n')
                victim.send_signal(signal.SIGKILL)
            (name,) = os.listdir(self.folder)
            ring = self.compare(f'{self.folder}/{name}')
            os.unlink(f'{self.folder}/{name}')
            self.assertEqual(ring['state'], 'orphan')
            self.assertGreater(sum(thread['event_count'] for thread in ring['threads']), 1000)
            self.assertTrue(any(chunk['checksum'] == 'right' for chunk in ring['chunks']))
            self.assertGreater(ring['losses']['overwritten_chunks'], 0)

    def test_ring_written_from_the_page(self):
        first = [word(1, 3, BASE + 5), word(2, 9, BASE - 9), word(14, 0, BASE + 70), *payload(BASE + (7 << 36), 0),
                 word(6, 3, BASE + (7 << 36) + 1), word(5, 3, BASE + (7 << 36) + 2), *payload((1 << 60) - 2, 15),
                 word(7, 8, BASE + (7 << 36) + 3), *payload(0x676e696b726f77, 0x21)]
        second = [word(8, 0, BASE + 6), word(3, 4, BASE + 7), *payload(1, 8), word(10, 3, BASE + 8), *payload(1, 2, 0)]
        chunks = [chunk(7, first), chunk(9, second, index=3, words_before=len(first) + 100, open_calls=[(BASE - 5, 3, 1), (BASE, 0, 7)]),
                  chunk(8, [word(6, 1, BASE)], serial=2, checksum='wrong'), chunk(4, [word(6, 1, BASE)], serial=3, checksum='stale'),
                  bytes(page.CHUNK), chunk(10, [word(1, 5, BASE), word(5, 3, BASE), *payload(4)], serial=4, owner=77, checksum='none'),
                  chunk(11, [word(1, 5, BASE), word(12, 3, BASE)], serial=5), chunk(12, [word(6, 3, BASE + 1), 0, word(6, 3, BASE)], serial=6)]
        path = f'{self.folder}/by-hand.jbxring'
        with open(path, 'wb') as file:
            file.write(ring_of(*chunks))
        ring = self.compare(path)
        self.assertEqual(ring['losses'] | {'overwritten_chunks': 2, 'corrupt_chunks': 1, 'words_missing': 100, 'torn_events': 3},
                         ring['losses'])
        thread = ring['threads'][0]
        with open(path, 'rb') as file:
            events = page.read(file.read())['threads'][0]['events']
        self.assertEqual([event['ticks'] - BASE for event in events], [5, -9, (7 << 36) + 1, (7 << 36) + 2, (7 << 36) + 3, 6, 7, 8])
        self.assertEqual(events[3]['value'], -2)
        self.assertEqual(events[4]['name'], 'working!')
        self.assertEqual(thread['open_calls'], [{'ticks': BASE - 5, 'kind': 'begin', 'id': 3, 'name': 'three'}])


if __name__ == '__main__':
    COMMAND, VICTIM = sys.argv[1:3]
    unittest.main(argv=sys.argv[:1])
