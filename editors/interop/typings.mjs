// The declarations that `dapple schema generate typescript` makes, and the published ones to compare them with.
//
//     node typings.mjs [SCHEMA.json]
//
// prints how they differ, line by line. The published file's own first lines (licence and title) are given to the
// generator as its preamble. What differs then is what the definition says differently from that of the published version.

import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../', import.meta.url));
const official = join(root, '../shared/dap/debugAdapterProtocol.json');

/** The definition that Dapple is built on: the official structure in other words. */
export const own = join(root, 'crates/schema/protocol.json');

/** The official definition where there is one, beside the repository or named by DAP_SCHEMA. */
export const definition = process.env.DAP_SCHEMA ?? (existsSync(official) ? official : own);

const { resolve } = createRequire(import.meta.url);

/** The file of the npm package. */
export const published = resolve('@vscode/debugprotocol/lib/debugProtocol.d.ts');

/** The file of version 1.64, whose definition debugpy has; DAP_SCHEMA_1_64 names it where it could be fetched. */
export const published164 = resolve('published-1.64/lib/debugProtocol.d.ts');
export const definition164 = process.env.DAP_SCHEMA_1_64;

/** What is generated from a definition, with the text of the `like` file in front, in a file of its own. */
export function generate(schema, like = published) {
  const text = readFileSync(like, 'utf8');
  const folder = mkdtempSync(join(tmpdir(), 'typings-'));
  const preamble = join(folder, 'preamble.txt');
  writeFileSync(preamble, text.slice(0, text.indexOf('export declare module')));
  const file = join(folder, 'debugProtocol.d.ts');
  const dapple = join(root, 'target/debug/dapple');
  execFileSync(dapple, ['schema', 'generate', 'typescript', schema, '--preamble', preamble, '-o', file], { stdio: 'inherit' });
  return file;
}

/** The difference in lines from the `like` file, as diff(1) says it; empty if there is none. */
export function difference(file, like = published) {
  const run = spawnSync('diff', [like, file], { encoding: 'utf8' });
  if (run.error || run.status > 1) throw run.error ?? new Error(run.stderr);
  return run.stdout;
}

/** How many lines of each side are in a difference, as a sentence. */
export function counted(lines) {
  const starting = (mark) => lines.split('\n').filter((line) => line.startsWith(mark)).length;
  const of = (file) => readFileSync(file, 'utf8').split('\n').length - 1;
  return `${starting('< ')} of the ${of(published)} published lines differ, ${starting('> ')} lines in their place`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const schema = process.argv[2] ?? definition;
  const lines = difference(generate(schema));
  process.stdout.write(lines);
  console.log(`${schema}: ${counted(lines)}`);
}
