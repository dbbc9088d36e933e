"""What `protoc --descriptor_set_out` wrote, for scripts that generate code from a schema.

Only Python's own library is needed, so that cross builds ask for no more than protoc and Python.
"""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def wire_fields(data):
    """{field number: [values]} of a protobuf message; what has a length stays bytes."""
    fields, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f'wire type {key & 7} is in no descriptor')
        fields.setdefault(key >> 3, []).append(value)
    return fields


def text(fields, number):
    return fields[number][0].decode() if number in fields else ''
