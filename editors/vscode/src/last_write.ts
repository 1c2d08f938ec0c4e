// Who wrote a value: the request `dapple/who`, and how its answer is listed. Knows nothing of VS Code.

/** Which data: a variable in its container, or an expression in a frame. */
export interface Asked {
    name: string;
    variablesReference?: number;
    frameId?: number;
}

/** A source as the protocol has it. */
export interface Source {
    name?: string;
    path?: string;
    sourceReference?: number;
}

export interface Frame {
    name: string;
    source?: Source;
    /** Counted from 1; 0 where it is unknown. */
    line: number;
    instructionPointerReference: string;
}

export interface Write {
    name: string;
    /** Absent: it had none, because its function had just been called. */
    before?: string;
    after: string;
    systemCall?: string;
    /** The innermost frame first. */
    stack: Frame[];
    /** Where `dapple/goToMoment` leads to this moment. */
    bookmark?: number;
}

export interface Answer {
    text: string;
    /** Absent: nothing has written it. */
    write?: Write;
}

export type Choice =
    | { kind: 'frame'; frame: Frame }
    | { kind: 'moment'; bookmark: number }
    | { kind: 'before'; bookmark: number };

export interface Entry {
    label: string;
    description: string;
    choice: Choice;
}

/** The write in a line: `limit: 10 → 0`. */
export function change({ name, before, after, systemCall }: Write): string {
    const by = systemCall === undefined ? '' : ` (by the system call ${systemCall})`;
    if (before === undefined) {
        return `${name}: ${after}, its first value${by}`;
    }
    return before === after ? `${name}: ${after}, as before${by}` : `${name}: ${before} → ${after}${by}`;
}

/** What can be done with a write: the moment, the write before, and each frame. */
export function entries({ bookmark, stack }: Write): { moves: Entry[]; frames: Entry[] } {
    const moves: Entry[] = [];
    if (bookmark !== undefined) {
        moves.push(
            { label: '$(debug-reverse-continue) Go to This Moment', description: '', choice: { kind: 'moment', bookmark } },
            { label: '$(history) The Write Before', description: '', choice: { kind: 'before', bookmark } },
        );
    }
    const frames = stack.map((frame): Entry => ({ label: frame.name, description: place(frame), choice: { kind: 'frame', frame } }));
    return { moves, frames };
}

/** `overrun.c:14`; the address where no line is known. */
function place({ source, line, instructionPointerReference }: Frame): string {
    const file = source?.name ?? source?.path?.split('/').at(-1);
    return file === undefined || line < 1 ? instructionPointerReference : `${file}:${line}`;
}

/** What is said where there is no write. */
export function nothing(name: string, { text }: Answer, isBeforeAnother: boolean): string {
    return `${name}: ${isBeforeAnother ? 'before that, ' : ''}${text}`;
}
