// What the tests share: debuggees compiled on the spot, and a client that collects what it is told.

import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import testsupport from '@vscode/debugadapter-testsupport';

const repository = fileURLToPath(new URL('../..', import.meta.url));

// Another adapter can be put in place of ours, to tell a mistake of the tests from one of the adapter.
const command = process.env.DAPPLE ?? path.join(repository, 'target/debug/dapple');
const onStdio = process.env.DAPPLE_ARGS ?? 'dap';
const onSocket = (process.env.DAPPLE_LISTEN_ARGS ?? 'dap --listen 127.0.0.1:0').split(' ');
const patience = 20_000;

const workshop = mkdtempSync(path.join(tmpdir(), 'dapple-interop-'));
process.on('exit', () => rmSync(workshop, { recursive: true, force: true }));

/** The example adapter of the protocol library, and a program for it. */
export const tiny = {
  adapter: process.env.TINY ?? path.join(repository, 'target/debug/examples/tiny'),
  program: path.join(repository, 'crates/dap/examples/tiny/countdown.tiny'),
};

/** The path of a file in `fixtures/`. */
export function fixture(name) {
  return path.join(repository, 'fixtures', name);
}

/** Compiles a C fixture with debug information, once, and returns the program. */
export function compile(name) {
  const program = path.join(workshop, path.basename(name, '.c'));
  if (!existsSync(program)) {
    execFileSync('gcc', ['-g', '-O0', '-pthread', '-o', program, fixture(name)]);
  }
  return program;
}

/** The line of a fixture that ends with `// stop: NAME`. */
export function marked(name, mark) {
  const lines = readFileSync(fixture(name), 'utf8').split('\n');
  const index = lines.findIndex((line) => line.endsWith(`// stop: ${mark}`));
  if (index < 0) throw new Error(`${name} has no line marked '${mark}'`);
  return index + 1;
}

/** One client with one session, which remembers the debuggee's output and the order of events. */
export class Session extends testsupport.DebugClient {
  stdout = '';
  seen = [];

  constructor(adapter = command, args = onStdio) {
    super(adapter, args, 'dapple');
    this.defaultTimeout = patience;
    this.on('output', ({ body }) => {
      // An adapter that gives the debuggee a terminal delivers the terminal's line ends.
      if (body.category === 'stdout') this.stdout += body.output.replaceAll('\r', '');
    });
    for (const event of ['initialized', 'process', 'stopped', 'exited', 'terminated']) {
      this.on(event, () => this.seen.push(event));
    }
  }

  /** Sends a request that resumes, and returns the innermost frames once the debuggee has stopped as expected. */
  async until(reason, expected, request) {
    const stopped = this.assertStoppedLocation(reason, expected);
    await Promise.all([request, stopped]);
    return (await stopped).body.stackFrames;
  }

  /** The variables of a frame by name, those of all its scopes that cost nothing. */
  async locals(frame) {
    const { scopes } = (await this.scopesRequest({ frameId: frame.id })).body;
    const cheap = scopes.filter((scope) => !scope.expensive);
    const lists = await Promise.all(cheap.map((scope) => this.children(scope)));
    return Object.assign({}, ...lists);
  }

  /** What is inside a scope or a variable, by name. */
  async children({ variablesReference }) {
    const { variables } = (await this.variablesRequest({ variablesReference })).body;
    return Object.fromEntries(variables.map((variable) => [variable.name, variable]));
  }

  /** Waits for the adapter's process, which must end by itself after `disconnect`. */
  async gone() {
    const adapter = this._adapterProcess;
    if (adapter.exitCode === null && adapter.signalCode === null) await once(adapter, 'exit');
    return adapter.exitCode;
  }
}

/**
 * Starts an adapter that serves a socket; resolves to its port, a function that ends it, and a promise that
 * fails when it ends before.
 */
export async function listen() {
  const server = spawn(command, onSocket, { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = once(server, 'exit');
  const port = await new Promise((resolve, reject) => {
    let said = '';
    const read = (data) => {
      said += data;
      const match = /127\.0\.0\.1\]?:(\d+)\s/.exec(said);
      if (match) resolve(Number(match[1]));
    };
    server.stdout.on('data', read);
    server.stderr.on('data', read);
    server.on('error', reject);
    server.on('exit', () => reject(new Error(`the adapter ended instead of listening: ${said}`)));
  });
  let closing = false;
  const lost = ended.then(([code, signal]) => {
    if (!closing) throw new Error(`the adapter ended in the middle, with ${signal ?? code}`);
  });
  lost.catch(() => {}); // Whoever waits for it hears of it.
  const close = async () => {
    closing = true;
    const forced = setTimeout(() => server.kill('SIGKILL'), patience / 4);
    server.kill();
    const [, signal] = await ended;
    clearTimeout(forced);
    if (signal === 'SIGKILL') throw new Error('the adapter did not end when asked to');
  };
  return { port, close, lost };
}
