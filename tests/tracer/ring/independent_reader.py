"""A reader of ring files that was written from docs/formats/ring.md alone: read(bytes) gives what `jankbox ring dump
--json --events N` gives, as far as the page says it. Python's standard library only."""
import struct

CHUNK = 16384
CHUNKS_AT = 344064
LOW36 = (1 << 36) - 1

SIMPLE = {1: 'begin', 2: 'end', 6: 'instant', 8: 'dispatch_end'}
PAYLOAD_WORDS = {1: 0, 2: 0, 3: 2, 4: 2, 5: 2, 6: 0, 8: 0, 14: 2}
FRAME, MARKER, WAIT, THREAD = 9, 11, 12, 13


def crc_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ (0x82f63b78 if n & 1 else 0)
        table.append(n)
    return table


CRC_TABLE = crc_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = crc >> 8 ^ CRC_TABLE[(crc ^ byte) & 0xff]
    return crc ^ 0xffffffff


def text(data):
    return data.split(b'\0')[0].decode('utf-8', 'replace')


class NotARing(Exception):
    pass


class Ring:
    def __init__(self, data):
        self.data = data
        if len(data) < CHUNKS_AT or data[:8] != b'JBXRING1':
            raise NotARing
        version, abi = struct.unpack_from('<II', data, 8)
        if version != 4 or abi != (0x4a42 << 16 | 8 << 8 | 1) or self.u32(384) != 1:
            raise NotARing
        present = min(self.u32(392), (len(data) - CHUNKS_AT) // CHUNK)
        chunks = [Chunk(data[at:at + CHUNK], n) for n, at in
                  ((n, CHUNKS_AT + n * CHUNK) for n in range(present))]
        self.chunks = [chunk for chunk in chunks if chunk.sequence]

    def u32(self, at):
        return struct.unpack_from('<I', self.data, at)[0]

    def u64(self, at):
        return struct.unpack_from('<Q', self.data, at)[0]

    def names(self):
        names, at, end = {}, 16384, 16384 + min(self.u64(400), 262144)
        while at + 8 <= end:
            number, kind, size = struct.unpack_from('<IHH', self.data, at)
            if number == 0 or at + 8 + size > end:
                break
            content = self.data[at + 8:at + 8 + size]
            names[number] = f'0x{int.from_bytes(content, "little"):x}' if kind == 1 else content.decode('utf-8', 'replace')
            at += 8 + (size + 7) // 8 * 8
        return names

    def modes(self):
        count = self.u64(488)
        modes = []
        for n in range(max(0, count - 32), count):
            ticks, mode, reason = struct.unpack_from('<QII', self.data, 496 + n % 32 * 16)
            modes.append({'from_ticks': ticks, 'mode': ('exact', 'coarse', 'ui_only', 'off')[mode],
                          'reason': ('start', 'over budget', 'within budget', 'option')[reason]})
        return modes

    def threads(self):
        names = self.names()
        serials = sorted({chunk.serial for chunk in self.chunks if chunk.checksum_state() != 'wrong'})
        return [self.thread(serial, names) for serial in serials]

    def thread(self, serial, names):
        lanes = [sorted((c for c in self.chunks if c.serial == serial and c.lane == lane and c.checksum_state() != 'wrong'),
                        key=lambda c: c.sequence) for lane in (0, 1)]
        chunks, markers = lanes
        newest = max(chunks + markers, key=lambda c: c.sequence)
        found, opened, missing, torn = self.lane(chunks, names)
        marked, _, markers_missing, markers_torn = self.lane(markers, names)
        return {'serial': serial, 'tid': newest.tid, 'name': newest.thread_name,
                'watched': any(c.watched for c in chunks + markers),
                'chunks': len(chunks), 'words': sum(len(c.words) for c in chunks),
                'words_before': chunks[0].words_before if chunks else 0,
                'words_missing': missing, 'torn_events': torn + markers_torn, 'event_count': len(found), 'events': found,
                'markers': {'chunks': len(markers), 'words_before': markers[0].words_before if markers else 0, 'words_missing': markers_missing, 'event_count': len(marked),
                            'events': marked},
                'open_calls': [with_name({'ticks': t, 'kind': 'begin' if k == 1 else 'dispatch_begin', 'id': i}, names)
                               for t, i, k in opened]}

    @staticmethod
    def lane(chunks, names):
        events, opened, missing, torn = [], [], 0, 0
        for n, chunk in enumerate(chunks):
            before = chunks[n - 1] if n else None
            if before:
                missing += chunk.words_before - before.words_before - len(before.words)
            if not before or chunk.thread_chunk_index != before.thread_chunk_index + 1:
                opened = list(chunk.open_calls)
            found, whole = chunk.events(names)
            torn += 0 if whole else 1
            for event in found:
                apply(event, opened)
            events += found
        return events, opened, missing, torn


def payload_words(kind, number):
    if kind == 7:
        return (number + 6) // 7
    if kind == 10:
        return number
    if kind == MARKER:
        return ((number & 0x7ff) + 6) // 7 + 2 * (number >> 11 & 1)
    if kind == FRAME:
        return number & 15 or 5
    return number & 15 if kind in (WAIT, THREAD) else PAYLOAD_WORDS[kind]


def with_name(event, names):
    if event['id'] in names:
        event['name'] = names[event['id']]
    return event


def apply(event, opened):
    kind = event['kind']
    if kind == 'begin':
        opened.append((event['ticks'], event['id'], 1))
    elif kind == 'dispatch_begin':
        opened.append((event['ticks'], 0, 7))
    elif kind in ('end', 'dispatch_end'):
        key = (event['id'], 1) if kind == 'end' else (0, 7)
        for n in reversed(range(len(opened))):
            if opened[n][1:] == key:
                del opened[n:]
                break


class Chunk:
    def __init__(self, data, index):
        self.data, self.index = data, index
        (self.sequence, self.owner, self.tid, self.serial, self.thread_chunk_index, calls, self.truncated, self.committed_words,
         self.base_ticks, self.close_ticks, name, watched, self.lane, self.words_before, self.checksum) = struct.unpack_from(
             '<QiiQIIIIQQ16sIIQQ', data)
        self.thread_name, self.watched = text(name), watched == 1
        self.open_calls = [struct.unpack_from('<QII', data, 96 + 16 * n) for n in range(calls)]
        self.words_at = 96 + 16 * calls
        words = struct.unpack_from(f'<{(CHUNK - self.words_at) // 8}Q', data, self.words_at)
        if not self.owner and 0 < self.committed_words <= len(words):
            self.words = words[:self.committed_words]
        else:
            self.words = words[:words.index(0)] if 0 in words else words

    def checksum_state(self):
        if self.checksum == 0 or self.checksum >> 32 != self.sequence & 0xffffffff:
            return 'none'
        covered = self.data[12:88] + self.data[96:self.words_at + 8 * self.committed_words]
        return 'right' if self.checksum & 0xffffffff == crc32c(covered) else 'wrong'

    def events(self, names):
        """The events, and whether the last one is whole."""
        events, at, base = [], 0, self.base_ticks
        while at < len(self.words):
            word = self.words[at]
            kind, number = word & 15, word >> 4 & 0xffffff
            if kind == 7 and number > 56 or kind == MARKER and number & 0x7ff > 1024 or \
                    kind not in (*PAYLOAD_WORDS, 7, 10, FRAME, MARKER, WAIT, THREAD):
                return events, False
            size = payload_words(kind, number)
            payload = self.words[at + 1:at + 1 + size]
            if len(payload) < size or any(w & 15 != 15 for w in payload):
                return events, False
            at += 1 + size
            payload = [w >> 4 for w in payload]
            if kind == 14:
                base = payload[0] | (payload[1] & 15) << 60
                continue
            ahead = (word >> 28) - base & LOW36
            ticks = base + ahead - (0 if ahead < 1 << 35 else 1 << 36)
            events.append(self.event(kind, number, ticks % (1 << 64), payload, names))
        return events, True

    @staticmethod
    def event(kind, number, ticks, payload, names):
        if kind == MARKER:
            carried = number >> 11 & 1
            if carried:
                ticks, payload = payload[0] | (payload[1] & 15) << 60, payload[2:]
            content = b''.join(struct.pack('<Q', word)[:7] for word in payload)[:number & 0x7ff]
            return {'ticks': ticks, 'kind': 'marker', 'carried': carried == 1, 'text': content.decode('utf-8', 'replace')}
        if kind in (FRAME, WAIT, THREAD):
            name = {FRAME: 'frame', WAIT: 'wait', THREAD: 'thread'}[kind]
            return {'ticks': ticks, 'kind': name, 'id': number, 'payload': payload}
        if kind == 7:
            name = b''.join(struct.pack('<Q', word)[:7] for word in payload)[:number]
            return {'ticks': ticks, 'kind': 'dispatch_begin', 'name': name.decode('utf-8', 'replace')}
        if kind == 8:
            return {'ticks': ticks, 'kind': 'dispatch_end'}
        if kind == 10:
            return {'ticks': ticks, 'kind': 'stack_sample', 'payload': payload}
        if kind in (3, 4):
            event = {'kind': 'async_begin' if kind == 3 else 'async_end', 'cookie': payload[0] | (payload[1] & 15) << 60}
        elif kind == 5:
            value = payload[0] | (payload[1] & 15) << 60
            event = {'kind': 'counter', 'value': value - (1 << 64) if value >> 63 else value}
        else:
            event = {'kind': SIMPLE[kind]}
        return with_name({'ticks': ticks, 'id': number, **event}, names)


def read(data):
    ring = Ring(data)
    return {
        'process': {'pid': struct.unpack_from('<i', data, 60)[0], 'start_ticks': ring.u64(64), 'boot_id': text(data[72:112]),
                    'name': text(data[112:176]), 'app_name': text(data[176:240]), 'app_version': text(data[240:304]),
                    'loop': text(data[304:336])},
        'clock_start': dict(zip(('ticks', 'monotonic_ns', 'boottime_ns', 'realtime_ns'), struct.unpack_from('<4Q', data, 336))),
        'clock_source': {1: 'clock_gettime', 2: 'tsc', 3: 'cntvct'}[ring.u32(56)],
        'window_ns': ring.u64(376), 'slow_threshold_ns': ring.u64(368), 'file_bytes': ring.u64(16),
        'chunk_count': ring.u32(52), 'chunks_ready': ring.u32(392), 'modes': ring.modes(),
        'dropped_events': ring.u64(448), 'names_dropped': ring.u64(408),
        'corrupt_chunks': sum(c.checksum_state() == 'wrong' for c in ring.chunks),
        'watched_tids': [tid for tid in (struct.unpack_from('<i', data, 1664 + 256 * n)[0] for n in range(8)) if tid],
        'threads': ring.threads(),
        'chunks': [{'index': c.index, 'sequence': c.sequence, 'state': 'open' if c.owner else 'closed', 'tid': c.tid,
                    'serial': c.serial, 'thread_chunk_index': c.thread_chunk_index, 'thread_name': c.thread_name,
                    'watched': c.watched, 'lane': 'markers' if c.lane == 1 else 'calls', 'open_calls': len(c.open_calls), 'open_calls_truncated': c.truncated,
                    'words': len(c.words), 'committed_words': c.committed_words, 'words_before': c.words_before,
                    'base_ticks': c.base_ticks, 'close_ticks': c.close_ticks, 'checksum': c.checksum_state()}
                   for c in ring.chunks],
    }
