// The generated declarations against the published ones, and before the compiler.

import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import ts from 'typescript';
import { counted, definition, definition164, difference, generate, own, published, published164 } from './typings.mjs';

/** Each item of the module in `file` with its parts, as code without comments. */
function items(file) {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true);
  const printer = ts.createPrinter({ removeComments: true });
  const code = (node) => printer.printNode(ts.EmitHint.Unspecified, node, source);
  const [module] = source.statements.filter(ts.isModuleDeclaration);
  return new Map(module.body.statements.map((item) => {
    const parts = ts.isInterfaceDeclaration(item)
      ? [...(item.heritageClauses ?? []), ...item.members].map(code)
      : [code(item)];
    return [item.name.text, parts];
  }));
}

for (const schema of new Set([own, definition])) {
  test(`${schema}: what is published is declared, in the same order`, (t) => {
    const theirs = items(published);
    const ours = items(generate(schema));
    assert.ok(theirs.size > 150, 'the published module has its items');
    assert.deepEqual([...ours.keys()].filter((name) => theirs.has(name)), [...theirs.keys()]);
    for (const [name, parts] of theirs) {
      const known = ours.get(name).filter((part) => parts.includes(part));
      assert.deepEqual(known, parts, `the parts of ${name}`);
    }
    for (const [name, parts] of ours) {
      const more = parts.filter((part) => !theirs.get(name)?.includes(part));
      if (more.length > 0) t.diagnostic(`only generated: ${name}: ${more.join(' ')}`);
    }
  });
}

test('the compiler takes it, and each type fits its namesake both ways', () => {
  const file = generate(definition);
  const folder = mkdtempSync(join(tmpdir(), 'typings-'));
  const check = join(folder, 'check.ts');
  const pairs = [...items(published).keys()].map((name) => `
    export const to_${name}: Theirs.${name} = null! as Ours.${name};
    export const from_${name}: Ours.${name} = null! as Theirs.${name};`);
  const from = (path) => JSON.stringify(path.replace(/\.d\.ts$/, ''));
  writeFileSync(check, `import type { DebugProtocol as Ours } from ${from(file)};
    import type { DebugProtocol as Theirs } from ${from(published)};${pairs.join('')}`);
  const program = ts.createProgram([check], {
    strict: true, noEmit: true, skipLibCheck: false, types: [], lib: ['lib.es2022.d.ts'],
    target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022, moduleResolution: ts.ModuleResolutionKind.Bundler,
  });
  const found = ts.getPreEmitDiagnostics(program).map((one) => ts.flattenDiagnosticMessageText(one.messageText, '\n'));
  assert.deepEqual(found, []);
});

test('the difference from the published text is only in what the definition says', (t) => {
  const lines = difference(generate(definition));
  t.diagnostic(counted(lines));
  if (definition === own) return;
  // The official definition of a later version: reworded comments and new properties, nothing of the layout.
  const code = lines.split('\n').filter((line) => /^< /.test(line) && !/^<\s+(\/\*\*|\*\/|[A-Z'-]|$)/.test(line));
  assert.deepEqual(code, [], 'published lines that are no prose are all there');
});

const skip = definition164 ? false : 'debugpy, which has the definition of 1.64, could not be fetched';
test('from the definition of 1.64 come the declarations of 1.64, letter for letter', { skip }, () => {
  assert.equal(difference(generate(definition164, published164), published164), '');
});
