#!/usr/bin/env python3
"""Writes the C++ that an app carries of report.proto: generate_report.py DESCRIPTORS FOLDER.

DESCRIPTORS is what `protoc --descriptor_set_out` wrote of report.proto. FOLDER gets
  report.fields.h   the messages Report, Counts and CountBook and all below them as plain structs, members named as the fields
  report.fields.cc  the table by which report_encoder.cc writes and message_decoder.cc reads them, and the kinds' names
  report.visit.h    every member by its C++ name
Only Python's own library is needed, so that cross builds ask for no more than protoc and Python
(docs/decisions/ has the reasons). A type that the writer does not know is an error here.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../cmake'))
from descriptor_set import text, wire_fields  # noqa: E402

ROOT_MESSAGE = 'Report'
OTHER_ROOTS = ['Counts', 'CountBook']
READ_ROOT = 'CountBook'  # that an app reads, too
# Numbers of google.protobuf.FieldDescriptorProto.Type: the member's type, its start value, the writer's FieldType.
SCALARS = {4: ('uint64_t', ' = 0', 'kUint64'), 5: ('int32_t', ' = 0', 'kInt32'), 8: ('bool', ' = false', 'kBool'),
           9: ('std::string', '', 'kText'), 13: ('uint32_t', ' = 0', 'kUint32')}
TYPE_UINT64, TYPE_TEXT, TYPE_MESSAGE, TYPE_ENUM = 4, 9, 11, 14
LABEL_REPEATED = 3
WARNING = '// Made from report/report.proto by report/generate_report.py. Not to be edited.\n'


class Field:
    """google.protobuf.FieldDescriptorProto."""
    def __init__(self, data, options):
        fields = wire_fields(data)
        self.name, self.number = text(fields, 1), fields[3][0]
        self.repeated = fields[4][0] == LABEL_REPEATED
        self.type, self.type_name = fields[5][0], text(fields, 6)
        given = wire_fields(fields[8][0]) if 8 in fields else {}
        self.optional = 17 in fields  # proto3_optional: 0 is a value, and the field may be absent
        self.max_count = given.get(options.get('max_count'), [0])[0]
        self.verbatim = given.get(options.get('verbatim')) == [1]
        self.kept = 'kNo' if given.get(options.get('kept')) != [1] else 'kByKey' if given.get(options.get('keyed')) == [1] else 'kWhole'

    def check(self, message):
        known = self.type in SCALARS or self.type in (TYPE_MESSAGE, TYPE_ENUM)
        listed = self.type in (TYPE_TEXT, TYPE_MESSAGE)
        presence = not self.optional or self.type == TYPE_UINT64
        if not known or not presence or self.repeated and not listed or not 0 < self.number < 256 or not 0 <= self.max_count < 65536:
            sys.exit(f'generate_report.py: {message}.{self.name} has a type, number or max_count that '
                     'report/report_encoder.cc cannot write: extend it and this script')


class Message:
    """google.protobuf.DescriptorProto."""
    def __init__(self, data, scope, options):
        fields = wire_fields(data)
        self.name = text(fields, 1)
        self.full_name = f'{scope}.{self.name}'
        self.fields = [Field(field, options) for field in fields.get(2, [])]
        self.nested = [Message(nested, self.full_name, options) for nested in fields.get(3, [])]
        for field in self.fields:
            field.check(self.full_name)


class Schema:
    """report.proto: the messages below the roots, each before those that contain it, and the kinds."""
    def __init__(self, data):
        files = [wire_fields(file) for file in wire_fields(data).get(1, [])]
        file = next(file for file in files if text(file, 1).endswith('report.proto'))
        options = {text(extension, 1): extension[3][0] for extension in map(wire_fields, file.get(7, []))}
        self.package = '.' + text(file, 2)
        self.by_name = {}
        for message in file.get(4, []):
            self.add(Message(message, self.package, options))
        self.messages = []
        for root in [ROOT_MESSAGE, *OTHER_ROOTS]:
            self.visit(self.by_name[f'{self.package}.{root}'])
        self.read = self.below(self.by_name[f'{self.package}.{READ_ROOT}'])
        used = {field.type_name for message in self.messages for field in message.fields}  # others are of options
        self.enums = {name: self.values(enum, options) for enum in map(wire_fields, file.get(5, []))
                      if (name := f'{self.package}.{text(enum, 1)}') in used}

    def add(self, message):
        self.by_name[message.full_name] = message
        for nested in message.nested:
            self.add(nested)

    @staticmethod
    def values(enum, options):
        """[(name, number, whether it is severe)]."""
        found = []
        for value in map(wire_fields, enum.get(2, [])):
            given = wire_fields(value[3][0]) if 3 in value else {}
            found.append((text(value, 1), value.get(2, [0])[0], given.get(options.get('severe')) == [1]))
        return found

    def visit(self, message):
        for field in message.fields:
            if field.type == TYPE_MESSAGE and self.by_name[field.type_name] not in self.messages:
                self.visit(self.by_name[field.type_name])
        self.messages.append(message)

    def below(self, message):
        """The messages that `message` is made of."""
        inner = [self.by_name[field.type_name] for field in message.fields if field.type == TYPE_MESSAGE]
        return {message}.union(*map(self.below, inner))

    def cpp_name(self, type_name):
        """ReportVerdict, ReportVerdict::Share; Report is Report."""
        path = type_name[len(self.package) + 1:].split('.')
        return ROOT_MESSAGE if path == [ROOT_MESSAGE] else '::'.join(['Report' + path[0], *path[1:]])

    def member_type(self, field):
        plain = SCALARS[field.type][0] if field.type in SCALARS else self.cpp_name(field.type_name)
        if field.optional:
            return f'std::optional<{plain}>'
        return f'std::vector<{plain}>' if field.repeated else plain


def enumerator(enum, name):
    """SLOW_MESSAGE: kSlowMessage; KIND_UNSPECIFIED: kUnspecified."""
    words = name.removeprefix(re.sub(r'(?<!^)(?=[A-Z])', '_', enum).upper() + '_').split('_')
    return 'k' + ''.join(word.capitalize() for word in words)


def struct(schema, message, indent=''):
    name = schema.cpp_name(message.full_name).split('::')[-1]
    out = [f'{indent}struct {name} {{']
    for nested in message.nested:
        out += struct(schema, nested, indent + '  ')
    for field in message.fields:
        start = '' if field.repeated or field.optional else SCALARS[field.type][1] if field.type in SCALARS else '{}'
        out.append(f'{indent}  {schema.member_type(field)} {field.name}{start};')
    return out + [indent + '};']


def header(schema):
    out = [WARNING + '#ifndef JANKBOX_REPORT_REPORT_FIELDS_H_\n#define JANKBOX_REPORT_REPORT_FIELDS_H_\n',
           '#include <cstdint>\n#include <optional>\n#include <string>\n#include <string_view>\n#include <vector>\n', 'namespace jankbox {\n']
    for full_name, values in schema.enums.items():
        enum = full_name.split('.')[-1]
        out.append(f'enum class Report{enum} : uint32_t {{')
        out += [f'  {enumerator(enum, name)} = {number},' for name, number, _ in values]
        out += ['};\n', '// The name in lower case: "slow_message"; empty for a number that the schema does not have.',
                f'std::string_view Report{enum}Name(Report{enum} value);\n', f'bool IsSevere(Report{enum} value);\n']
    nested = {inner for message in schema.messages for inner in message.nested}
    for message in schema.messages:
        if message not in nested:
            out += [*struct(schema, message), '']
    return '\n'.join(out) + '\n}  // namespace jankbox\n\n#endif  // JANKBOX_REPORT_REPORT_FIELDS_H_\n'


def field_type(field):
    if field.type == TYPE_MESSAGE:
        return 'kMessages' if field.repeated else 'kMessage'
    if field.repeated:
        return 'kTexts'
    if field.optional:
        return 'kOptionalUint64'
    return 'kUint32' if field.type == TYPE_ENUM else SCALARS[field.type][2]


def table(schema):
    index = {message.full_name: at for at, message in enumerate(schema.messages)}
    rows, messages = [], []
    for message in schema.messages:
        name = schema.cpp_name(message.full_name)
        append = f'&AppendTo<{name}>' if message in schema.read else 'nullptr'
        messages.append(f'    {{{len(rows)}, {len(message.fields)}, sizeof({name}), &ListOf<{name}>, {append}}},')
        for field in sorted(message.fields, key=lambda field: field.number):
            below = index[field.type_name] if field.type == TYPE_MESSAGE else 0
            rows.append(f'    {{offsetof({name}, {field.name}), {field.max_count}, {field.number}, '
                        f'FieldType::{field_type(field)}, {below}, Kept::{field.kept}, {str(field.verbatim).lower()}}},')
    return ['const FieldRow kReportFields[] = {', *rows, '};\n', 'const MessageRow kReportMessages[] = {', *messages, '};\n',
            *(f'const MessageRow& k{schema.cpp_name(name)}Message = kReportMessages[{index[name]}];\n'
              for name in (f'{schema.package}.{root}' for root in [ROOT_MESSAGE, *OTHER_ROOTS]))]


def kind_table(schema):
    out = []
    for full_name, values in schema.enums.items():
        enum = full_name.split('.')[-1]
        out += [f'std::string_view Report{enum}Name(Report{enum} value) {{', '  switch (value) {']
        for name, number, _ in values:
            if number != 0:
                out += [f'    case Report{enum}::{enumerator(enum, name)}:', f'      return "{name.lower()}";']
        severe = [f'value == Report{enum}::{enumerator(enum, name)}' for name, _, is_severe in values if is_severe]
        out += ['    default:', '      return "";', '  }', '}\n', f'bool IsSevere(Report{enum} value) {{',
                f'  return {" || ".join(severe) or "false"};', '}\n']
    return out


def source(schema):
    return '\n'.join([WARNING + '#include "report/report.fields.h"\n', '#include <cstddef>\n', '#include "report/field_table.h"\n',
                      '// libc++\'s strings are not of standard layout; GCC and Clang know the offsets all the same.',
                      '#pragma GCC diagnostic ignored "-Winvalid-offsetof"\n', 'namespace jankbox {\n', *kind_table(schema), *table(schema)]) + '}  // namespace jankbox\n'


def visitor(schema):
    out = [WARNING + '#ifndef JANKBOX_REPORT_REPORT_VISIT_H_\n#define JANKBOX_REPORT_REPORT_VISIT_H_\n',
           '#include "report/report.fields.h"\n', 'namespace jankbox {\n']
    for message in schema.messages:
        out += ['// Calls visit(name of the field, member) for each field.', 'template <typename Visit>',
                f'void VisitFields({schema.cpp_name(message.full_name)}* message, Visit&& visit) {{']
        out += [f'  visit("{field.name}", &message->{field.name});' for field in message.fields] + ['}\n']
    return '\n'.join(out) + '}  // namespace jankbox\n\n#endif  // JANKBOX_REPORT_REPORT_VISIT_H_\n'


def main():
    descriptors, folder = sys.argv[1:]
    with open(descriptors, 'rb') as file:
        schema = Schema(file.read())
    for name, content in (('report.fields.h', header), ('report.fields.cc', source), ('report.visit.h', visitor)):
        with open(os.path.join(folder, name), 'w', encoding='utf-8') as file:
            file.write(content(schema))


if __name__ == '__main__':
    main()
