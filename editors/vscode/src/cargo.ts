// What a Cargo project has that can be debugged, from `cargo metadata`, and the configuration for each.
import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, isAbsolute, join, relative, sep } from 'node:path';

/** Bytes of `cargo metadata`: the largest workspaces have some megabytes. */
const MOST_METADATA = 64 << 20;
const PATIENCE_MS = 30_000;

export type Kind = 'bin' | 'example' | 'test' | 'bench' | 'unit tests';

/** Something cargo builds that can be run. */
export interface Target {
    kind: Kind;
    /** The target's name, in `unit tests` that of the library or binary with them. */
    name: string;
    package: string;
    /** The folder of the package's manifest. */
    folder: string;
    /** Its root source file. */
    source: string;
    /** What cargo is to be told. */
    args: string[];
    /** The package's `default-run` names it. */
    isDefault: boolean;
}

export interface Project {
    /** The folder of the workspace's manifest, or of the only package's. */
    root: string;
    targets: Target[];
}

interface Metadata {
    workspace_root?: unknown;
    packages?: unknown;
}

interface RawPackage {
    name: string;
    manifest_path: string;
    default_run?: string | null;
    targets: RawTarget[];
}

interface RawTarget {
    name: string;
    kind: string[];
    crate_types: string[];
    src_path: string;
    test?: boolean;
    'required-features'?: string[];
}

/** The nearest folder with a `Cargo.toml` at or above `start`, not above `top` if there is one. */
export async function nearestManifest(start: string, top: string | undefined): Promise<string | undefined> {
    for (let folder = start; ; folder = dirname(folder)) {
        if (top !== undefined && !isWithin(folder, top)) {
            return undefined;
        }
        try {
            await access(join(folder, 'Cargo.toml'), constants.R_OK);
            return folder;
        } catch {
            if (dirname(folder) === folder) {
                return undefined;
            }
        }
    }
}

export function isWithin(path: string, folder: string): boolean {
    const way = relative(folder, path);
    return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
}

/** Asks cargo for a project's targets. */
export async function readProject(folder: string, env: NodeJS.ProcessEnv, home: string): Promise<Project> {
    const args = ['metadata', '--no-deps', '--format-version', '1', '--manifest-path', join(folder, 'Cargo.toml')];
    const installed = join(env['CARGO_HOME'] || join(home, '.cargo'), 'bin', 'cargo');
    // An editor that was started from a desktop often has no ~/.cargo/bin on its PATH.
    const text = (await run('cargo', args, folder, env)) ?? (await run(installed, args, folder, env));
    if (text === undefined) {
        throw new Error(`cargo was not found: neither on PATH nor as ${installed}`);
    }
    return readMetadata(JSON.parse(text));
}

/** What a program writes; `undefined` if there is none. */
function run(program: string, args: string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
    return new Promise((resolve, reject) => {
        execFile(program, args, { cwd, env, timeout: PATIENCE_MS, maxBuffer: MOST_METADATA }, (error, stdout, stderr) => {
            const code: unknown = error?.code;
            if (error === null) {
                resolve(stdout);
            } else if (code === 'ENOENT') {
                resolve(undefined);
            } else if (error.killed === true) {
                reject(new Error(`cargo metadata did not end within ${PATIENCE_MS / 1000} seconds`));
            } else {
                reject(new Error(stderr.trim() || error.message));
            }
        });
    });
}

/** Reads what `cargo metadata` has written. */
export function readMetadata(metadata: Metadata): Project {
    if (typeof metadata.workspace_root !== 'string' || !Array.isArray(metadata.packages)) {
        throw new Error('cargo metadata has an unknown form');
    }
    const targets = (metadata.packages as RawPackage[]).flatMap((one) => one.targets.flatMap((target) => targetsOf(one, target)));
    return { root: metadata.workspace_root, targets };
}

function targetsOf(owner: RawPackage, target: RawTarget): Target[] {
    const features = target['required-features'] ?? [];
    const make = (kind: Kind, args: string[]): Target => ({
        kind,
        name: target.name,
        package: owner.name,
        folder: dirname(owner.manifest_path),
        source: target.src_path,
        args: [...args, `--package=${owner.name}`, ...(features.length === 0 ? [] : [`--features=${features.join(',')}`])],
        isDefault: kind === 'bin' && owner.default_run === target.name,
    });
    const has = (kind: string) => target.kind.includes(kind);
    const isTested = target.test ?? true;
    if (has('bin')) {
        const tests = isTested ? [make('unit tests', ['test', `--bin=${target.name}`])] : [];
        return [make('bin', ['build', `--bin=${target.name}`]), ...tests];
    }
    if (has('example')) {
        return target.crate_types.includes('bin') ? [make('example', ['build', `--example=${target.name}`])] : [];
    }
    if (has('test')) {
        return [make('test', ['test', `--test=${target.name}`])];
    }
    if (has('bench')) {
        return [make('bench', ['bench', `--bench=${target.name}`])];
    }
    if (has('custom-build') || !isTested) {
        return [];
    }
    return [make('unit tests', ['test', '--lib'])];
}

/** What a target is called in a list. */
export function label(target: Target): string {
    switch (target.kind) {
        case 'bin':
            return target.name;
        case 'example':
            return `example ${target.name}`;
        case 'test':
            return `test ${target.name}`;
        case 'bench':
            return `bench ${target.name}`;
        case 'unit tests':
            return `unit tests of ${target.name}`;
    }
}

/**
 * What F5 in a file is to debug: one target, or several to choose from, best first.
 *
 * The root of a target is that target. Else it is the package's default, its only binary or example, or what is chosen
 * among them; a package with neither has its tests.
 */
export function candidates(project: Project, packageFolder: string, file: string | undefined): Target[] {
    const runnable = ({ kind }: Target) => kind === 'bin' || kind === 'example';
    const own = project.targets.filter((target) => target.folder === packageFolder);
    const opened = own.find((target) => target.source === file && target.kind !== 'unit tests');
    if (opened !== undefined) {
        return [opened];
    }
    // The manifest of a workspace without a package of its own stands for all.
    const all = own.length > 0 ? own : project.targets;
    const preset = own.filter((target) => target.isDefault);
    if (preset.length === 1) {
        return preset;
    }
    const binaries = all.filter((target) => target.kind === 'bin');
    if (binaries.length === 1) {
        return binaries;
    }
    const programs = all.filter(runnable);
    return programs.length > 0 ? programs : all;
}

/** What identifies a target among those of a project from one day to the next. */
export function key(target: Target): string {
    return [target.kind, target.package, target.name].join('/');
}

/** The arguments of a launch. */
export type Configuration = { name: string } & Record<string, unknown>;

/** The launch configuration of a target. Paths in `folder` are written with its variable. */
export function configuration(target: Target, project: Project, folder: string | undefined): Configuration {
    // cargo runs tests in their package's folder, and programs where it is run itself.
    const isTest = target.kind !== 'bin' && target.kind !== 'example';
    return {
        name: `Debug ${label(target)}`,
        cargo: { args: target.args },
        args: [],
        cwd: withVariable(isTest ? target.folder : project.root, folder),
        console: 'integratedTerminal',
    };
}

function withVariable(path: string, folder: string | undefined): string {
    if (folder === undefined || !isWithin(path, folder)) {
        return path;
    }
    const way = relative(folder, path);
    return way === '' ? '${workspaceFolder}' : `\${workspaceFolder}/${way}`;
}
