// Lets the user choose a process to attach to.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { problem } from './adapter';
import { placeOf, processesAt } from './elsewhere';
import { type Process, processes } from './processes';
import type { AdapterFactory } from './session';

/**
 * The id of the chosen process as a text, which is what VS Code puts in place of `${command:pickProcess}`. The configuration with that text, which VS Code
 * gives, may say that the process is elsewhere.
 */
export async function pickProcess(adapters: AdapterFactory, configuration?: unknown): Promise<string | undefined> {
    const place = placeOf((configuration as { on?: unknown } | null | undefined)?.on);
    const found = place === undefined ? processes('/proc', process.getuid?.() ?? -1, [process.pid]) : elsewhere(adapters, place);
    try {
        return await choose(found);
    } catch (error) {
        void vscode.window.showErrorMessage(`Dapple: ${error instanceof Error ? error.message : String(error)}`);
        return undefined;
    }
}

/** The processes of another machine. */
async function elsewhere(adapters: AdapterFactory, place: string): Promise<Process[]> {
    const located = await adapters.locate(vscode.workspace.workspaceFolders?.[0]);
    if (located.kind !== 'found') {
        throw new Error(problem(located));
    }
    return await processesAt(located.path, place);
}

async function choose(processesFound: Promise<Process[]>): Promise<string | undefined> {
    const listed = async () => {
        const found = await processesFound;
        return found.map((one) => ({
            label: basename(one.name),
            description: String(one.pid),
            detail: one.commandLine,
        }));
    };
    const chosen = await vscode.window.showQuickPick(listed(), {
        title: 'Attach to a Process',
        placeHolder: 'Name, id or a part of the command line; the newest process is first',
        matchOnDescription: true,
        matchOnDetail: true,
    });
    return chosen?.description;
}

/** Picks a process and debugs it. */
export async function attach(adapters: AdapterFactory): Promise<void> {
    const pid = await pickProcess(adapters);
    if (pid !== undefined) {
        const folder = vscode.workspace.workspaceFolders?.[0];
        await vscode.debug.startDebugging(folder, { type: 'dapple', request: 'attach', name: `Attach to ${pid}`, pid });
    }
}
