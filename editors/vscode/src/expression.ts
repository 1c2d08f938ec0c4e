// The expression that a place in the code belongs to, for hovers: at `next` in `self.items[0].next` all of it, at `items` only
// `self.items`. What would call something is none.

const PART = /[\p{L}\p{N}_]/u;

/** Words that name no value. */
export const KEYWORDS: ReadonlySet<string> = new Set(
    ('as async auto await bool break case catch char class const const_cast constexpr continue crate decltype default delete do double dyn ' +
        'dynamic_cast else enum explicit export extern false final float fn for friend goto if impl in inline int let long loop match mod move ' +
        'mut mutable namespace new noexcept nullptr operator override private protected pub ref register reinterpret_cast return short ' +
        'signed sizeof static static_assert static_cast struct super switch template throw trait true try type typedef typename union ' +
        'unsafe unsigned use using virtual void volatile where while yield').split(' '),
);

export interface Range {
    start: number;
    end: number;
}

/** The expression around the name at `at`, in code as `codeOf` gives it. */
export function expressionAt(code: string, at: number): Range | undefined {
    const word = wordAt(code, at);
    if (word === undefined) {
        return undefined;
    }
    const text = code.slice(word.start, word.end);
    const isMacro = /^!(?!=)/.test(code.slice(word.end, word.end + 2));
    if (KEYWORDS.has(text) || isMacro) {
        return undefined;
    }
    const start = startOfChain(code, word.start);
    if (start === undefined) {
        return undefined;
    }
    // A number can be a tuple's field, and nothing by itself.
    return /\p{N}/u.test(characterAt(code, start)) ? undefined : { start, end: word.end };
}

function wordAt(code: string, at: number): Range | undefined {
    let [start, end] = [at, at];
    while (start > 0 && PART.test(characterBefore(code, start))) {
        start -= characterBefore(code, start).length;
    }
    while (end < code.length && PART.test(characterAt(code, end))) {
        end += characterAt(code, end).length;
    }
    if (start === end) {
        return undefined;
    }
    return { start: withRaw(code, start), end };
}

function characterAt(code: string, at: number): string {
    return String.fromCodePoint(code.codePointAt(at) ?? 0);
}

function characterBefore(code: string, at: number): string {
    const low = code.charCodeAt(at - 1);
    return low >= 0xdc00 && low < 0xe000 ? code.slice(at - 2, at) : code.slice(at - 1, at);
}

/** A raw identifier of Rust, `r#type`, begins before its mark. */
function withRaw(code: string, start: number): number {
    return /(?<![\p{L}\p{N}_])r#$/u.test(code.slice(Math.max(0, start - 4), start)) ? start - 2 : start;
}

/** Where what the name at `start` is a member of begins; `undefined` if that can't be told, or calls something. */
function startOfChain(code: string, start: number): number | undefined {
    for (;;) {
        const before = skipBlanks(code, start);
        const link = ['->', '::', '.'].find((one) => code.endsWith(one, before));
        if (link === undefined || code.endsWith('..', before)) {
            return start;
        }
        const owner = skipBlanks(code, before - link.length);
        const first = startOfOperand(code, owner);
        if (first === undefined) {
            // A path may begin at the root: `::name`.
            return link === '::' && !/[>\])]/.test(code[owner - 1] ?? '') ? before - 2 : undefined;
        }
        start = first;
    }
}

function skipBlanks(code: string, end: number): number {
    while (end > 0 && /\s/.test(code[end - 1] ?? '')) {
        end -= 1;
    }
    return end;
}

/** Where the operand begins that ends at `end`: a name, with indices behind it, or something in parentheses. */
function startOfOperand(code: string, end: number): number | undefined {
    const last = code[end - 1] ?? '';
    if (last === ']') {
        const open = opening(code, end, '[', ']');
        return open === undefined ? undefined : startOfOperand(code, skipBlanks(code, open));
    }
    if (last === ')') {
        const open = opening(code, end, '(', ')');
        const isCall = open !== undefined && /[\p{L}\p{N}_>)\]!]/u.test(code[open - 1] ?? '');
        const holdsCall = open !== undefined && /[\p{L}\p{N}_>)\]]\(/u.test(code.slice(open + 1, end));
        return isCall || holdsCall ? undefined : open;
    }
    const word = wordAt(code, end);
    return word !== undefined && word.end === end && !KEYWORDS_OF_CONTROL.has(code.slice(word.start, end)) ? word.start : undefined;
}

/** What may stand before a link and is no operand. */
const KEYWORDS_OF_CONTROL = new Set(['return', 'in', 'match', 'if', 'while', 'else']);

function opening(code: string, end: number, open: string, close: string): number | undefined {
    let depth = 0;
    for (let at = end - 1; at >= 0; at -= 1) {
        if (code[at] === close) {
            depth += 1;
        } else if (code[at] === open) {
            depth -= 1;
            if (depth === 0) {
                return at;
            }
        }
    }
    return undefined;
}
