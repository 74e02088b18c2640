"""Read Python sources and write what they are as programs of skill/scan/internal/code.

It runs nothing of them: the standard library parses them. Standard input has each source after a line with its length in bytes and the number
of lines before it, standard output gets a line of JSON for each. The length -1 ends an input: when all of it is read, standard output gets
the line null, and another input may come. It needs Python 3.8.
"""
import ast
import gc
import json
import os
import re
import sys
import textwrap
import warnings

MAX_NODES, MAX_DEPTH, MAX_NAME = 390000, 180, 1000  # below those of package code: a value may have an inner one
MAX_SECONDS, MAX_MEMORY = 10, 1 << 30  # of processor time and bytes
MAX_OUTPUT = 32 << 20  # bytes for one input: a short source can repeat a long name

OPERATORS = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**", "MatMult": "@", "BitAnd": "&",
    "BitOr": "|", "BitXor": "^", "LShift": "<<", "RShift": ">>", "And": "and", "Or": "or", "Not": "not", "USub": "-", "UAdd": "+",
    "Invert": "~", "Eq": "==", "NotEq": "!=", "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Is": "is", "IsNot": "is not",
    "In": "in", "NotIn": "not in"}


class TooMuch(Exception):
    pass


class Reader:
    """Reads one source. An expression may add statements before the one that it is in: of := and of a comprehension."""

    def __init__(self, above):
        self.above = above  # lines before the source in its file, for what a person reads
        self.nodes = self.depth = self.calls = self.names = self.line = 0
        self.out, self.owner, self.partly, self.broken = [], "", "", False

    def deep(self, line):
        self.partly, self.broken = self.partly or "line %d is nested too deep" % (line + self.above), False

    def value(self, form, node=None, **more):
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise TooMuch()
        v = {"form": form}
        line = getattr(node, "lineno", self.line)
        if line != self.line:
            v["line"] = line
        for key, item in more.items():
            if item:
                v[key] = item
        return v

    def name(self, text, node=None):
        return self.value("name", node, text=text[:MAX_NAME])

    def other(self, op="", *args):
        return self.value("other", text=op, args=list(args))

    def add(self, op, line, **more):
        self.out.append(self.made(op, line, **more))

    def made(self, op, line, name="", **more):
        self.nodes += 1
        s = {"op": op, "line": line}
        if name:
            s["name"] = name[:MAX_NAME]
        for key, item in more.items():
            if item:
                s[key] = item
        return s

    # Statements

    def block(self, nodes, owner=""):
        """Return the statements of a function."""
        out, before = self.out, self.owner
        self.out, self.owner = [], owner
        self.depth += 1
        self.body(nodes)
        self.depth -= 1
        inner, self.out, self.owner = self.out, out, before
        return inner

    def body(self, nodes):
        for node in nodes:
            self.statement(node)

    def statement(self, node):
        self.line = line = node.lineno
        if self.depth >= MAX_DEPTH:
            self.deep(line)
            return
        method = getattr(self, "do_" + type(node).__name__, None)
        if method:
            self.depth += 1
            method(node)
            self.depth -= 1

    def effect(self, node):
        """Add an expression if it calls something."""
        calls = self.calls
        if node is not None and not isinstance(node, (ast.Name, ast.Constant)):
            self.line = node.lineno
            v = self.expr(node)
            if self.calls != calls and v["form"] != "name":
                self.add("do", node.lineno, value=v)

    def do_Expr(self, node):
        if not isinstance(node.value, ast.Constant):
            self.add("do", node.lineno, value=self.expr(node.value))

    def do_Import(self, node):
        for a in node.names:
            self.add("import", node.lineno, name=a.asname or a.name, module=a.name)

    def do_ImportFrom(self, node):
        module = "." * (node.level or 0) + (node.module or "")
        for a in node.names:
            name = "" if a.name == "*" else a.asname or a.name
            self.add("import", node.lineno, name=name, module=module, member=a.name)

    def do_Assign(self, node):
        v = self.expr(node.value)
        for target in node.targets:
            if len(node.targets) > 1:
                v = self.keep(v, node.lineno)
            self.assign(target, v, node.value)

    def do_AnnAssign(self, node):
        self.effect(node.annotation)
        if node.value is not None:
            self.assign(node.target, self.expr(node.value), node.value)

    def do_AugAssign(self, node):
        args = self.expr(node.target), self.expr(node.value)
        if isinstance(node.op, ast.Add) and args[1]["form"] != "number":
            self.assign(node.target, self.value("join", args=list(args)))
        else:
            self.assign(node.target, self.other(OPERATORS[type(node.op).__name__], *args))

    def keep(self, v, line):
        """Give a value a name, so that it is computed once."""
        if v["form"] == "name":
            return self.name(v["text"])
        self.names += 1
        name = "#%d" % self.names
        self.add("set", line, name=name, value=v)
        return self.name(name)

    def assign(self, target, v, source=None):
        line = target.lineno
        name = dotted(target)
        if name:
            self.add("set", line, name=self.owner + name, value=v)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, v)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self.unpack(target, v, source)
        else:  # a part of something
            base, args = target, []
            while isinstance(base, (ast.Subscript, ast.Attribute)) and not dotted(base):
                if isinstance(base, ast.Subscript):
                    args.append(self.index(base.slice))
                base = base.value
            whole = self.expr(base)
            changed = self.other("[]=", whole, *args, v)
            if dotted(base):
                self.add("set", line, name=self.owner + dotted(base), value=changed)
            else:
                self.add("do", line, value=changed)

    def unpack(self, target, v, source):
        parts = v.get("args", ())
        same = v["form"] == "list" and len(parts) == len(target.elts)
        if same and not any(isinstance(n, ast.Starred) for n in target.elts + source.elts if source):
            for t, part in zip(target.elts, parts):
                self.assign(t, part, None)
            return
        v, at = self.keep(v, target.lineno), 0
        for t in target.elts:
            if isinstance(t, ast.Starred):
                at = None
            i = self.other() if at is None else self.value("number", text=str(at))
            v = self.name(v["text"])
            self.assign(t, v if isinstance(t, ast.Starred) else self.value("index", args=[v, i]))
            at = None if at is None else at + 1

    def element(self, node):
        return self.value("index", args=[self.expr(node), self.other()])

    def do_For(self, node):
        self.assign(node.target, self.element(node.iter))
        self.body(node.body)
        self.body(node.orelse)

    def do_While(self, node):
        self.effect(node.test)
        self.body(node.body)
        self.body(node.orelse)

    def do_If(self, node):
        self.effect(node.test)
        self.body(node.body)
        while len(node.orelse) == 1 and isinstance(node.orelse[0], ast.If):
            node = node.orelse[0]
            self.effect(node.test)
            self.body(node.body)
        self.body(node.orelse)

    def do_With(self, node):
        for item in node.items:
            if item.optional_vars is None:
                self.effect(item.context_expr)
            else:
                self.assign(item.optional_vars, self.expr(item.context_expr), None)
        self.body(node.body)

    def do_Try(self, node):
        self.body(node.body)
        for h in node.handlers:
            self.effect(h.type)
            if h.name:
                self.add("set", h.lineno, name=h.name, value=self.other("except"))
            self.body(h.body)
        self.body(node.orelse)
        self.body(node.finalbody)

    def do_Return(self, node):
        if node.value is not None:
            self.add("return", node.lineno, value=self.expr(node.value))

    def do_Assert(self, node):
        self.effect(node.test)
        self.effect(node.msg)

    def do_Raise(self, node):
        self.effect(node.exc)
        self.effect(node.cause)

    def do_Delete(self, node):
        for t in node.targets:
            self.effect(t)

    def do_FunctionDef(self, node):
        name = self.owner + node.name
        self.annotations(node)
        self.add("def", node.lineno, name=name, **self.function(node.args, node.body))
        self.decorators(node, name)

    def do_ClassDef(self, node):
        name = self.owner + node.name
        args = [self.expr(n) for n in node.bases + [k.value for k in node.keywords]]
        self.add("set", node.lineno, name=name, value=self.other("class", *args))
        owner, self.owner = self.owner, name + "."
        self.body(node.body)
        self.owner = owner
        self.decorators(node, name)

    def decorators(self, node, name):
        for d in node.decorator_list:
            self.calls += 1
            call = self.value("call", d, func=self.expr(d), args=[self.name(name)])
            self.add("do", d.lineno, value=call)

    def annotations(self, node):
        a = node.args
        for arg in a.posonlyargs + a.args + a.kwonlyargs + [a.vararg, a.kwarg]:
            self.effect(getattr(arg, "annotation", None))
        self.effect(node.returns)

    def function(self, a, body):
        """Return the parameters and the statements of a function. Defaults are its first statements."""
        plain = a.posonlyargs + a.args
        params = [p.arg for p in plain]
        defaults = list(zip(plain[len(plain) - len(a.defaults):], a.defaults)) + list(zip(a.kwonlyargs, a.kw_defaults))
        params += ["*" + a.vararg.arg] if a.vararg else []
        params += [p.arg for p in a.kwonlyargs] + (["**" + a.kwarg.arg] if a.kwarg else [])
        first = []
        for p, default in defaults:
            if default is not None:
                first.append(self.made("set", p.lineno, p.arg, value=self.expr(default)))
        for p in params:
            if p[0] == "*":
                first.append(self.made("set", self.line, p.lstrip("*"), value=self.name(p)))
        line = self.line
        inner = self.block(body)
        self.line = line
        return {"params": params, "body": first + inner}

    def do_Match(self, node):
        v = self.keep(self.expr(node.subject), node.lineno)
        for case in node.cases:
            for p in ast.walk(case.pattern):
                name = getattr(p, "name", None) or getattr(p, "rest", None)
                if name:
                    part = self.name(v["text"])
                    if p is not case.pattern:
                        part = self.value("index", args=[part, self.other()])
                    self.add("set", p.lineno, name=name, value=part)
            self.effect(case.guard)
            self.body(case.body)

    do_AsyncFor, do_AsyncWith, do_AsyncFunctionDef, do_TryStar = do_For, do_With, do_FunctionDef, do_Try

    # Expressions

    def expr(self, node):
        if self.depth >= MAX_DEPTH:
            self.deep(node.lineno)
            return self.other()
        method = getattr(self, "get_" + type(node).__name__, None)
        self.depth += 1
        v = method(node) if method else self.children(node)
        self.depth -= 1
        return v

    def children(self, node):
        return self.other("", *[self.expr(n) for n in ast.iter_child_nodes(node) if isinstance(n, ast.expr)])

    def get_Constant(self, node):
        c = node.value
        if isinstance(c, str):
            return self.value("text", node, text=c)
        if isinstance(c, bytes):
            return self.value("text", node, text=c.decode("latin-1"))
        if c is None or c is Ellipsis or isinstance(c, bool):
            return self.name(str(c), node)
        try:
            return self.value("number", node, text=str(c))
        except ValueError:  # more digits than Python likes to print
            return self.other("number")

    def get_Name(self, node):
        return self.name(node.id, node)

    def get_Attribute(self, node):
        name = dotted(node)
        if name:
            return self.name(name, node)
        return self.value("member", node, text=node.attr[:MAX_NAME], args=[self.expr(node.value)])

    def get_Subscript(self, node):
        self.calls += 1  # it may read a variable
        return self.value("index", node, args=[self.expr(node.value), self.index(node.slice)])

    def index(self, node):
        if type(node).__name__ == "Index":  # before Python 3.9
            node = node.value
        if isinstance(node, ast.Slice):
            parts = node.lower, node.upper, node.step
            self.depth += 1
            v = self.other(":", *[self.other() if n is None else self.expr(n) for n in parts])
            self.depth -= 1
            return v
        if isinstance(node, ast.expr):
            return self.expr(node)
        return self.other(":", *[self.index(n) for n in getattr(node, "dims", ())])

    def get_Call(self, node):
        self.calls += 1
        f = node.func
        args = [self.expr(n) for n in node.args]
        keys = None
        if node.keywords:
            keys = [""] * len(args) + [k.arg or "**" for k in node.keywords]
            args += [self.expr(k.value) for k in node.keywords]
        return self.value("call", node, func=self.expr(f), args=args, keys=keys)

    def percent(self, node):
        """Return what TEXT % … makes."""
        text, right = node.left.value, node.right
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        named, args = {}, []
        if isinstance(right, ast.Dict):
            named = {k.value: self.expr(v) for k, v in zip(right.keys, right.values) if isinstance(k, ast.Constant)}
        elif isinstance(right, ast.Tuple):
            args = [self.expr(n) for n in right.elts]
        else:
            args = [self.expr(right)]
        out, rest = [], list(args)
        for part in re.split(r"(%(?:\([^)]*\))?[#0 +-]*\d*(?:\.\d+)?[a-zA-Z%])", text):
            key = re.match(r"%\(([^)]*)\)", part)
            if part[:1] != "%" or part == "%" or part == "%%":
                out += [self.value("text", node, text=part[:1] if part == "%%" else part)] if part else []
            elif key:
                out.append(named.pop(key.group(1), None) or (rest[0] if rest else self.other()))
            else:
                out.append(rest.pop(0) if rest else self.other())
        return self.value("join", node, args=out + rest + list(named.values()))

    def get_BinOp(self, node):
        if isinstance(node.op, ast.Mod) and is_text(node.left):
            return self.percent(node)
        op, parts, n = type(node.op), [], node
        while isinstance(n, ast.BinOp) and isinstance(n.op, op) and not (op is ast.Mod and is_text(n.left)):
            parts.append(n.right)
            n = n.left
        args = [self.expr(n)] + [self.expr(n) for n in reversed(parts)]
        if op is ast.Add and all(a["form"] != "number" for a in args):
            return self.value("join", node, args=args)
        return self.value("other", node, text=OPERATORS[op.__name__], args=args)

    def get_BoolOp(self, node):
        return self.other(OPERATORS[type(node.op).__name__], *[self.expr(n) for n in node.values])

    def get_UnaryOp(self, node):
        v = self.expr(node.operand)
        if isinstance(node.op, ast.USub) and v["form"] == "number":
            v["text"] = "-" + v["text"]
            return v
        return self.other(OPERATORS[type(node.op).__name__], v)

    def get_Compare(self, node):
        if isinstance(node.ops[0], (ast.In, ast.NotIn)):
            self.calls += 1  # it may ask for a variable
        return self.other(OPERATORS[type(node.ops[0]).__name__], self.expr(node.left), *[self.expr(n) for n in node.comparators])

    def get_IfExp(self, node):
        args = []
        while isinstance(node, ast.IfExp):
            self.effect(node.test)
            args.append(self.expr(node.body))
            node = node.orelse
        return self.other("if", *args, self.expr(node))

    def get_JoinedStr(self, node):
        args = []
        for part in node.values:
            if isinstance(part, ast.Constant):
                args.append(self.expr(part))
                continue
            args.append(self.expr(part.value))
            if getattr(part, "format_spec", None) is not None:
                self.effect(part.format_spec)
        return self.value("join", node, args=args)

    get_TemplateStr = get_JoinedStr

    def get_List(self, node):
        return self.value("list", node, args=[self.expr(n) for n in node.elts])

    get_Tuple = get_Set = get_List

    def get_Dict(self, node):
        args, keys = [], []
        for k, v in zip(node.keys, node.values):
            constant = isinstance(k, ast.Constant)
            keys.append("**" if k is None else str(k.value) if constant and not isinstance(k.value, bytes) else "")
            if k is None or keys[-1]:
                args.append(self.expr(v))
                continue
            self.depth += 1
            args.append(self.other("", self.expr(k), self.expr(v)))
            self.depth -= 1
        return self.value("map", node, args=args, keys=keys)

    def get_Starred(self, node):
        return self.other("*", self.expr(node.value))

    def get_Lambda(self, node):
        returned = ast.copy_location(ast.Return(value=node.body), node.body)
        return self.value("func", node, **self.function(node.args, [returned]))

    def get_NamedExpr(self, node):
        self.assign(node.target, self.expr(node.value))
        return self.expr(node.target)

    def comprehension(self, node):
        owner, self.owner = self.owner, ""
        for g in node.generators:
            self.assign(g.target, self.element(g.iter))
            for test in g.ifs:
                self.effect(test)
        self.owner = owner
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        return self.value("other", node, text="for", args=[self.expr(n) for n in parts])

    get_ListComp = get_SetComp = get_DictComp = get_GeneratorExp = comprehension

    def get_Await(self, node):
        return self.expr(node.value)

    def get_Yield(self, node):
        if node.value is not None:
            self.add("return", node.lineno, value=self.expr(node.value))
        return self.other("yield")

    get_YieldFrom = get_Yield


def dotted(node):
    parts = []
    while isinstance(node, ast.Attribute) and len(parts) < MAX_DEPTH:
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return ""
    return ".".join([node.id] + parts[::-1])


def is_text(node):
    return isinstance(node, ast.Constant) and isinstance(node.value, (str, bytes))


def why(e, above):
    """Say why a source cannot be parsed."""
    if isinstance(e, SyntaxError) and e.lineno and "too many nested" not in str(e.msg):
        return "line %d is no Python %d" % (e.lineno + above, sys.version_info[0])
    if isinstance(e, (SyntaxError, RecursionError, MemoryError)):
        return "it is nested too deep" if "encoding" not in str(e) else "its encoding is not known"
    if isinstance(e, UnicodeError):
        return "its encoding is not the one that it names"
    return "it is no Python"


OLDER = [  # statements of Python 2 as Python 3 has them
    (re.compile(r"^(\s*(?:[^#\n'\"]*:\s*)?)print\s+(?:>>\s*[\w.]+\s*,\s*)?([^(=\n].*|\(.*\).+)$", re.M), r"\1print(\2)"),
    (re.compile(r"^(\s*)exec\s+([^(=\n].*)$", re.M), r"\1exec(\2)"),
    (re.compile(r"^(\s*except\s+[\w., ()]+),\s*(\w+)\s*:", re.M), r"\1 as \2:"),
    (re.compile(r"\b0([0-7]+)\b"), r"0o\1"),
    (re.compile(r"\bur(['\"])"), r"r\1")]
LITERAL = re.compile(r"""[bru]{0,2}('''(?:[^\\]|\\.)*?'''|\"\"\"(?:[^\\]|\\.)*?\"\"\"|'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*")""", re.I | re.S)
MAX_PIECES, MAX_PIECE, MAX_TRIED = 2000, 1 << 18, 8 << 20  # MAX_TRIED is of characters that are parsed again and again
ERRORS = SyntaxError, ValueError, RecursionError, MemoryError, OverflowError


def recover(reader, source):
    """Read what can be read of a source with an error: each piece that begins without indentation alone."""
    text = textwrap.dedent(source.decode("utf-8", "replace").replace("\r\n", "\n").replace("\0", ""))
    pieces = re.split(r"^(?=[^\s#)\]}]|#!)(?!else|elif|except|finally)", text, flags=re.M)
    reader.broken = reader.broken and len(pieces) <= MAX_PIECES
    pieces, i, line, left = pieces[:MAX_PIECES], 0, 1, MAX_TRIED
    while i < len(pieces):
        piece, n = pieces[i], 1
        tree, more = piece_of(piece)
        while more and left > 0 and i + n < len(pieces):  # a text or brackets of several lines
            longer = "".join(pieces[i:i + n + 1])
            left -= len(longer)
            tree, more = piece_of(longer)
            n += 1
            if tree:
                piece = longer
        if piece[:1] == "!":  # a command of a notebook
            reader.add("import", line, name="#os", module="os")
            arg = reader.value("text", text=piece[1:].strip())
            reader.add("do", line, value=reader.value("call", func=reader.name("#os.system"), args=[arg]))
        else:
            if not tree:
                tree, left = mended(reader, piece, line, left)
            if tree:
                reader.body(ast.increment_lineno(tree, line - 1).body)
            else:
                literals(reader, piece, line)
        line += piece.count("\n")
        i += n if tree else 1
    reader.broken = reader.broken and left > 0


PLACEHOLDER = re.compile(r"<[A-Za-z][\w .-]{0,60}>")


def mended(reader, piece, line, left):
    """Return the tree of a piece without the lines that are no Python, and how many characters may still be tried."""
    lines, tried = piece.split("\n"), set()
    while left > 0 and len(tried) < 40:
        left -= len(piece)
        try:
            return ast.parse("\n".join(lines)), left
        except SyntaxError as e:
            at = min(e.lineno or 1, len(lines)) - 1
        except ERRORS:
            break
        text = PLACEHOLDER.sub("_", lines[at])
        if at in tried or text == lines[at]:
            if text.strip() in ("", "pass"):
                break
            literals(reader, lines[at], line + at)
            text = text[:len(text) - len(text.lstrip())] + "pass"
        tried.add(at)
        lines[at] = text
    return None, left


def piece_of(piece):
    """Return the tree of a piece, or whether it may be one with more behind it."""
    older, more = piece, False
    if len(piece) > MAX_PIECE:
        return None, False
    for pattern, to in OLDER:
        older = pattern.sub(to, older)
    for text in piece, older:
        try:
            return ast.parse(text), False
        except ERRORS as e:
            more = more or bool(re.search("EOF|never closed|unterminated triple", str(e)))
    return None, more


def literals(reader, piece, line):
    at, reader.line = 0, line
    for m in LITERAL.finditer(piece):
        reader.line += piece.count("\n", at, m.start())
        at = m.start()
        try:
            v = ast.literal_eval(m.group(0))
        except ERRORS:
            v = m.group(1).strip("\"'")
        v = v.decode("latin-1") if isinstance(v, bytes) else v
        reader.add("do", reader.line, value=reader.value("text", text=v))


def read(source, above):
    reader = Reader(above)
    try:
        try:
            tree = ast.parse(source)
        except ERRORS as e:
            reader.partly = why(e, above)
            reader.broken = reader.partly.startswith("line") and len(source) < MAX_PIECE
            recover(reader, source)
        else:
            reader.body(tree.body)
    except TooMuch:
        reader.partly, reader.broken = "it has more than %d statements and values" % MAX_NODES, False
    except (RecursionError, MemoryError):
        reader.partly, reader.broken = reader.partly or "it needs too much memory", False
    return {"body": reader.out, "partly": reader.partly, "broken": reader.broken and bool(reader.partly)}


def limit():
    """End the process if a source takes too long or too much: whoever started it goes on with the next source."""
    try:
        import resource
        _, most = resource.getrlimit(resource.RLIMIT_AS)
        if most == resource.RLIM_INFINITY or most > MAX_MEMORY:
            resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, most))
    except (ImportError, ValueError, OSError):
        pass
    try:
        import signal
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        return lambda seconds: signal.setitimer(signal.ITIMER_PROF, seconds)
    except (ImportError, AttributeError, ValueError):
        return lambda seconds: None


def answer(sources, alarm, stdout):
    left = MAX_OUTPUT
    for source, above in sources:
        alarm(MAX_SECONDS)
        try:
            text = json.dumps(read(source, above), separators=(",", ":"))
        except (RecursionError, MemoryError):
            text = '{"partly":"it needs too much memory"}'
        if len(text) > left:
            text = '{"partly":"what it says is too long"}'
        left -= len(text)
        alarm(0)
        stdout.write(text.encode("ascii") + b"\n")
        stdout.flush()


def apart(work):
    """Do work in a copy of this process, if the system has such: nothing of it is left for the next input."""
    if not hasattr(os, "fork"):
        work()
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        work()
    finally:
        os._exit(0)


def main():
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(3000)
    alarm, stdin, stdout = limit(), sys.stdin.buffer, sys.stdout.buffer
    gc.freeze()
    sources = []
    for head in stdin:
        length, above = map(int, head.split())
        if length >= 0:
            sources.append((stdin.read(length), above))
            continue
        apart(lambda: answer(sources, alarm, stdout))
        sources = []
        stdout.write(b"null\n")
        stdout.flush()


main()
