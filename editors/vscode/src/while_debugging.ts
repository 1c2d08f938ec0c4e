// What the editor shows of values in the code, hovers and inline values, while there is a session of ours: other debuggers
// have theirs.
import * as vscode from 'vscode';
import { type Language, codeOf } from './code';
import { expressionAt } from './expression';
import { namesShown } from './inline_names';
import { briefReasons } from './inline_reasons';

const TYPE = 'dapple';
const LANGUAGES = ['c', 'cpp', 'rust'];
/** In UTF-16 units; beyond it a source is a generated one. */
const LONGEST_SOURCE = 4_000_000;

/** The code of the document that was asked about last, as long as it stays as it is. */
let last: { document: vscode.TextDocument; version: number; code: string } | undefined;

function code(document: vscode.TextDocument): string {
    if (last?.document !== document || last.version !== document.version) {
        const text = document.getText();
        const known = text.length > LONGEST_SOURCE ? '' : codeOf(text, document.languageId as Language);
        last = { document, version: document.version, code: known };
    }
    return last.code;
}

/** The expression that a place in a document belongs to, with where it is; `undefined` if there is none. */
export function expressionUnder(document: vscode.TextDocument, position: vscode.Position): { range: vscode.Range; expression: string } | undefined {
    if (!LANGUAGES.includes(document.languageId)) {
        return undefined;
    }
    const found = expressionAt(code(document), document.offsetAt(position));
    if (found === undefined) {
        return undefined;
    }
    const range = new vscode.Range(document.positionAt(found.start), document.positionAt(found.end));
    // Over several lines, each is one of a chain of members.
    return { range, expression: document.getText(range).replace(/\s*\n\s*/g, '') };
}

class Hovers implements vscode.EvaluatableExpressionProvider {
    provideEvaluatableExpression(document: vscode.TextDocument, position: vscode.Position): vscode.EvaluatableExpression | undefined {
        const found = expressionUnder(document, position);
        return found && new vscode.EvaluatableExpression(found.range, found.expression);
    }
}

class InlineValues implements vscode.InlineValuesProvider {
    async provideInlineValues(document: vscode.TextDocument, visible: vscode.Range, context: vscode.InlineValueContext): Promise<vscode.InlineValue[]> {
        if (!vscode.workspace.getConfiguration('dapple', document).get<boolean>('inlineValues', true)) {
            return [];
        }
        const names = namesShown(code(document), document.languageId as Language, context.stoppedLocation.start.line);
        const shown = names.filter(({ line }) => line >= visible.start.line && line <= visible.end.line);
        const reasons = shown.length > 0 ? await reasonsIn(context.frameId) : new Map<string, string>();
        return shown.map(({ line, column, name }) => {
            const range = new vscode.Range(line, column, line, column + name.length);
            const reason = reasons.get(name);
            return reason === undefined ? new vscode.InlineValueVariableLookup(range, name, true) : new vscode.InlineValueText(range, `${name} = ${reason}`);
        });
    }
}

/** The variables of a frame that have a long reason in place of a value, with a short one. */
async function reasonsIn(frameId: number): Promise<Map<string, string>> {
    const session = vscode.debug.activeDebugSession;
    if (session?.type !== TYPE) {
        return new Map();
    }
    try {
        return await briefReasons(session, frameId);
    } catch {
        // The program runs again, or has ended: nothing is shown of it.
        return new Map();
    }
}

/** Registers both with the first session, until the last has ended. */
export function whileDebugging(): vscode.Disposable {
    const sessions = new Set<string>();
    let registered: vscode.Disposable | undefined;
    const update = () => {
        if (sessions.size > 0) {
            registered ??= vscode.Disposable.from(
                vscode.languages.registerEvaluatableExpressionProvider(LANGUAGES, new Hovers()),
                vscode.languages.registerInlineValuesProvider(LANGUAGES, new InlineValues()),
            );
        } else {
            registered?.dispose();
            registered = undefined;
            last = undefined;
        }
    };
    return vscode.Disposable.from(
        vscode.debug.onDidStartDebugSession((session) => {
            if (session.type === TYPE) {
                sessions.add(session.id);
                update();
            }
        }),
        vscode.debug.onDidTerminateDebugSession((session) => {
            sessions.delete(session.id);
            update();
        }),
        { dispose: () => registered?.dispose() },
    );
}
