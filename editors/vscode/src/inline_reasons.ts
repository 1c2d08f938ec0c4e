// Reasons for values that can't be shown, as inline values have them: beside code, a long one would be all that is seen. The
// variable itself, in its view and under the pointer, has the whole reason.

/** In characters, brackets and all. */
const MOST = 30;
/** Values come in colours. */
const STYLE = /\u001b\[[0-9;]*m/g;

/** A value that is a long reason, shortened as the adapter shortens those in summaries; `undefined` for any other value. */
export function briefReason(value: string): string | undefined {
    const plain = value.replace(STYLE, '');
    const length = [...plain].length;
    if (length <= MOST || !plain.startsWith('<') || plain.indexOf('>') !== plain.length - 1) {
        return undefined;
    }
    let text = plain.slice(1, -1).replace(/ at 0x[0-9a-f]+$/i, '');
    const ends = [': ', '; ', ', '].map((end) => text.indexOf(end)).filter((end) => end >= 0);
    text = text.slice(0, Math.min(text.length, ...ends));
    const characters = [...text];
    // Two brackets, and an ellipsis where it is cut.
    if (characters.length <= MOST - 2) {
        return `<${text}>`;
    }
    const room = characters.slice(0, MOST - 3).join('');
    const end = characters[MOST - 3] === ' ' ? room.length : room.lastIndexOf(' ');
    return `<${end < 0 ? room : room.slice(0, end)}…>`;
}

/** What is needed of a debug session: its requests. */
export interface Requests {
    customRequest(command: string, args: object): Thenable<unknown>;
}

interface Scope {
    variablesReference: number;
    expensive: boolean;
}

interface Variable {
    name: string;
    value: string;
}

/** The variables of a frame whose values are long reasons, with the short ones. Those that the frame's code can name: not of scopes that are expensive. */
export async function briefReasons(session: Requests, frameId: number): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const { scopes } = (await session.customRequest('scopes', { frameId })) as { scopes: Scope[] };
    for (const { variablesReference } of scopes.filter((scope) => !scope.expensive)) {
        const answer = (await session.customRequest('variables', { variablesReference })) as { variables: Variable[] };
        for (const { name, value } of answer.variables) {
            const brief = briefReason(value);
            if (brief === undefined) {
                // One that comes later hides it.
                found.delete(name);
            } else {
                found.set(name, brief);
            }
        }
    }
    return found;
}
