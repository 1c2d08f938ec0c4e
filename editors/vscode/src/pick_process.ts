// Lets the user choose a process to attach to.
import { basename } from 'node:path';
import * as vscode from 'vscode';
import { processes } from './processes';

/** The id of the chosen process as a text, which is what VS Code puts in place of `${command:pickProcess}`. */
export async function pickProcess(): Promise<string | undefined> {
    const listed = async () => {
        const found = await processes('/proc', process.getuid?.() ?? -1, [process.pid]);
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
export async function attach(): Promise<void> {
    const pid = await pickProcess();
    if (pid !== undefined) {
        const folder = vscode.workspace.workspaceFolders?.[0];
        await vscode.debug.startDebugging(folder, { type: 'dapple', request: 'attach', name: `Attach to ${pid}`, pid });
    }
}
