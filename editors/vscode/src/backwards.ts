// Commands for recorded programs: who wrote a value, bookmarks, and moments to go to. VS Code has buttons of its own for steps back.
import * as vscode from 'vscode';
import { Followed } from './followed';
import { type Answer, type Asked, type Entry, type Frame, type Write, change, entries, nothing } from './last_write';
import { type Moment, type When, moments } from './moments';
import { expressionUnder } from './while_debugging';

const TYPE = 'dapple';
/** The context key for menus: the session in front can be run backwards. */
const IS_RECORDED = 'dapple.isRecorded';

/** Where a stack is searched for a source that can be read: its innermost frames. */
const MOST_SOURCES = 32;

/** What a command in the context menu of a variable is given. */
interface OfVariable {
    sessionId: string;
    container: { variablesReference?: number };
    variable: { name: string };
}

/** What the commands act on. */
interface Recorded {
    session: vscode.DebugSession;
    followed: Followed;
}

const sessions = new Map<string, Recorded>();

/** Registers the commands, and what says where they are shown. */
export function backwards(): vscode.Disposable {
    return vscode.Disposable.from(
        vscode.debug.registerDebugAdapterTrackerFactory(TYPE, { createDebugAdapterTracker: follow }),
        vscode.debug.onDidChangeActiveDebugSession(tellMenus),
        vscode.debug.onDidTerminateDebugSession((session) => {
            sessions.delete(session.id);
            tellMenus();
        }),
        vscode.commands.registerCommand('dapple.recordFromHere', told(recordFromHere)),
        vscode.commands.registerCommand('dapple.whoWroteThis', told(whoWroteThis)),
        vscode.commands.registerCommand('dapple.setBookmark', told(setBookmark)),
        vscode.commands.registerCommand('dapple.goToMoment', told(goToMoment)),
    );
}

function follow(session: vscode.DebugSession): vscode.DebugAdapterTracker {
    const followed = new Followed();
    sessions.set(session.id, { session, followed });
    return {
        onWillReceiveMessage: (message) => followed.sent(message),
        onDidSendMessage: (message) => {
            if (followed.received(message)) {
                tellMenus();
            }
        },
    };
}

function tellMenus(): void {
    const active = sessions.get(vscode.debug.activeDebugSession?.id ?? '');
    void vscode.commands.executeCommand('setContext', IS_RECORDED, active?.followed.isRecorded ?? false);
}

/** A command whose failure is shown. */
function told(command: (argument: unknown) => Promise<void>): (argument: unknown) => Promise<void> {
    return (argument) =>
        command(argument).catch((error: unknown) => {
            void vscode.window.showErrorMessage(`Dapple: ${error instanceof Error ? error.message : String(error)}`);
        });
}

/** The session in front, or that of an id. */
function recorded(id = vscode.debug.activeDebugSession?.id): Recorded {
    const found = sessions.get(id ?? '');
    if (found === undefined || !found.followed.isRecorded) {
        throw new Error('no recorded program is being debugged; launch one with "record": true, or record it from a stop on');
    }
    return found;
}

async function recordFromHere(): Promise<void> {
    const session = vscode.debug.activeDebugSession;
    if (session === undefined || !sessions.has(session.id)) {
        throw new Error('nothing is being debugged');
    }
    // A `capabilities` event says that it can run backwards.
    await session.customRequest('dapple/record', {});
    vscode.window.setStatusBarMessage('The program is recorded from here on', 5000);
}

// Who wrote a value

async function whoWroteThis(argument: unknown): Promise<void> {
    const { sessionId, container, variable } = (argument ?? {}) as Partial<OfVariable>;
    if (variable !== undefined) {
        await showWrites(recorded(sessionId), { name: variable.name, variablesReference: container?.variablesReference ?? 0 });
        return;
    }
    const session = recorded();
    const name = expressionInFront();
    if (name === undefined) {
        throw new Error('there is no variable at the cursor; select an expression');
    }
    await showWrites(session, { name, ...(await frameInFront(session)) });
}

/** What is selected in the editor, else the expression at the cursor. */
function expressionInFront(): string | undefined {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
        return undefined;
    }
    const selected = editor.document.getText(editor.selection).trim();
    return selected === '' ? expressionUnder(editor.document, editor.selection.active)?.expression : selected;
}

/** The frame that is chosen in the call stack; before VS Code 1.90 tells it, the innermost one of the thread that stopped last. */
async function frameInFront({ session, followed }: Recorded): Promise<{ frameId?: number }> {
    const { activeStackItem } = vscode.debug as { activeStackItem?: { session: vscode.DebugSession; frameId?: number } };
    if (activeStackItem?.session.id === session.id && activeStackItem.frameId !== undefined) {
        return { frameId: activeStackItem.frameId };
    }
    if (followed.thread === undefined) {
        return {};
    }
    const stack = await session.customRequest('stackTrace', { threadId: followed.thread, levels: 1 });
    const frameId = (stack as { stackFrames: { id: number }[] }).stackFrames[0]?.id;
    return frameId === undefined ? {} : { frameId };
}

/** Shows the last write, and those before as long as they are asked for. */
async function showWrites(recorded: Recorded, asked: Asked): Promise<void> {
    for (let before: number | undefined; ; ) {
        const answer = await search(recorded, before === undefined ? asked : { ...asked, before });
        if (answer === undefined) {
            return;
        }
        if (answer.write === undefined) {
            void vscode.window.showInformationMessage(nothing(asked.name, answer, before !== undefined));
            return;
        }
        const chosen = await choose(recorded.session, answer.write);
        switch (chosen?.choice.kind) {
            case undefined:
                return;
            case 'before':
                before = chosen.choice.bookmark;
                break;
            case 'moment':
                await recorded.session.customRequest('dapple/goToMoment', { to: chosen.choice.bookmark });
                return;
            case 'frame':
                await open(recorded.session, chosen.choice.frame);
                return;
        }
    }
}

/** Asks for a write; `undefined` if the user has cancelled that. */
async function search({ session, followed }: Recorded, asked: Asked & { before?: number }): Promise<Answer | undefined> {
    const options = { location: vscode.ProgressLocation.Notification, title: `Who wrote ${asked.name}?`, cancellable: true };
    return await vscode.window.withProgress(options, async (_, token) => {
        followed.onSearch = (seq) => {
            const cancel = () => void session.customRequest('cancel', { requestId: seq }).then(undefined, () => undefined);
            if (token.isCancellationRequested) {
                cancel();
            } else {
                token.onCancellationRequested(cancel);
            }
        };
        try {
            const answer = (await session.customRequest('dapple/who', asked)) as Answer;
            return token.isCancellationRequested ? undefined : answer;
        } catch (error) {
            if (token.isCancellationRequested) {
                return undefined;
            }
            throw error;
        } finally {
            followed.onSearch = undefined;
        }
    });
}

/** Lists the stack of a write, with the statement in the innermost frame whose source is here. */
async function choose(session: vscode.DebugSession, write: Write): Promise<Entry | undefined> {
    const { moves, frames } = entries(write);
    const own = await firstWithSource(session, write.stack.slice(0, MOST_SOURCES));
    const shown = frames.map((entry, index) => (index === own?.index ? { ...entry, detail: own.statement } : entry));
    const picker = vscode.window.createQuickPick<Entry & vscode.QuickPickItem>();
    picker.title = change(write);
    picker.placeholder = 'A frame opens its source';
    const separator = { label: 'Stack', kind: vscode.QuickPickItemKind.Separator } as unknown as Entry & vscode.QuickPickItem;
    picker.items = [...moves, separator, ...shown];
    const first = shown[own?.index ?? 0];
    picker.activeItems = first === undefined ? [] : [first];
    return await picked(picker);
}

/** The first frame whose source can be read, and its line there. */
async function firstWithSource(session: vscode.DebugSession, stack: Frame[]): Promise<{ index: number; statement: string } | undefined> {
    for (const [index, frame] of stack.entries()) {
        try {
            const document = await documentOf(session, frame);
            if (document !== undefined && frame.line <= document.lineCount) {
                return { index, statement: document.lineAt(frame.line - 1).text.trim() };
            }
        } catch {
            // The source isn't on this machine.
        }
    }
    return undefined;
}

async function documentOf(session: vscode.DebugSession, { source, line }: Frame): Promise<vscode.TextDocument | undefined> {
    const isKnown = source?.path !== undefined || (source?.sourceReference ?? 0) > 0;
    if (source === undefined || !isKnown || line < 1) {
        return undefined;
    }
    return await vscode.workspace.openTextDocument(vscode.debug.asDebugSourceUri(source, session));
}

async function open(session: vscode.DebugSession, frame: Frame): Promise<void> {
    const document = await documentOf(session, frame);
    if (document === undefined) {
        throw new Error(`the source of ${frame.name} is not known`);
    }
    const start = new vscode.Position(frame.line - 1, 0);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(start, start) });
}

/** Shows a picker until something is chosen or it is closed. */
async function picked<T extends vscode.QuickPickItem>(picker: vscode.QuickPick<T>): Promise<T | undefined> {
    try {
        return await new Promise((resolve) => {
            picker.onDidAccept(() => resolve(picker.selectedItems[0]));
            picker.onDidHide(() => resolve(undefined));
            picker.show();
        });
    } finally {
        picker.dispose();
    }
}

// Moments

async function setBookmark(): Promise<void> {
    const { session } = recorded();
    const name = await vscode.window.showInputBox({ title: 'Set Bookmark Here', placeHolder: 'Its name; may be empty' });
    if (name === undefined) {
        return;
    }
    const { bookmark } = (await session.customRequest('dapple/setBookmark', { name: name.trim() })) as { bookmark: number };
    vscode.window.setStatusBarMessage(`Bookmark ${bookmark} is set`, 5000);
}

type MomentItem = Moment & vscode.QuickPickItem;

async function goToMoment(): Promise<void> {
    const { session } = recorded();
    const remove: vscode.QuickInputButton = { iconPath: new vscode.ThemeIcon('trash'), tooltip: 'Remove the Bookmark' };
    const list = async (): Promise<MomentItem[]> => {
        const when = (await session.customRequest('dapple/when', {})) as When;
        return moments(when).map((moment) => ({ ...moment, buttons: typeof moment.to === 'number' ? [remove] : [] }));
    };
    const picker = vscode.window.createQuickPick<MomentItem>();
    picker.title = 'Go to Moment';
    picker.matchOnDescription = true;
    picker.items = await list();
    picker.onDidTriggerItemButton(
        told(async (event) => {
            const { item } = event as vscode.QuickPickItemButtonEvent<MomentItem>;
            await session.customRequest('dapple/removeBookmark', { bookmark: item.to });
            picker.items = await list();
        }),
    );
    const chosen = await picked(picker);
    if (chosen !== undefined) {
        await session.customRequest('dapple/goToMoment', { to: chosen.to });
    }
}
