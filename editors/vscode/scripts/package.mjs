// Writes dapple-VERSION.vsix, a package as `code --install-extension` takes it: a zip archive with the extension's files
// in `extension/`, a manifest for the gallery and the types of contents. The same files make the same bytes.
//
//   node scripts/package.mjs [--binary DAPPLE] [--output FOLDER]
//
// With --binary that executable goes along as `bin/dapple`, and the package is for Linux x86-64 only.
//
// @vscode/vsce would do this, too, but with other content: it calls README.md readme.md, knows neither of our licences as the gallery's (it wants
// LICENSE.txt), gives files without an extension no type and package.json's scripts to everyone. It needs node 20 and 250 packages.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { zip } from './zip.mjs';

const here = fileURLToPath(new URL('..', import.meta.url));
const repository = join(here, '../..');
const { binary, output } = parseArgs({ options: { binary: { type: 'string' }, output: { type: 'string', default: here } } }).values;
const manifest = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'));

const files = [
    ['package.json', packaged(manifest)],
    ['dist/extension.js', readFileSync(join(here, 'dist/extension.js'))],
    ['README.md', readFileSync(join(here, 'README.md'))],
    ['icon.png', readFileSync(join(here, 'icon.png'))],
    ['LICENSE-MIT', readFileSync(join(repository, 'LICENSE-MIT'))],
    ['LICENSE-APACHE', readFileSync(join(repository, 'LICENSE-APACHE'))],
];
const entries = [
    { name: 'extension.vsixmanifest', data: Buffer.from(gallery(manifest)), mode: 0o644 },
    { name: '[Content_Types].xml', data: Buffer.from(contentTypes()), mode: 0o644 },
    ...files.map(([name, data]) => ({ name: `extension/${name}`, data, mode: 0o644 })),
];
if (binary !== undefined) {
    entries.push({ name: 'extension/bin/dapple', data: readFileSync(binary), mode: 0o755 });
}
const target = binary === undefined ? '' : '-linux-x64';
const file = join(output, `${manifest.name}${target}-${manifest.version}.vsix`);
const archive = await zip(entries);
writeFileSync(file, archive);
console.log(`wrote ${file} (${entries.length} files, ${Math.ceil(archive.length / 1024)} KiB)`);

/** The manifest without what only its development needs. */
function packaged({ devDependencies: _, scripts: __, private: ___, ...rest }) {
    return Buffer.from(`${JSON.stringify(rest, null, 2)}\n`);
}

function gallery({ name, publisher, version, displayName, description, categories, keywords, engines, extensionKind }) {
    const text = (value) => value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
    const platform = binary === undefined ? '' : ' TargetPlatform="linux-x64"';
    const asset = (type, path) => `    <Asset Type="Microsoft.VisualStudio.${type}" Path="extension/${path}" Addressable="true"/>`;
    return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011" xmlns:d="http://schemas.microsoft.com/developer/vsx-schema-design/2011">
  <Metadata>
    <Identity Language="en-US" Id="${text(name)}" Version="${text(version)}" Publisher="${text(publisher)}"${platform}/>
    <DisplayName>${text(displayName)}</DisplayName>
    <Description xml:space="preserve">${text(description)}</Description>
    <Tags>${text(['debuggers', ...keywords].join(','))}</Tags>
    <Categories>${text(categories.join(','))}</Categories>
    <GalleryFlags>Public</GalleryFlags>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${text(engines.vscode)}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="${text(extensionKind.join(','))}"/>
      <Property Id="Microsoft.VisualStudio.Services.GitHubFlavoredMarkdown" Value="true"/>
    </Properties>
    <License>extension/LICENSE-MIT</License>
    <Icon>extension/icon.png</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
${[
    asset('Code.Manifest', 'package.json'),
    asset('Services.Content.Details', 'README.md'),
    asset('Services.Content.License', 'LICENSE-MIT'),
    asset('Services.Icons.Default', 'icon.png'),
].join('\n')}
  </Assets>
</PackageManifest>
`;
}

/** Every part has a type in a package of this form (ECMA-376 part 2), by its extension or its name. */
function contentTypes() {
    const types = [
        ['json', 'application/json'],
        ['js', 'application/javascript'],
        ['md', 'text/markdown'],
        ['png', 'image/png'],
        ['vsixmanifest', 'text/xml'],
    ];
    const named = ['LICENSE-MIT', 'LICENSE-APACHE', ...(binary === undefined ? [] : ['bin/dapple'])];
    return `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
${types.map(([extension, type]) => `  <Default Extension=".${extension}" ContentType="${type}"/>`).join('\n')}
${named.map((name) => `  <Override PartName="/extension/${name}" ContentType="application/octet-stream"/>`).join('\n')}
</Types>
`;
}
