// The user's processes, as they stand in /proc.
import { readFile, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';

export interface Process {
    pid: number;
    /** What the kernel calls it: the first 15 bytes of its executable's name, or what it has named itself. */
    name: string;
    /** Its arguments, cut to a length that can be shown. */
    commandLine: string;
    /** When it has started, in clock ticks since the system has. */
    started: number;
}

const LONGEST_COMMAND_LINE = 400;

/** The processes of a user that could be debugged, newest first; kernel threads and those that are over are none. */
export async function processes(root: string, user: number, without: number[]): Promise<Process[]> {
    const names = (await readdir(root)).filter((name) => /^\d+$/.test(name));
    const found: Process[] = [];
    for (const name of names) {
        // Processes end while they are listed.
        const one = await read(join(root, name), Number(name), user).catch(() => undefined);
        if (one !== undefined && !without.includes(one.pid)) {
            found.push(one);
        }
    }
    return found.sort((a, b) => b.started - a.started || b.pid - a.pid);
}

async function read(folder: string, pid: number, user: number): Promise<Process | undefined> {
    if (user !== 0 && (await stat(folder)).uid !== user) {
        return undefined;
    }
    const [status, line] = await Promise.all([readFile(join(folder, 'stat'), 'utf8'), readFile(join(folder, 'cmdline'), 'utf8')]);
    const parsed = readStat(status);
    if (parsed === undefined || parsed.state === 'Z' || parsed.state === 'X' || line === '') {
        return undefined;
    }
    const commandLine = line.replace(/\0+$/, '').replaceAll('\0', ' ').slice(0, LONGEST_COMMAND_LINE);
    return { pid, name: parsed.name, commandLine, started: parsed.started };
}

/** A line of `/proc/PID/stat`, proc(5): the name is in parentheses and may hold any character. */
export function readStat(line: string): { name: string; state: string; started: number } | undefined {
    const [open, close] = [line.indexOf('('), line.lastIndexOf(')')];
    if (open < 0 || close < open) {
        return undefined;
    }
    const fields = line.slice(close + 2).split(' ');
    const [state, started] = [fields[0], Number(fields[19])];
    if (state === undefined || !Number.isFinite(started)) {
        return undefined;
    }
    return { name: line.slice(open + 1, close), state, started };
}
