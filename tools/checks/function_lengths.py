"""Functions of a source file and their lengths, from the braces of formatted C, C++ and Java, and from Python's own parser."""
import ast
import re

# Comments, raw strings, strings and characters: their braces do not count. A quote inside a number separates digits.
OPAQUE = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\.|\\\n)*', re.MULTILINE)
TYPE = re.compile(r'\b(class|struct|union|enum|namespace|interface|record)\b|\bextern\b')
TAIL = re.compile(r'(\)|\b(const|noexcept|override|final|volatile|mutable|try|Exception|Error))\s*$|->[^;{}]*$|\bthrows\b[^;{}]*$')


def _blank(match):
    return re.sub(r'[^\n]', ' ', match.group())


def _starts_function(statement):
    """Whether a brace after `statement`, outside of every function, opens a function's body."""
    text = statement.strip()
    if '(' not in text or text.endswith('='):
        return False
    if TYPE.search(text) and not TAIL.search(text):
        return False  # class alignas(64) Name
    return not re.search(r'\benum\b', text)


def brace_functions(text):
    """(first line, lines) of each outermost function; lambdas and local classes belong to the one around them."""
    text = DIRECTIVE.sub(_blank, OPAQUE.sub(_blank, text))
    scopes = []  # of each open brace: the offset of the start of its function's statement, None: no function
    inside = False
    start = 0  # of the statement that is being read, outside of functions
    for match in re.finditer(r'[{};]', text):
        at, mark = match.start(), match.group()
        if mark == '{':
            # `: member_{0}` and `= {1}` are values: the statement goes on after them.
            value = not inside and at > 0 and (not text[at - 1].isspace() or text[start:at].rstrip().endswith('='))
            opens = not inside and not value and _starts_function(text[start:at])
            scopes.append((start if opens else None, value))
            inside = inside or opens
            start = start if inside or value else at + 1
        elif mark == '}' and scopes:
            opened, value = scopes.pop()
            if opened is not None:
                inside = False
                first = opened + len(text[opened:at]) - len(text[opened:at].lstrip())
                yield text.count('\n', 0, first) + 1, text.count('\n', first, at) + 1
            if not inside and not value:
                start = at + 1
        elif mark == ';' and not inside:
            start = at + 1


def python_functions(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno - node.lineno + 1


def functions(path, text):
    return list(python_functions(text) if path.endswith('.py') or text.startswith('#!/usr/bin/env python3') else brace_functions(text))
