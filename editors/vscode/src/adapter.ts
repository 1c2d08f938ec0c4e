// Where the debug adapter, the executable `dapple`, is, and whether it runs here. Knows nothing of VS Code.
import { type ExecFileException, execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access, open, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/** The oldest adapter that this extension works with. */
export const OLDEST = '0.1.0';

/** How long `dapple --version` may take; a network's file system can be slow. */
const PATIENCE_MS = 10_000;

/** What is asked where the adapter may be. */
export interface Places {
    /** The setting `dapple.path`, with its variables replaced; empty if it is not set. */
    setting: string;
    /** The extension's own folder, whose `bin/dapple` comes with some packages. */
    extension: string;
    /** The variables of the environment: `PATH`. */
    env: NodeJS.ProcessEnv;
    /** The user's home folder, for cargo's `bin`. */
    home: string;
    /** `process.platform` and `process.arch` where the adapter is to run. */
    platform: string;
    arch: string;
}

export type Located =
    | { kind: 'found'; path: string; version: string }
    /** There is no such file. `named` is the setting's value when it was that. */
    | { kind: 'missing'; named: string | undefined; looked: string[] }
    /** There is a file, and it does not run. `reason` is a clause with the remedy. */
    | { kind: 'unusable'; path: string; reason: string }
    /** Nothing of the kind runs on this system. */
    | { kind: 'unsupported'; system: string };

/** Finds the adapter: by the setting, beside the extension, on `PATH`, or where cargo installs. */
export async function locate(places: Places): Promise<Located> {
    if (places.platform !== 'linux' || places.arch !== 'x64') {
        return { kind: 'unsupported', system: `${places.platform} ${places.arch}` };
    }
    const candidates = places.setting === '' ? usualPlaces(places) : named(places.setting, places);
    for (const path of candidates) {
        if (await isFile(path)) {
            return await tryOut(path);
        }
    }
    const setting = places.setting === '' ? undefined : places.setting;
    return { kind: 'missing', named: setting, looked: candidates };
}

function usualPlaces(places: Places): string[] {
    const cargo = places.env['CARGO_HOME'] || join(places.home, '.cargo');
    const all = [
        join(places.extension, 'bin', 'dapple'),
        ...onPath('dapple', places),
        join(cargo, 'bin', 'dapple'),
    ];
    return [...new Set(all)];
}

/** A bare name is looked for on `PATH`, as a shell does. */
function named(setting: string, places: Places): string[] {
    return setting.includes('/') ? [setting] : onPath(setting, places);
}

function onPath(name: string, places: Places): string[] {
    const folders = (places.env['PATH'] ?? '').split(delimiter);
    return folders.filter((folder) => isAbsolute(folder)).map((folder) => join(folder, name));
}

async function isFile(path: string): Promise<boolean> {
    try {
        return (await stat(path)).isFile();
    } catch {
        return false;
    }
}

/** Asks the file for its version, and says why it gives none. */
async function tryOut(path: string): Promise<Located> {
    const unusable = (reason: string): Located => ({ kind: 'unusable', path, reason });
    try {
        await access(path, constants.X_OK);
    } catch {
        return unusable(`it is not executable; \`chmod +x '${path}'\` makes it so`);
    }
    // Asked before it is run: execvp(3) hands what the kernel does not know to a shell.
    const foreign = await foreignMachine(path);
    if (foreign !== undefined) {
        return unusable(`it was built for ${foreign}, and this machine is x86-64`);
    }
    const said = await ask(path);
    if (typeof said !== 'string') {
        return unusable(said.failed);
    }
    const version = /^dapple (\d+\.\d+\.\d+\S*)\s*$/m.exec(said)?.[1];
    if (version === undefined) {
        const line = said.trim().split('\n')[0]?.slice(0, 100) || 'nothing';
        return unusable(`it is no Dapple: it answers \`--version\` with ${line}`);
    }
    if (older(version, OLDEST)) {
        return unusable(`its version is ${version}, and this extension needs ${OLDEST} or newer`);
    }
    return { kind: 'found', path, version };
}

/** The machine that an ELF file is for, if not this one; what has another form is left to the kernel. */
async function foreignMachine(path: string): Promise<string | undefined> {
    const header = Buffer.alloc(20);
    try {
        const file = await open(path);
        try {
            const { bytesRead } = await file.read(header, 0, header.length, 0);
            if (bytesRead < header.length || header.readUInt32BE(0) !== 0x7f454c46) {
                return undefined;
            }
        } finally {
            await file.close();
        }
    } catch {
        return undefined;
    }
    const bigEndian = header[5] === 2;
    const machine = bigEndian ? header.readUInt16BE(18) : header.readUInt16LE(18);
    const names: Record<number, string> = { 3: 'x86 of 32 bits', 40: 'ARM of 32 bits', 183: 'ARM of 64 bits', 243: 'RISC-V' };
    return machine === 62 ? undefined : (names[machine] ?? `another machine (ELF machine ${machine})`);
}

function ask(path: string): Promise<string | { failed: string }> {
    return new Promise((resolve) => {
        execFile(path, ['--version'], { timeout: PATIENCE_MS }, (error, stdout, stderr) => {
            if (error === null) {
                resolve(stdout);
                return;
            }
            const lastWords = stderr.trim().split('\n').at(-1)?.slice(0, 200);
            resolve({ failed: whyFailed(error, lastWords) });
        });
    });
}

function whyFailed(error: ExecFileException, lastWords: string | undefined): string {
    // The number that a program ends with, or the name of the error that kept it from starting.
    const code: unknown = error.code;
    if (error.killed === true) {
        return `it did not answer \`--version\` within ${PATIENCE_MS / 1000} seconds`;
    }
    if (code === 'ENOENT') {
        return 'its program interpreter (the dynamic loader) is not on this system; build it here or take the static binary';
    }
    if (code === 'EACCES') {
        return 'it may not be executed; its file system may be mounted with noexec';
    }
    const how = typeof code === 'number' ? `ended with code ${code}` : `failed (${String(error.signal ?? code)})`;
    return `\`dapple --version\` ${how}${lastWords ? `: ${lastWords}` : ''}`;
}

/** Whether a version comes before another; what stands behind the three numbers does not count. */
export function older(version: string, than: string): boolean {
    const [a, b] = [numbers(version), numbers(than)];
    for (let at = 0; at < 3; at += 1) {
        const difference = (a[at] ?? 0) - (b[at] ?? 0);
        if (difference !== 0) {
            return difference < 0;
        }
    }
    return false;
}

function numbers(version: string): number[] {
    return version.split('.').slice(0, 3).map((part) => Number.parseInt(part, 10) || 0);
}

/** Replaces what a path in a setting may hold. VS Code does that in launch configurations, not in settings. */
export function withVariables(path: string, values: { home: string; workspace: string | undefined; env: NodeJS.ProcessEnv }): string {
    const replaced = path.trim().replace(/\$\{([^}]+)\}/g, (whole, name: string) => {
        if (name === 'userHome') {
            return values.home;
        }
        if (name === 'workspaceFolder') {
            return values.workspace ?? whole;
        }
        return name.startsWith('env:') ? (values.env[name.slice(4)] ?? '') : whole;
    });
    return replaced === '~' || replaced.startsWith('~/') ? values.home + replaced.slice(1) : replaced;
}

/** What the user is told, in a sentence or two. */
export function problem(located: Exclude<Located, { kind: 'found' }>): string {
    switch (located.kind) {
        case 'missing':
            return located.named === undefined
                ? 'Dapple: the debug adapter `dapple` was not found: neither beside the extension, nor on PATH, nor in ~/.cargo/bin. Install it, or name it in the setting `dapple.path`.'
                : `Dapple: there is no file ${located.named}, which the setting \`dapple.path\` names.`;
        case 'unusable':
            return `Dapple: the debug adapter ${located.path} can't be used: ${located.reason}.`;
        case 'unsupported':
            return `Dapple debugs on Linux x86-64, and this is ${located.system}. Open the folder on such a machine, by Remote-SSH, in a container or in WSL.`;
    }
}
