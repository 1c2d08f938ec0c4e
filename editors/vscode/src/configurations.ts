// Launch configurations that nobody has written: for F5 without a launch.json, and for the list of dynamic ones.
import { homedir } from 'node:os';
import { basename, dirname } from 'node:path';
import * as vscode from 'vscode';
import * as cargo from './cargo';
import { type AdapterFactory, offerRemedy } from './session';

const TYPE = 'dapple';
/** Where the last choice is kept, in the state of the workspace. */
const LAST_CHOICE = 'lastChoice';
const SOURCES = new Set(['c', 'cpp', 'rust']);

type Folder = vscode.WorkspaceFolder | undefined;

/** Something F5 can debug. */
interface Choice extends vscode.QuickPickItem {
    key: string;
    configuration: cargo.Configuration;
}

const ATTACH: vscode.DebugConfiguration = {
    type: TYPE,
    request: 'attach',
    name: 'Attach to a process',
    pid: '${command:pickProcess}',
};

/** Fills in what a configuration leaves out. */
export class Resolver implements vscode.DebugConfigurationProvider {
    constructor(
        private readonly state: vscode.Memento,
        private readonly adapters: AdapterFactory,
    ) {}

    /** `undefined` gives the start up, `null` opens the launch.json. */
    async resolveDebugConfiguration(folder: Folder, given: vscode.DebugConfiguration): Promise<vscode.DebugConfiguration | undefined | null> {
        if (given.type || given.request || given.name) {
            return given;
        }
        try {
            return await this.forOpenFile(folder, given.noDebug === true);
        } catch (error) {
            void vscode.window.showErrorMessage(`Dapple: ${error instanceof Error ? error.message : String(error)}`);
            return undefined;
        }
    }

    /** The adapter is looked for before a session starts, since then there can be buttons. */
    async resolveDebugConfigurationWithSubstitutedVariables(
        folder: Folder,
        resolved: vscode.DebugConfiguration,
    ): Promise<vscode.DebugConfiguration | undefined> {
        const located = await this.adapters.locate(folder);
        if (located.kind === 'found') {
            return resolved;
        }
        void offerRemedy(located);
        return undefined;
    }

    /** What F5 debugs. */
    private async forOpenFile(folder: Folder, noDebug: boolean): Promise<vscode.DebugConfiguration | undefined | null> {
        const file = openFile();
        const top = folder?.uri.fsPath;
        const start = file === undefined ? top : dirname(file.uri.fsPath);
        const manifest = start === undefined ? undefined : await cargo.nearestManifest(start, top);
        const alone = file !== undefined && SOURCES.has(file.languageId) ? ofFile(file) : undefined;
        if (manifest !== undefined) {
            const project = await cargo.readProject(manifest, process.env, homedir());
            const targets = cargo.candidates(project, manifest, file?.uri.fsPath);
            const choices = targets.map((target): Choice => ({
                key: cargo.key(target),
                label: cargo.label(target),
                description: target.package,
                configuration: cargo.configuration(target, project, top),
            }));
            // A C file may be a part of the package or a program, and so may a Rust file where no package is.
            if (alone !== undefined && (file?.languageId !== 'rust' || !project.targets.some((target) => target.folder === manifest))) {
                choices.push({ key: 'file', label: 'this file', description: file?.fileName ?? '', configuration: alone });
            }
            if (choices.length > 0) {
                const chosen = await this.choose(choices);
                return chosen && launch(chosen.configuration, noDebug);
            }
        }
        if (alone !== undefined) {
            return launch(alone, noDebug);
        }
        void vscode.window.showInformationMessage(
            'Dapple: there is no Cargo project here and no C, C++ or Rust file is open. Say in launch.json what is to be debugged.',
        );
        return null;
    }

    /** The only one, or what the user chooses; the last choice stands first. */
    private async choose(choices: Choice[]): Promise<Choice | undefined> {
        if (choices.length < 2) {
            return choices[0];
        }
        const last = this.state.get<string>(LAST_CHOICE);
        const sorted = [...choices].sort((a, b) => Number(b.key === last) - Number(a.key === last));
        const chosen = await vscode.window.showQuickPick(sorted, {
            title: 'What is to be debugged?',
            placeHolder: 'The last choice stands first',
            matchOnDescription: true,
        });
        if (chosen !== undefined) {
            await this.state.update(LAST_CHOICE, chosen.key);
        }
        return chosen;
    }
}

/** The list under "Dapple…" in the debug view's menu and in "Select and Start Debugging". */
export class DynamicConfigurations implements vscode.DebugConfigurationProvider {
    async provideDebugConfigurations(folder: Folder): Promise<vscode.DebugConfiguration[]> {
        const file = openFile();
        const current = file !== undefined && SOURCES.has(file.languageId) ? [launch(ofFile(file), false)] : [];
        return [...(await cargoConfigurations(folder, file)), ...current, ATTACH];
    }
}

/** What a new launch.json begins with. */
export class InitialConfigurations implements vscode.DebugConfigurationProvider {
    async provideDebugConfigurations(folder: Folder): Promise<vscode.DebugConfiguration[]> {
        const ofCargo = (await cargoConfigurations(folder, openFile())).filter((one) => one['cargo']?.args?.[0] === 'build');
        if (ofCargo.length > 0) {
            return ofCargo;
        }
        const program = launch({ name: 'Debug program', program: '${workspaceFolder}/a.out', args: [], cwd: '${workspaceFolder}', console: 'integratedTerminal' }, false);
        return [program];
    }
}

async function cargoConfigurations(folder: Folder, file: vscode.TextDocument | undefined): Promise<vscode.DebugConfiguration[]> {
    const top = folder?.uri.fsPath;
    if (!vscode.workspace.isTrusted || top === undefined) {
        return [];
    }
    const start = file !== undefined && cargo.isWithin(file.uri.fsPath, top) ? dirname(file.uri.fsPath) : top;
    const manifest = await cargo.nearestManifest(start, top);
    if (manifest === undefined) {
        return [];
    }
    try {
        const project = await cargo.readProject(manifest, process.env, homedir());
        return project.targets.map((target) => launch(cargo.configuration(target, project, top), false));
    } catch {
        // A manifest that cargo can't read has its errors shown where it is edited.
        return [];
    }
}

function launch(parts: cargo.Configuration, noDebug: boolean): vscode.DebugConfiguration {
    return { type: TYPE, request: 'launch', ...parts, ...(noDebug ? { noDebug } : {}) };
}

/** A source file by itself; the adapter compiles it. */
function ofFile(document: vscode.TextDocument): cargo.Configuration {
    return { name: `Debug ${basename(document.fileName)}`, program: '${file}', args: [], cwd: '${fileDirname}', console: 'integratedTerminal' };
}

function openFile(): vscode.TextDocument | undefined {
    const document = vscode.window.activeTextEditor?.document;
    return document?.uri.scheme === 'file' ? document : undefined;
}
