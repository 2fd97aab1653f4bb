"""Texts of the grammars that ship, and texts that are not of them."""

from __future__ import annotations

from pathlib import Path

GRAMMARS = Path(__file__).resolve().parents[2] / "native" / "grammars"

GOOD = {
    "json": [
        '{"name": "Ada", "age": 36, "tags": ["a", "b\\n\\u00e9"], "ok": true, "none": null}',
        '[1, -0.5e+10, 0, 1E5, [], {}, [[]], "", "\\"\\\\\\/\\b"]',
        ' \t\r\n"owl 🦉 \x7f" ',
        "false",
    ],
    "arithmetic": ["1 + 2 * (x - 3.5e2) / f(a, b^2) % 7", "-x^-2^3", "+-1", "g()", "(.5)", "1.*2"],
    "function_call": [
        'weather.forecast(city="Bath", days=3, units=null, near=["sea", "hills"])',
        "f()",
        "f(a={'x': -1.5, \"y\": [True, False, None,],}, true=false)",
        " f . g ( null = null ) ",
        "f(a='it\\'s é')",
    ],
    "sql_select": [
        "select a, b as c, t.*, count(*) from t, u v left outer join w on t.id = w.id where a = 1 and not b like 'x%'",
        "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 10) SELECT n FROM r;",
        (
            "select distinct x from (select 1) y group by x having sum(z) > 2 order by x desc nulls last, 2 "
            "limit 10 offset 5"
        ),
        (
            "select case when a is not null then 'it''s' else \"b\" end, cast(x as decimal(10, 2)), exists "
            "(select 1) from t"
        ),
        "select case x when 1 then 2 end from t join u using (a, b) where c in (1, 2) or d not in (select 3) -- end",
        (
            "values (1, 'a'), (2, 'b') union select first, last from nulls /* soft */ where a between 1 and 2 "
            "and b not between ? and :c"
        ),
        (
            "select -a + +b || c * d / e % f from t cross join u full join v on 1 <> 2 where x != 3 and y >= 4 "
            "order by first limit 1"
        ),
    ],
    "c11": [
        "int while_;",
        "int main(void) { return 0; }",
        "#include <stdio.h>\n#define F(x) \\\n  (x)\nstatic const T *p, q[3] = {1, [2] = 3}; /* a */ // b\\\n more\n",
        (
            "typedef struct node { struct node *next; unsigned int bits : 3, : 2; T value; union { int a; float "
            "b; }; } node_t, *node_p;"
        ),
        (
            "enum color { RED, GREEN = 2, BLUE, }; extern enum color c(T, U *u, int (*f)(const char *, ...), "
            "char *const argv[static 3]);"
        ),
        (
            "void f(void) { T x = 1; T *y = &x, *z; T *const w = y; T const v = 2; for (T i = 0; i < 3; i++) x "
            "+= y[i] * z->a.b; }"
        ),
        (
            "int g(int n) { if (n) if (n > 1) return (T) n; else n = (T *) p - (U)(V) q; else do { n--; "
            "continue; } while (n); return n; }"
        ),
        'void h() { switch (x) { case 1: case \'a\': y = x ? "s" "t" : L"u"; break; default: goto end; } end: ; }',
        (
            "double d = 1e5, e = .5f, k = 0x1p-3L; unsigned long long m = 0xFFull, o = 017, z = 0; char *s = "
            'u8"\\x41\\0\\u00e9";'
        ),
        (
            "void v(void) { T *a = {0}; x = sizeof(int) + sizeof(T *) + sizeof x + _Alignof(T); va_arg(ap, T *); "
            "(void) x; p = (struct s){.a = 1}; }"
        ),
        (
            '_Static_assert(sizeof(int) >= 4, "int"); _Alignas(16) static _Thread_local int t; inline _Noreturn '
            "void u(void); _Atomic(int) w;"
        ),
        (
            "int a = _Generic(x, int: 1, T *: 2, default: 3); int *(*fp[2])(void); int b = (a << 2 | ~a ^ 1) >= "
            "!a && a != 3 || a % 2;"
        ),
        "void i(void) { a = (T) ++b; c = (T) --d[1].e + (T) ++(*p) * (T) --*q; g((T)++h, (U)--(i)); (x)++; (y)--, z; }",
        (
            "void j(void) { p = (T *(*)(void)) q; n = sizeof(T *[3]) + sizeof(T **(*)[4]); "
            "k((T *(*(*)(int))(void)) r, (T (*[3])(int)) s); a * (*b); a * (*b)(c); }"
        ),
        '_Atomic(T) a; _Atomic (int) b; _Atomic int c; void f(void) { _Atomic(T *) a; } _Static_assert(1, "a" "b");',
        "int \\u00e9t\\U0001F600 = 1 \\\n + 2; char *s = \"a\\\nb\", c = '\\\n'; int long_\\\nname\\\n;",
        "int f(a, b) int a; register const T *b, c[]; { return a; } T g() { }",
        "void w(void) { ; { T (*fp)(int) = g; T x[3], *q; } while (1) { x <<= 1; --*p++; (T (*)(int)) p; } return; }",
    ],
}

BAD = {
    "json": [
        "", "{", '{"a" 1}', "[1,]", "01", "1.", "'a'", '"\t"', '"\\x"', "nul", "1 2", "\x0c1", "+1", "[", "\ufeff1",
        "1e",
    ],
    "arithmetic": ["", "1 +", "* 2", "(1", "1 2", "f(,)", "f(a,)", "a b", "1..2", "()", "2e"],
    "function_call": [
        "", "f", "f(1)", "f(a)", "f(a=b)", "f(a=1,)", ".f()", "f(a==1)", "f() g()", "f(a=[,])", "f(True=1)",
    ],
    "sql_select": [
        "", "select", "select from t", "select a from", "select a b c", "select 1 where", "insert into t", "select a,",
        "select (1", "select 1; select 2", "select case end", "select a from t join u on", "select 1 limit",
        "select not", "values ()", "values (1) order by 1", "select 'a", "select 1 union", "select a in ()",
        "selecta from t", "\u017felect a from t", "select a from t where a li\u212ae b",
    ],
    "c11": [
        "int while;", "x", "int f(", "void f(void) { x = a) }", "void f(void) { x = a] }", "int 1;", "int x = ;",
        "struct { };", "int x y;", "void f(void) { if (x) else y; }", "static x;;int", "int f(x) int x {}", "int a[; ",
        "void f(void) { T x y; }", "char c = 'ab;", "void f(void) { a b c; }", "void f(void) { f(x) y; }",
        "void f(void) { return }", "int x = 08;", "float f = 1e;", "int int_ int;", "void f(void) { case: ; }",
        "enum { };", "int x = 1 +;", "/* ", "void f(void) { x = (int) ; }", "void f(void) { a ++ b; }",
        "void f(void) { a[1] -- b; }", "typedef;", "void f(void) { do x; while (y) }",
    ],
}  # fmt: skip


def text_of(name: str) -> str:
    return (GRAMMARS / f"{name}.lark").read_text("utf-8")
