// Another machine or a container, where a configuration says that its program is (`on`). Knows nothing of VS Code.
import { execFile } from 'node:child_process';
import type { Process } from './processes';

/** How long another machine may take to list its processes; the adapter may have to be sent there first. */
const PATIENCE_MS = 120_000;
const LONGEST_ANSWER = 64 << 20;

/** The place of a configuration as `dapple` takes it: a text, or the words of a command as JSON. */
export function placeOf(on: unknown): string | undefined {
    if (Array.isArray(on) && on.length > 0 && on.every((word) => typeof word === 'string')) {
        return JSON.stringify(on);
    }
    return typeof on === 'string' && on !== '' ? on : undefined;
}

/** The arguments of `dapple` that serve a session. At another place it writes no log. */
export function adapterArguments(on: unknown, log: string | undefined): string[] {
    const place = placeOf(on);
    if (place !== undefined) {
        return ['dap', '--on', place];
    }
    return log === undefined ? ['dap'] : ['dap', '--log', log];
}

/** A configuration whose sources are in the open folder, if that is where the debug information says that they are; others come from the other machine. */
export function withOwnSources<C extends Record<string, unknown>>(configuration: C, folder: string | undefined): C {
    if (placeOf(configuration['on']) === undefined || folder === undefined || configuration['sourceMap'] !== undefined) {
        return configuration;
    }
    return { ...configuration, sourceMap: { [folder]: folder } };
}

/** The user's processes at a place. */
export function processesAt(dapple: string, place: string): Promise<Process[]> {
    return new Promise((resolve, reject) => {
        const options = { timeout: PATIENCE_MS, maxBuffer: LONGEST_ANSWER };
        const child = execFile(dapple, ['on', place, 'processes'], options, (error, stdout, stderr) => {
            if (error !== null) {
                reject(new Error(stderr.trim().replace(/^dapple: /, '') || error.message));
                return;
            }
            try {
                resolve(readProcesses(stdout));
            } catch {
                reject(new Error(`${place} does not list its processes`));
            }
        });
        child.stdin?.end();
    });
}

/** What `dapple processes` prints. */
export function readProcesses(text: string): Process[] {
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list)) {
        throw new Error('no list');
    }
    return list.filter((one): one is Process => typeof one?.pid === 'number' && typeof one.name === 'string' && typeof one.commandLine === 'string');
}
