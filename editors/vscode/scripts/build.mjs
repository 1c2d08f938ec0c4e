// Bundles the extension into dist/extension.js, or with --tests each test into out/.
import { build } from 'esbuild';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const common = { absWorkingDir: root, bundle: true, platform: 'node', target: 'node18', logLevel: 'warning' };

if (process.argv.includes('--tests')) {
    rmSync(join(root, 'out'), { recursive: true, force: true });
    const tests = readdirSync(join(root, 'test')).filter((name) => name.endsWith('.test.ts'));
    await build({
        ...common,
        entryPoints: tests.map((name) => `test/${name}`),
        outdir: 'out',
        format: 'esm',
        outExtension: { '.js': '.mjs' },
        sourcemap: 'inline',
    });
} else {
    await build({
        ...common,
        entryPoints: ['src/extension.ts'],
        outfile: 'dist/extension.js',
        format: 'cjs',
        external: ['vscode'],
        minifySyntax: true,
    });
}
