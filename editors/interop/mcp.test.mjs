// `dapple mcp`, used by the client of the protocol's official SDK, as agents use it.

import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execFileSync } from 'node:child_process';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';

const repository = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'dapple-mcp-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A client of a server for the folder, with a program in it. */
async function agent() {
  copyFileSync(path.join(repository, 'fixtures/bugs/list.c'), path.join(folder, 'list.c'));
  execFileSync('gcc', ['-g', '-o', 'list', 'list.c'], { cwd: folder });
  const client = new Client({ name: 'test', version: '1' });
  await client.connect(new StdioClientTransport({
    command: process.env.DAPPLE ?? path.join(repository, 'target/debug/dapple'),
    args: ['mcp', '--folder', folder],
  }));
  return client;
}

/** What a tool says. */
async function call(client, name, given = {}) {
  const { content, isError } = await client.callTool({ name, arguments: given });
  assert.equal(content.length, 1);
  return { text: content[0].text, failed: isError === true };
}

test('a client of the official SDK finds a bug', { timeout: 60_000 }, async () => {
  const client = await agent();
  assert.equal(client.getServerVersion().name, 'dapple');
  assert.match(client.getInstructions(), /`start` begins a session/);
  const { tools } = await client.listTools();
  assert.deepEqual(tools.map(({ name }) => name).sort(), [
    'breakpoints', 'end', 'evaluate', 'inspect', 'more', 'output', 'run', 'start', 'step', 'where_is_it_stuck', 'who_wrote', 'why_did_it_crash',
  ]);
  const { prompts } = await client.listPrompts();
  const prompt = await client.getPrompt({ name: prompts.find(({ name }) => name === 'find_crash').name, arguments: { what: './list' } });
  assert.match(prompt.messages[0].content.text, /A program crashes: \.\/list/);

  const begun = await call(client, 'start', { program: 'list', record: true });
  assert.match(begun.text, /stopped by SIGSEGV: read of address 0x0, a null pointer/);
  const wrote = await call(client, 'who_wrote', { expression: 'node', go_there: true });
  assert.match(wrote.text, /→ {3}40 {10}node = node->next;/);
  const cause = await call(client, 'who_wrote', { expression: 'node->next' });
  assert.match(cause.text, /before->next = NULL;/);

  const refused = await call(client, 'start', { program: '/bin/true' });
  assert.ok(refused.failed);
  assert.match(refused.text, /is outside of what this server may use/);
  await client.close();
});

test('a call that waits is cancelled by the client', { timeout: 60_000 }, async () => {
  const client = await agent();
  copyFileSync(path.join(repository, 'fixtures/bugs/search.c'), path.join(folder, 'search.c'));
  execFileSync('gcc', ['-g', '-o', 'search', 'search.c'], { cwd: folder });
  const begun = await call(client, 'start', { program: 'search', within: 1 });
  assert.match(begun.text, /the program runs/);
  const stop = new AbortController();
  const waiting = client.callTool({ name: 'run', arguments: { within: 3000 } }, undefined, { signal: stop.signal });
  stop.abort('enough');
  await assert.rejects(waiting);
  const stuck = await call(client, 'where_is_it_stuck');
  assert.match(stuck.text, /#0 {2}find at search\.c:/);
  await client.close();
});
