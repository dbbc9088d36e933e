#!/usr/bin/env python3
"""Writes the numbers of trace.proto as C++ constants: generate_trace_fields.py DESCRIPTORS HEADER.

DESCRIPTORS is what `protoc --descriptor_set_out` wrote of trace.proto. Each message is a namespace of jankbox::perfetto:
TrackEvent.name_iid is track_event::kNameIid, TrackEvent.Type's TYPE_INSTANT is track_event::kTypeInstant.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../../cmake'))
from descriptor_set import text, wire_fields  # noqa: E402

HEADER = '''// Made from tracer/perfetto/trace.proto by generate_trace_fields.py. Not to be edited.
#ifndef JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_OF_SCHEMA_H_
#define JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_OF_SCHEMA_H_

#include <cstdint>

namespace jankbox::perfetto {
'''
FOOTER = '''
}  // namespace jankbox::perfetto

#endif  // JANKBOX_TRACER_PERFETTO_TRACE_FIELDS_OF_SCHEMA_H_
'''


def namespace_of(message):
    """TrackEvent: track_event."""
    return re.sub(r'(?<!^)(?=[A-Z])', '_', message).lower()


def constant(name, number):
    """name_iid and NAME_IID: kNameIid."""
    camel = ''.join(word.capitalize() for word in name.split('_'))
    return f'inline constexpr uint32_t k{camel} = {number};'


def numbered(descriptors, number_field):
    """Constants of fields or enum values: their name is field 1, their number `number_field`."""
    return [constant(text(entry, 1), entry.get(number_field, [0])[0]) for entry in map(wire_fields, descriptors)]


def enum_constants(descriptors):
    return [line for enum in map(wire_fields, descriptors) for line in numbered(enum.get(2, []), 2)]


def message_constants(descriptor):
    """Of a google.protobuf.DescriptorProto, those nested in it after its own."""
    message = wire_fields(descriptor)
    name = namespace_of(text(message, 1))
    lines = numbered(message.get(2, []), 3) + enum_constants(message.get(4, []))
    for nested in message.get(3, []):
        lines += message_constants(nested)
    return [f'namespace {name} {{', *lines, f'}}  // namespace {name}']


def main(descriptors, header):
    with open(descriptors, 'rb') as file:
        files = [wire_fields(entry) for entry in wire_fields(file.read())[1]]
    schema = next(entry for entry in files if text(entry, 1).endswith('perfetto/trace.proto'))
    lines = enum_constants(schema.get(5, []))
    for message in schema[4]:
        lines += message_constants(message)
    with open(header, 'w', encoding='utf-8') as file:
        file.write(HEADER + '\n'.join(['', *lines]) + '\n' + FOOTER)


if __name__ == '__main__':
    main(*sys.argv[1:])
