// Launch configurations that nobody has written: for F5 without a launch.json, and for the list of dynamic ones.
import { homedir } from 'node:os';
import * as vscode from 'vscode';
import type { Configuration } from './cargo';
import { withOwnSources } from './elsewhere';
import { type Choice, type Surroundings, choices, everything, lastFirst } from './choices';
import { type AdapterFactory, offerRemedy } from './session';

const TYPE = 'dapple';
/** Where the last choice is kept, in the state of the workspace. */
const LAST_CHOICE = 'lastChoice';

type Folder = vscode.WorkspaceFolder | undefined;

const ATTACH: vscode.DebugConfiguration = {
    type: TYPE,
    request: 'attach',
    name: 'Attach to a process',
    pid: '${command:pickProcess}',
};

/** Makes up a configuration where there is none, and lets no session begin without an adapter. */
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
        const among = await choices(surroundings(folder)).catch((error: unknown) => {
            void vscode.window.showErrorMessage(`Dapple: ${error instanceof Error ? error.message : String(error)}`);
            return undefined;
        });
        if (among === undefined) {
            return undefined;
        }
        if (among.length === 0) {
            void vscode.window.showInformationMessage(
                'Dapple: there is no Cargo project here and no C, C++ or Rust file is open. Say in launch.json what is to be debugged.',
            );
            return null;
        }
        const chosen = await this.choose(among);
        return chosen && { ...launch(chosen.configuration), ...(given.noDebug === true ? { noDebug: true } : {}) };
    }

    /** The adapter is looked for before a session starts, since then there can be buttons. */
    async resolveDebugConfigurationWithSubstitutedVariables(
        folder: Folder,
        resolved: vscode.DebugConfiguration,
    ): Promise<vscode.DebugConfiguration | undefined> {
        const located = await this.adapters.locate(folder);
        if (located.kind === 'found') {
            return withOwnSources(beforeTheTerminal(resolved), folder?.uri.fsPath);
        }
        void offerRemedy(located);
        return undefined;
    }

    /** The only one, or what the user chooses. */
    private async choose(among: Choice[]): Promise<Choice | undefined> {
        if (among.length === 1) {
            return among[0];
        }
        const chosen = await vscode.window.showQuickPick(lastFirst(among, this.state.get<string>(LAST_CHOICE)), {
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

/** The list under "Dapple…" in "Select and Start Debugging". */
export class DynamicConfigurations implements vscode.DebugConfigurationProvider {
    async provideDebugConfigurations(folder: Folder): Promise<vscode.DebugConfiguration[]> {
        const found = await known(folder);
        return folder === undefined && found.length === 0 ? [] : [...found, ATTACH];
    }
}

/** What a new launch.json begins with. */
export class InitialConfigurations implements vscode.DebugConfigurationProvider {
    async provideDebugConfigurations(folder: Folder): Promise<vscode.DebugConfiguration[]> {
        const programs = (await known(folder)).filter((one) => one['cargo']?.args?.[0] === 'build');
        const program = { name: 'Debug program', program: '${workspaceFolder}/a.out', args: [], cwd: '${workspaceFolder}', console: 'integratedTerminal' };
        return programs.length > 0 ? programs : [launch(program)];
    }
}

/** What is known of a folder without asking anybody. What cargo says of a manifest that it can't read is shown where that is edited. */
async function known(folder: Folder): Promise<vscode.DebugConfiguration[]> {
    // VS Code asks for its user's own launch configurations, too, in a window that has folders.
    const isAsked = folder !== undefined || (vscode.workspace.workspaceFolders ?? []).length === 0;
    if (!isAsked || !vscode.workspace.isTrusted) {
        return [];
    }
    const found = await everything(surroundings(folder)).catch(() => []);
    return found.map(({ configuration }) => launch(configuration));
}

/** Keeps the debug console from covering the terminal in which the program runs, and perhaps waits for input. */
function beforeTheTerminal(resolved: vscode.DebugConfiguration): vscode.DebugConfiguration {
    const inTerminal = resolved['console'] === 'integratedTerminal' && resolved.request === 'launch';
    return inTerminal ? { internalConsoleOptions: 'neverOpen', ...resolved } : resolved;
}

function launch(configuration: Configuration): vscode.DebugConfiguration {
    return { type: TYPE, request: 'launch', ...configuration };
}

function surroundings(folder: Folder): Surroundings {
    const document = vscode.window.activeTextEditor?.document;
    const file = document?.uri.scheme === 'file' ? { path: document.fileName, language: document.languageId } : undefined;
    return { file, folder: folder?.uri.fsPath, env: process.env, home: homedir() };
}
