#!/usr/bin/env python3
"""Reads a plain Perfetto trace with the standard library alone, and fails where two writers share an identifier.

usage: independent_trace_reader.py TRACE
Checked: every byte belongs to a packet; a sequence begins once; a track is described once for each writer; on each thread,
slices of TrackEvents and of ftrace markers (B, E) nest when all are put in order of time.
"""
import collections
import sys


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def fields(data):
    """Number to list of values: integers, or bytes."""
    found = collections.defaultdict(list)
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            size = 8 if kind == 1 else 4
            value, at = data[at:at + size], at + size
        if at > len(data):
            raise ValueError('a field is cut off')
        found[tag >> 3].append(value)
    return found


def one(found, number, default=0):
    return found[number][-1] if found[number] else default


class Trace:
    def __init__(self):
        self.begun = set()
        self.tids = {}     # by track
        self.events = []   # time, order, tid, side, kind
        self.errors = []

    def packet(self, data):
        packet = fields(data)
        sequence = one(packet, 10)
        if one(packet, 87):
            if sequence in self.begun:
                self.errors.append(f'sequence {sequence} begins twice')
            self.begun.add(sequence)
        if packet[60]:
            self.track(fields(packet[60][0]))
        if packet[11]:
            event = fields(packet[11][0])
            kind = {1: 'B', 2: 'E'}.get(one(event, 9))
            if kind and one(event, 11) in self.tids:
                self.events.append((one(packet, 8), len(self.events), self.tids[one(event, 11)], 'app', kind))
        for bundle in packet[1]:
            for raw in fields(bundle)[2]:
                event = fields(raw)
                text = one(fields(event[3][0]), 2) if event[3] else b''
                if text[:1] in (b'B', b'E'):
                    self.events.append((one(event, 1), len(self.events), one(event, 2), 'kernel', chr(text[0])))

    def track(self, descriptor):
        uuid = one(descriptor, 1)
        if descriptor[4]:
            if uuid in self.tids:
                self.errors.append(f'track {uuid} is described twice')
            self.tids[uuid] = one(fields(descriptor[4][0]), 2)

    def check(self):
        stacks = collections.defaultdict(list)
        for time, _, tid, side, kind in sorted(self.events):
            if kind == 'B':
                stacks[tid].append(side)
            elif not stacks[tid] or stacks[tid].pop() != side:
                self.errors.append(f'{time}: an end of the {side} closes what is not its own on thread {tid}')
        for tid, stack in stacks.items():
            if stack:
                self.errors.append(f'thread {tid}: {len(stack)} slices never end')


def main():
    with open(sys.argv[1], 'rb') as file:
        trace_fields = fields(file.read())
    trace = Trace()
    for packet in trace_fields.pop(1, []):
        trace.packet(packet)
    if trace_fields:
        trace.errors.append('bytes that are no packet')
    if not trace.events:
        trace.errors.append('no slices')
    trace.check()
    print('\n'.join(trace.errors))
    sys.exit(1 if trace.errors else 0)


if __name__ == '__main__':
    main()
