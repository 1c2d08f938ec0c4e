// A source's text without what is no code: comments, strings, characters and lifetimes are blanks of the same length, so
// that every place stays where it was. Names in a Rust format string's braces are code.

export type Language = 'c' | 'cpp' | 'rust';

/** What one of these can begin, in the order in which they are tried. */
const CANDIDATE: Record<Language, RegExp> = {
    c: /\/\/|\/\*|"|'/g,
    cpp: /\/\/|\/\*|\b(?:u8|[uUL])?R"|"|'/g,
    rust: /\/\/|\/\*|\b(?:br|cr|r)#*"|\b[bc]"|"|\bb'|'/g,
};

/** The text as code. */
export function codeOf(text: string, language: Language): string {
    const parts: string[] = [];
    const candidate = new RegExp(CANDIDATE[language]);
    let at = 0;
    for (let found = candidate.exec(text); found !== null; found = candidate.exec(text)) {
        const end = endOf(text, found.index, found[0], language);
        const piece = text.slice(found.index, end);
        const isFormat = language === 'rust' && /^r?#*"/.test(piece);
        parts.push(text.slice(at, found.index), isFormat ? withNames(piece) : blank(piece));
        at = end;
        candidate.lastIndex = Math.max(end, found.index + 1);
    }
    parts.push(text.slice(at));
    return parts.join('');
}

function blank(piece: string): string {
    return piece.replace(/[^\n\r]/g, ' ');
}

/** A string with only the names that it takes from its surroundings: `{name}`, `{name:?}`, not `{{name}}`. */
function withNames(piece: string): string {
    let shown = blank(piece);
    for (const { 0: whole, 1: name, index } of piece.matchAll(/\{\{|\{([\p{L}_][\p{L}\p{N}_]*)(?=[:}])/gu)) {
        if (name !== undefined) {
            const start = index + whole.length - name.length;
            shown = shown.slice(0, start) + name + shown.slice(start + name.length);
        }
    }
    return shown;
}

/** Where that ends which begins with `opening` at `start`: `start` itself where nothing does. */
function endOf(text: string, start: number, opening: string, language: Language): number {
    const behind = start + opening.length;
    if (opening === '//') {
        return endOfLine(text, behind, language);
    }
    if (opening === '/*') {
        return endOfComment(text, behind, language);
    }
    if (opening.endsWith("'")) {
        return endOfCharacter(text, start, behind, language);
    }
    if (language === 'cpp' && opening.endsWith('R"')) {
        const delimiter = /^([^\s()\\]{0,16})\(/.exec(text.slice(behind, behind + 17))?.[1];
        return delimiter === undefined ? behind : after(text, `)${delimiter}"`, behind);
    }
    if (language === 'rust' && opening.includes('r')) {
        return after(text, `"${'#'.repeat(opening.length - opening.indexOf('r') - 2)}`, behind);
    }
    return endOfString(text, behind, language);
}

function after(text: string, end: string, from: number): number {
    const at = text.indexOf(end, from);
    return at < 0 ? text.length : at + end.length;
}

/** In C and C++ a backslash at its end carries a comment on. */
function endOfLine(text: string, from: number, language: Language): number {
    let end = from;
    do {
        end = text.indexOf('\n', end);
        if (end < 0) {
            return text.length;
        }
        const last = text[end - 1] === '\r' ? end - 2 : end - 1;
        if (language === 'rust' || text[last] !== '\\') {
            return end;
        }
        end += 1;
    } while (true);
}

/** In Rust they nest. */
function endOfComment(text: string, from: number, language: Language): number {
    if (language !== 'rust') {
        return after(text, '*/', from);
    }
    const mark = /\/\*|\*\//g;
    mark.lastIndex = from;
    for (let depth = 1; depth > 0; ) {
        const found = mark.exec(text);
        if (found === null) {
            return text.length;
        }
        depth += found[0] === '/*' ? 1 : -1;
    }
    return mark.lastIndex;
}

/** A character, a lifetime, or the digit separator of C++ and C23, which begins nothing. */
function endOfCharacter(text: string, start: number, behind: number, language: Language): number {
    if (language === 'rust') {
        const rest = text.slice(behind, behind + 16);
        const character = /^(?:\\(?:u\{[^}]{0,8}\}|x..|.)|[^\\'\n])'/u.exec(rest);
        if (character !== null) {
            return behind + character[0].length;
        }
        const lifetime = /^[\p{L}_][\p{L}\p{N}_]*/u.exec(text.slice(behind, behind + 100));
        return behind + (lifetime?.[0].length ?? 0);
    }
    if (/[0-9a-fA-F]/.test(text[start - 1] ?? '') && /[\p{L}\p{N}_]*$/u.exec(text.slice(Math.max(0, start - 64), start))?.[0].match(/^\d/)) {
        return start;
    }
    const character = /^(?:\\[^\n]|[^\\'\n])*'?/.exec(text.slice(behind, behind + 64));
    return behind + (character?.[0].length ?? 0);
}

/** Strings of C and C++ end with their line, if nothing else ends them. */
function endOfString(text: string, from: number, language: Language): number {
    const mark = language === 'rust' ? /\\[^]|"/g : /\\(?:\r\n|[^])|"|\n/g;
    mark.lastIndex = from;
    for (let found = mark.exec(text); found !== null; found = mark.exec(text)) {
        if (found[0] === '"') {
            return mark.lastIndex;
        }
        if (found[0] === '\n') {
            return found.index;
        }
    }
    return text.length;
}
