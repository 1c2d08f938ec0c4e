// The names whose values are shown beside a function's lines, from its head to where it has stopped.
import type { Language } from './code';
import { KEYWORDS, type Range } from './expression';

/** Beyond these, nothing is looked for: it would not be seen, either. */
const MOST_LINES = 1000;
const LONGEST_LINE = 1000;
const OBJECT = new Set(['self', 'this']);
/** In lines. */
const LONGEST_HEAD = 40;

/** The names on the lines from the stopped line's function's head to the stopped line; lines count from 0. */
export function namesShown(code: string, language: Language, stopped: number): { line: number; name: string; column: number }[] {
    const lines = code.split('\n');
    const first = functionHead(lines, language, stopped);
    const shown = [];
    // A function's head looks like a declaration with an initialiser.
    let isInBody = false;
    for (let line = first; line <= stopped && line < lines.length; line += 1) {
        const seen = new Set<string>();
        const brace = (lines[line] ?? '').indexOf('{');
        const body = isInBody ? 0 : brace < 0 ? Infinity : brace;
        isInBody ||= brace >= 0;
        for (const { start, end } of names(lines[line] ?? '', language === 'cpp' ? body : Infinity)) {
            const name = (lines[line] ?? '').slice(start, end);
            if (!seen.has(name)) {
                seen.add(name);
                shown.push({ line, name, column: start });
            }
        }
    }
    return shown;
}

/** A statement as far as a name that it declares: a type, and no word that an expression follows. */
const DECLARATION = /(?:^|[;{}])\s*(?!(?:return|else|new|delete|throw|goto|case|co_\w+|do|not)\b)(?:(?:const|constexpr|static|thread_local|unsigned|signed|struct|typename)\s+)*(?:::)?[\p{L}_][\p{L}\p{N}_:]*(?:<[^;{}()]*>)?(?:\s+const)?(?:\s+|\s*[*&]{1,2}\s*)$/u;

/** What may be a variable on a line: no member, no part of a path, nothing that is called. From `body` on, C++ may declare one that looks so. */
function* names(line: string, body: number): Generator<Range> {
    if (line.length > LONGEST_LINE || /^\s*#/.test(line)) {
        return;
    }
    for (const found of line.matchAll(/(?<![\p{L}\p{N}_])[\p{L}_][\p{L}\p{N}_]*/gu)) {
        const [start, end] = [found.index, found.index + found[0].length];
        const [before, behind] = [line.slice(0, start).trimEnd(), line.slice(end).trimStart()];
        const isMember = /(?:->|::|(?<!\.)\.)$/.test(before);
        const isDeclared = start > body && behind.startsWith('(') && DECLARATION.test(line.slice(0, start));
        const isCalled = !isDeclared && /^(?:\(|::|!(?!=))/.test(behind);
        // Where a method takes a member of its object, that is not about all of the object.
        const isOwner = OBJECT.has(found[0]) && /^(?:\.|->)/.test(behind);
        if (!isMember && !isCalled && !isOwner && !KEYWORDS.has(found[0])) {
            yield { start, end };
        }
    }
}

/**
 * The line on which the head of the function around a line begins, or that line itself where none is found. A function is
 * told by the text before its opening brace: in Rust that holds `fn`, in C and C++ it ends in a parameter list, and
 * whatever may follow that.
 */
export function functionHead(lines: string[], language: Language, stopped: number): number {
    for (const { index } of (lines[stopped] ?? '').matchAll(/\{/g)) {
        const head = headBefore(lines, stopped, index);
        if (isFunction(head.text, language)) {
            return head.line;
        }
    }
    let closed = 0;
    for (let line = stopped - 1; line >= Math.max(0, stopped - MOST_LINES); line -= 1) {
        const text = lines[line] ?? '';
        for (let at = text.length - 1; at >= 0; at -= 1) {
            if (text[at] === '}') {
                closed += 1;
            } else if (text[at] === '{' && closed > 0) {
                closed -= 1;
            } else if (text[at] === '{') {
                const head = headBefore(lines, line, at);
                if (isFunction(head.text, language)) {
                    return head.line;
                }
            }
        }
    }
    return stopped;
}

/** The text between the last statement's end and a brace, and the line on which it begins. */
function headBefore(lines: string[], line: number, brace: number): { text: string; line: number } {
    let text = (lines[line] ?? '').slice(0, brace);
    let first = line;
    while (!/[;{}]/.test(text) && first > 0 && line - first < LONGEST_HEAD && !/^\s*#/.test(lines[first - 1] ?? '')) {
        first -= 1;
        text = `${lines[first]}\n${text}`;
    }
    const end = Math.max(text.lastIndexOf(';'), text.lastIndexOf('{'), text.lastIndexOf('}')) + 1;
    const head = text.slice(end);
    const skipped = text.slice(0, end).split('\n').length - 1;
    const blank = /^\s*/.exec(head)?.[0] ?? '';
    return { text: head.trim(), line: Math.min(line, first + skipped + blank.split('\n').length - 1) };
}

function isFunction(head: string, language: Language): boolean {
    if (language === 'rust') {
        return /(?<![\p{L}\p{N}_])fn\s+(?:r#)?[\p{L}_]/u.test(head);
    }
    const isStatement = /^(?:if|else|for|while|do|switch|case|default|try|catch|return)\b/.test(head);
    const [opened, closed] = [head.split('(').length, head.split(')').length];
    return !isStatement && opened > 1 && opened === closed && !/(?<![=!<>])=(?!=)[^[]*$/.test(head);
}
