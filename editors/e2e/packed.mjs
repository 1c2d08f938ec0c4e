// An extension of a few files, packed as VS Code installs it.

import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { zip } from '../vscode/scripts/zip.mjs';

/** Packs the files of a folder into `file`, and gives that back. */
export async function packed(folder, file) {
    const { name, publisher, version, description } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const gallery = `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${name}</DisplayName>
    <Description xml:space="preserve">${description}</Description>
  </Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets><Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/></Assets>
</PackageManifest>
`;
    const files = readdirSync(folder).map((name) => ({ name: `extension/${name}`, data: readFileSync(join(folder, name)), mode: 0o644 }));
    writeFileSync(file, await zip([{ name: 'extension.vsixmanifest', data: Buffer.from(gallery), mode: 0o644 }, ...files]));
    return file;
}
