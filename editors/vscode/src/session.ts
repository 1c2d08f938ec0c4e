// Starts the debug adapter for a session, and says what to do when there is none.
import { homedir } from 'node:os';
import { resolve } from 'node:path';
import * as vscode from 'vscode';
import { adapterArguments } from './elsewhere';
import { type Located, locate, problem, withVariables } from './adapter';

/** How the adapter is installed from a checkout of its sources. */
const INSTALL = 'cargo install --locked --path crates/cli';

export class AdapterFactory implements vscode.DebugAdapterDescriptorFactory {
    constructor(private readonly extension: string) {}

    /** Finds the adapter as the settings of this folder say. */
    async locate(folder: vscode.WorkspaceFolder | undefined): Promise<Located> {
        return await locate({
            setting: pathSetting('path', folder),
            extension: this.extension,
            env: process.env,
            home: homedir(),
            platform: process.platform,
            arch: process.arch,
        });
    }

    async createDebugAdapterDescriptor(session: vscode.DebugSession): Promise<vscode.DebugAdapterDescriptor> {
        const folder = session.workspaceFolder;
        const located = await this.locate(folder);
        if (located.kind !== 'found') {
            throw new Error(problem(located));
        }
        const log = pathSetting('log', folder);
        const cwd = folder?.uri.fsPath;
        const logFile = log === '' ? undefined : resolve(cwd ?? homedir(), log);
        // Where a configuration has no `cwd`, the program runs where the adapter does.
        return new vscode.DebugAdapterExecutable(located.path, adapterArguments(session.configuration['on'], logFile), cwd === undefined ? {} : { cwd });
    }
}

function pathSetting(name: 'path' | 'log', folder: vscode.WorkspaceFolder | undefined): string {
    const value = vscode.workspace.getConfiguration('dapple', folder).get<string>(name, '');
    return withVariables(value, { home: homedir(), workspace: folder?.uri.fsPath, env: process.env });
}

/** Says that there is no adapter, with buttons for what helps. */
export async function offerRemedy(located: Exclude<Located, { kind: 'found' }>): Promise<void> {
    const setting = 'Open the Setting';
    const install = 'How to Install';
    const buttons = located.kind === 'unsupported' ? [] : [setting, install];
    const chosen = await vscode.window.showErrorMessage(problem(located), ...buttons);
    if (chosen === setting) {
        // The adapter runs where the extension does; `openSettings` shows the settings of the user's own machine.
        const command = vscode.env.remoteName === undefined ? 'openSettings' : 'openRemoteSettings';
        await vscode.commands.executeCommand(`workbench.action.${command}`, { query: 'dapple.path' });
    } else if (chosen === install) {
        await showInstallation();
    }
}

/** The installation is from a checkout, so that it can be run where one is open, and copied anywhere. */
async function showInstallation(): Promise<void> {
    const checkout = await findCheckout();
    const run = 'Run It Here';
    const copy = 'Copy the Command';
    const message = checkout === undefined
        ? `In a checkout of Dapple's sources, run: ${INSTALL}`
        : `Dapple's sources are open in this window (${checkout.name}). Install from them with: ${INSTALL}`;
    const chosen = await vscode.window.showInformationMessage(message, ...(checkout === undefined ? [copy] : [run, copy]));
    if (chosen === copy) {
        await vscode.env.clipboard.writeText(INSTALL);
    } else if (chosen === run && checkout !== undefined) {
        const terminal = vscode.window.createTerminal({ name: 'Install Dapple', cwd: checkout.uri });
        terminal.show();
        terminal.sendText(INSTALL);
    }
}

async function findCheckout(): Promise<vscode.WorkspaceFolder | undefined> {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
        try {
            const manifest = await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder.uri, 'crates/cli/Cargo.toml'));
            if (/^name = "dapple-cli"$/m.test(new TextDecoder().decode(manifest))) {
                return folder;
            }
        } catch {
            // It is another project.
        }
    }
    return undefined;
}
