// What can be debugged where no configuration says it: targets of the open file's Cargo project, and the file by itself.
import { basename, dirname } from 'node:path';
import * as cargo from './cargo';

/** Languages of sources that the adapter compiles by itself. */
const SOURCES = new Set(['c', 'cpp', 'rust']);

export interface OpenFile {
    path: string;
    /** VS Code's id of its language. */
    language: string;
}

/** Where the user is. */
export interface Surroundings {
    file: OpenFile | undefined;
    /** The opened folder; the file may be elsewhere. */
    folder: string | undefined;
    env: NodeJS.ProcessEnv;
    home: string;
}

export interface Choice {
    /** What it is known by from one day to the next. */
    key: string;
    label: string;
    description: string;
    configuration: cargo.Configuration;
}

/** What F5 could mean, the best first; one alone needs no question. */
export async function choices(place: Surroundings): Promise<Choice[]> {
    const { file } = place;
    const alone = file !== undefined && SOURCES.has(file.language) ? [ofFile(file)] : [];
    const found = await projectAround(place);
    if (found === undefined) {
        return alone;
    }
    const { project, manifest } = found;
    const targets = cargo.candidates(project, manifest, file?.path).map((target) => ofTarget(target, project, place.folder));
    // A C file may be a part of the package or a program, and so may a Rust file be where no package is.
    const isOfPackage = file?.language === 'rust' && project.targets.some((target) => target.folder === manifest);
    return [...targets, ...(isOfPackage ? [] : alone)];
}

/** The order of what there is: programs before tests. */
const ORDER: cargo.Kind[] = ['bin', 'example', 'unit tests', 'test', 'bench'];

/** All that could be debugged: programs before tests, and each with a name of its own. */
export async function everything(place: Surroundings): Promise<Choice[]> {
    const { file } = place;
    const alone = file !== undefined && SOURCES.has(file.language) ? [ofFile(file)] : [];
    const found = await projectAround(place);
    if (found === undefined) {
        return alone;
    }
    const { project } = found;
    const targets = ORDER.flatMap((kind) => project.targets.filter((target) => target.kind === kind));
    const all = [...targets.map((target) => ofTarget(target, project, place.folder)), ...alone];
    const times = new Map<string, number>();
    for (const { configuration } of all) {
        times.set(configuration.name, (times.get(configuration.name) ?? 0) + 1);
    }
    // VS Code knows configurations by their names.
    return all.map((one) => {
        const { name } = one.configuration;
        const isAlone = times.get(name) === 1;
        return isAlone ? one : { ...one, configuration: { ...one.configuration, name: `${name} (${one.description})` } };
    });
}

/** The same, with what was chosen last in front. */
export function lastFirst(all: Choice[], last: string | undefined): Choice[] {
    return [...all.filter(({ key }) => key === last), ...all.filter(({ key }) => key !== last)];
}

async function projectAround({ file, folder, env, home }: Surroundings): Promise<{ project: cargo.Project; manifest: string } | undefined> {
    // A file from elsewhere, as of the standard library, says nothing of what is debugged.
    const isHere = file !== undefined && (folder === undefined || cargo.isWithin(file.path, folder));
    const start = isHere ? dirname(file.path) : folder;
    const manifest = start === undefined ? undefined : await cargo.nearestManifest(start, folder);
    return manifest === undefined ? undefined : { project: await cargo.readProject(manifest, env, home), manifest };
}

function ofTarget(target: cargo.Target, project: cargo.Project, folder: string | undefined): Choice {
    return {
        key: cargo.key(target),
        label: cargo.label(target),
        description: target.package,
        configuration: cargo.configuration(target, project, folder),
    };
}

/** A source file by itself; the adapter compiles it. */
function ofFile({ path }: OpenFile): Choice {
    const name = basename(path);
    return {
        key: 'file',
        label: `this file, ${name}`,
        description: 'compiled by itself',
        configuration: { name: `Debug ${name}`, program: '${file}', args: [], cwd: '${fileDirname}', console: 'integratedTerminal' },
    };
}
