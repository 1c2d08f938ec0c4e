import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { processes, readStat } from '../src/processes';

const root = mkdtempSync(join(tmpdir(), 'dapple-proc-'));
after(() => rmSync(root, { recursive: true }));
const user = process.getuid?.() ?? 0;

/** A program that has begun when this returns, and ends with its input. */
async function start(marker: string): Promise<ChildProcess & { pid: number }> {
    const child = spawn(process.execPath, ['-e', 'process.stdin.resume(); console.log(1)', marker, 'a b'], { stdio: ['pipe', 'pipe', 'inherit'] });
    await once(child.stdout!, 'data');
    return child as ChildProcess & { pid: number };
}

test("the user's processes are listed with their command lines, the newest first", async () => {
    const older = await start('older-one');
    const newer = await start('newer-one');
    try {
        const found = await processes('/proc', user, [process.pid]);
        const ids = found.map((one) => one.pid);
        assert.ok(ids.indexOf(newer.pid) >= 0 && ids.indexOf(newer.pid) < ids.indexOf(older.pid), String(ids));
        const line = found.find((one) => one.pid === newer.pid)?.commandLine;
        assert.ok(line?.endsWith('newer-one a b'), line);
        assert.ok(!ids.includes(process.pid), 'what was to be left out is');
    } finally {
        const ended = [older, newer].map((child) => once(child, 'exit'));
        older.stdin!.end();
        newer.stdin!.end();
        await Promise.all(ended);
    }
    const after = await processes('/proc', user, []);
    assert.ok(!after.some((one) => one.pid === older.pid));
});

function status(pid: number, name: string, state: string, started: number): string {
    return `${pid} (${name}) ${state} ${'0 '.repeat(18)}${started} 0 0\n`;
}

function make(pid: number, stat: string, cmdline: string): void {
    mkdirSync(join(root, String(pid)));
    writeFileSync(join(root, String(pid), 'stat'), stat);
    writeFileSync(join(root, String(pid), 'cmdline'), cmdline);
}

test('what is over, the kernel\'s, or ends meanwhile is left out', async () => {
    make(10, status(10, 'app', 'S', 500), 'app\0--x\0');
    make(11, status(11, 'over', 'Z', 600), 'over\0');
    make(12, status(12, 'kworker/0:1', 'I', 1), '');
    mkdirSync(join(root, '13'));
    mkdirSync(join(root, 'self'));
    make(14, status(14, 'long', 'R', 700), `long\0${'y'.repeat(5000)}\0`);
    const found = await processes(root, user, []);
    assert.deepEqual(found.map((one) => [one.pid, one.name]), [[14, 'long'], [10, 'app']]);
    assert.equal(found[1]?.commandLine, 'app --x');
    assert.equal(found[0]?.commandLine.length, 400);
});

test("another user's processes are not offered", async () => {
    assert.ok((await processes(root, user, [])).length > 0);
    assert.deepEqual(await processes(root, user + 1, []), []);
});

test('a name may hold what separates fields', () => {
    assert.deepEqual(readStat(status(7, 'a) R (b', 'S', 42).trim()), { name: 'a) R (b', state: 'S', started: 42 });
    assert.equal(readStat('7 nothing'), undefined);
    assert.equal(readStat('7 (x) S 1'), undefined);
});
